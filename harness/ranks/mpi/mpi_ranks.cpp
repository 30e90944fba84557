// The ranks of a program that mpirun (or srun) started. A library of its own, so that fedarena runs where
// there is no MPI. Standard: MPI 3.1, of which point-to-point messages, one broadcast and nothing else are
// used.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <optional>
#include <thread>

#include "fedarena/base/error.hpp"

#include "harness/ranks/mpi_library.hpp"

namespace fedarena {
namespace {

// Counts are int in MPI 3.
constexpr std::size_t kLargestPiece = std::size_t{1} << 30;
constexpr int kTag = 7;

using Clock = std::chrono::steady_clock;

// How long a rank that was told to stop waits for another. Rank 0, for the answers of those that were told as
// well: mpirun kills all of them a second after it told them, and rank 0 has a run to write down before.
constexpr std::chrono::milliseconds kRank0Waits{200};
// The others, for its word: one that left before would have the launcher end them all.
constexpr std::chrono::seconds kOthersWait{120};

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(const std::atomic<bool>& stop) : stop_(stop) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED)
      throw Error::of("this MPI allows no threads beside those that call it");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  // Rank 0 sends the others home. One that gave a wait up leaves them to the launcher, which ends them: they
  // may be in the middle of a loop.
  ~MpiRanks() override {
    if (gave_up_) return;
    try {
      if (rank_ == 0) broadcast({});
      MPI_Finalize();
    } catch (const Interrupted&) {
    }
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int count() const override { return count_; }

  std::string host() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
  }

  Bytes broadcast(Bytes bytes) override {
    check_exchange();
    std::uint64_t size = bytes.size();
    broadcast_piece(&size, sizeof(size));
    bytes.resize(size);
    for_each_piece(bytes.size(),
                   [&](std::size_t begin, int piece) { broadcast_piece(bytes.data() + begin, piece); });
    return bytes;
  }

  void send(int to, std::span<const std::byte> bytes) override {
    check_exchange();
    const std::uint64_t size = bytes.size();
    send_piece(to, &size, sizeof(size));
    for_each_piece(size, [&](std::size_t begin, int piece) { send_piece(to, bytes.data() + begin, piece); });
  }

  Bytes receive(int from) override {
    check_exchange();
    std::uint64_t size = 0;
    receive_piece(from, &size, sizeof(size));
    Bytes bytes(size);
    for_each_piece(size,
                   [&](std::size_t begin, int piece) { receive_piece(from, bytes.data() + begin, piece); });
    return bytes;
  }

 private:
  template <typename Piece>
  static void for_each_piece(std::size_t size, const Piece& piece) {
    for (std::size_t begin = 0; begin < size; begin += kLargestPiece)
      piece(begin, static_cast<int>(std::min(kLargestPiece, size - begin)));
  }

  // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): wait() tests each until it is done
  void broadcast_piece(void* bytes, int size) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(bytes, size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait(request);
  }
  void send_piece(int to, const void* bytes, int size) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(bytes, size, MPI_BYTE, to, kTag, MPI_COMM_WORLD, &request);
    wait(request);
  }
  void receive_piece(int from, void* bytes, int size) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(bytes, size, MPI_BYTE, from, kTag, MPI_COMM_WORLD, &request);
    wait(request);
  }
  // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

  // After half a message, nobody knows what the next bytes are.
  void check_exchange() const {
    if (gave_up_) throw Interrupted();
  }

  // `stopped`: when the wait first saw that the run is to stop.
  bool waited_too_long(std::optional<Clock::time_point>& stopped) const {
    if (!stop_.load(std::memory_order_relaxed)) return false;
    const Clock::time_point now = Clock::now();
    if (!stopped) stopped = now;
    return now - *stopped > (rank_ == 0 ? Clock::duration(kRank0Waits) : Clock::duration(kOthersWait));
  }

  // MPI's own wait turns a core for as long as it takes, which others could compute on, and hears no signal.
  void wait(MPI_Request& request) {
    using std::chrono::microseconds;
    constexpr microseconds kLongest{500};
    microseconds pause{1};
    std::optional<Clock::time_point> stopped;
    int done = 0;
    while (true) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      if (waited_too_long(stopped)) {
        gave_up_ = true;
        throw Interrupted();
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongest);
    }
  }

  const std::atomic<bool>& stop_;
  bool gave_up_ = false;
  int rank_ = 0, count_ = 1;
};

}  // namespace
}  // namespace fedarena

extern "C" __attribute__((visibility("default"))) fedarena::Ranks* fedarena_join_ranks(
    const std::atomic<bool>* stop) {
  return std::make_unique<fedarena::MpiRanks>(*stop).release();
}
