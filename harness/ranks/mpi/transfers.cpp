#include "harness/ranks/mpi/transfers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace fedarena {
namespace {

// Below what Open MPI (64 KiB) and MPICH send over TCP without asking.
constexpr std::size_t kSmallPiece = std::size_t{32} << 10;
// MPI holds copies of such pieces, so not all of a large message is sent in them.
constexpr std::size_t kInSmallPieces = std::size_t{1} << 20;
constexpr std::size_t kLargePiece = std::size_t{4} << 20;
constexpr std::size_t kNumber = sizeof(std::uint64_t);

std::size_t bytes_in_head(std::size_t size) { return std::min(size, kSmallPiece - kNumber); }

// The end of the piece that begins there.
std::size_t end_of_piece(std::size_t begin, std::size_t size) {
  return std::min(size, begin + (begin < kInSmallPieces ? kSmallPiece : kLargePiece));
}

}  // namespace

// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): requests are tested until they are done, wherever they
// are

Outgoing::Outgoing(int to, Tags tags, std::shared_ptr<const Bytes> bytes)
    : to_(to), tags_(tags), bytes_(std::move(bytes)) {}

void Outgoing::post(const void* from, std::size_t size, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(from, static_cast<int>(size), MPI_BYTE, to_, tag, MPI_COMM_WORLD, &request);
  pieces_.push_back(request);
}

bool Outgoing::advance(std::size_t available) {
  const std::size_t size = bytes_->size(), before = posted_ + pieces_.size() + sent_;
  if (pieces_.empty() && bytes_in_head(size) <= available) {
    posted_ = bytes_in_head(size);
    const std::uint64_t number = size;
    head_.resize(kNumber + posted_);
    std::memcpy(head_.data(), &number, kNumber);
    std::copy_n(bytes_->begin(), posted_, head_.begin() + kNumber);
    post(head_.data(), head_.size(), tags_.head);
  }
  while (posted_ < size && end_of_piece(posted_, size) <= available) {
    const std::size_t end = end_of_piece(posted_, size);
    post(bytes_->data() + posted_, end - posted_, tags_.rest);
    posted_ = end;
  }
  for (int done = 1; sent_ < pieces_.size(); ++sent_) {
    MPI_Test(&pieces_[sent_], &done, MPI_STATUS_IGNORE);
    if (done == 0) break;
  }
  return posted_ + pieces_.size() + sent_ != before;
}

bool Outgoing::done() const {
  return !pieces_.empty() && posted_ == bytes_->size() && sent_ == pieces_.size();
}

Incoming::Incoming(Tags tags) : tags_(tags), head_(kSmallPiece) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(head_.data(), static_cast<int>(head_.size()), MPI_BYTE, from_, tags_.head, MPI_COMM_WORLD,
            &request);
  pieces_.push_back(request);
}

bool Incoming::advance() {
  const std::size_t before = arrived_;
  while (arrived_ < pieces_.size()) {
    int done = 0;
    MPI_Status status;
    MPI_Test(&pieces_[arrived_], &done, &status);
    if (done == 0) break;
    if (arrived_ == 0) {
      from_ = status.MPI_SOURCE;
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      open(size);
    }
    available_ = ends_[arrived_++];
  }
  return arrived_ != before;
}

void Incoming::open(int head_size) {
  std::uint64_t size = 0;
  std::memcpy(&size, head_.data(), kNumber);
  bytes_->resize(size);
  std::copy(head_.begin() + kNumber, head_.begin() + head_size, bytes_->begin());
  head_ = {};
  ends_.push_back(bytes_in_head(size));
  while (ends_.back() < size) {
    const std::size_t begin = ends_.back(), end = end_of_piece(begin, size);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(bytes_->data() + begin, static_cast<int>(end - begin), MPI_BYTE, from_, tags_.rest,
              MPI_COMM_WORLD, &request);
    pieces_.push_back(request);
    ends_.push_back(end);
  }
}

void Incoming::cancel() {
  MPI_Cancel(&pieces_.front());
  MPI_Wait(&pieces_.front(), MPI_STATUS_IGNORE);
}

// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

}  // namespace fedarena
