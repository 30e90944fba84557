#pragma once

#include <cstddef>
#include <memory>
#include <mpi.h>
#include <vector>

#include "harness/wire/parts.hpp"

// Messages on their way between two ranks, in pieces: a head, which holds how long the message is and its
// first bytes, and the rest. The first pieces are so small that MPI sends them without asking the receiver,
// which would take a trip there and back; those behind them ask while these travel.
namespace fedarena {

/// What MPI tells the pieces of two kinds of messages apart by.
struct Tags {
  int head = 0;
  int rest = 0;
};

/// A message that this rank sends. MPI reads it until it is done.
class Outgoing {
 public:
  /// `bytes` has its final size, and may be filled up to what `advance` is told.
  Outgoing(int to, Tags tags, std::shared_ptr<const Bytes> bytes);
  /// Sends what can be sent of the first `available` bytes; whether anything moved.
  bool advance(std::size_t available);
  bool advance() { return advance(bytes_->size()); }
  bool done() const;

 private:
  void post(const void* from, std::size_t size, int tag);

  int to_;
  Tags tags_;
  std::shared_ptr<const Bytes> bytes_;
  Bytes head_;
  std::size_t posted_ = 0;  // bytes of the message
  std::size_t sent_ = 0;    // pieces
  std::vector<MPI_Request> pieces_;
};

/// A message that this rank receives, from anybody until its head is here. MPI writes to it until it is done.
class Incoming {
 public:
  explicit Incoming(Tags tags);
  /// Whether anything moved.
  bool advance();
  bool begun() const { return arrived_ > 0; }
  bool done() const { return arrived_ == pieces_.size(); }
  int from() const { return from_; }
  /// Of its bytes, how many are here.
  std::size_t available() const { return available_; }
  /// Of their final size once it has begun.
  const std::shared_ptr<Bytes>& bytes() const { return bytes_; }
  /// Where nothing came and nothing will.
  void cancel();

 private:
  void open(int head_size);

  Tags tags_;
  int from_ = MPI_ANY_SOURCE;
  Bytes head_;
  std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();
  std::size_t available_ = 0;
  std::size_t arrived_ = 0;  // pieces
  std::vector<MPI_Request> pieces_;
  std::vector<std::size_t> ends_;  // of the pieces in the message
};

}  // namespace fedarena
