// The ranks of a program that mpirun (or srun) started. A library of its own, so that fedarena runs where
// there is no MPI. Standard: MPI 3.1, of which point-to-point messages and nothing else are used.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <list>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/ranks/mpi/transfers.hpp"
#include "harness/ranks/ranks.hpp"
#include "harness/ranks/tree.hpp"

namespace fedarena {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Tags kDirect{.head = 1, .rest = 2};
constexpr Tags kTree{.head = 3, .rest = 4};

// How long a rank that was told to stop waits for another. Rank 0, for the answers of those that were told as
// well: mpirun kills all of them a second after it told them, and rank 0 has a run to write down before.
constexpr std::chrono::milliseconds kRank0Waits{200};
// The others, for its word: one that left before would have the launcher end them all.
constexpr std::chrono::seconds kOthersWait{120};
// How often a rank that waits looks whether it was told to stop.
constexpr std::chrono::milliseconds kLook{10};

// A message down the tree: this rank passes on what is here while the rest arrives.
struct Relayed {
  Incoming incoming{kTree};
  std::vector<Outgoing> below = {};
  bool delivered = false;
};

// A thread of its own makes all calls of MPI, so that messages travel while the others compute. Between its
// looks at them it sleeps, where MPI's own wait keeps a core busy.
class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(const std::atomic<bool>& stop) : stop_(stop), mpi_([this] { run(); }) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ > 0 || failure_; });
    if (!failure_) return;
    lock.unlock();
    mpi_.join();
    std::rethrow_exception(failure_);
  }
  // Rank 0 sends the others home. One that gave a wait up leaves them to the launcher, which ends them: they
  // may be in the middle of a loop.
  ~MpiRanks() override {
    std::unique_lock lock(mutex_, std::defer_lock);
    try {
      if (rank_ == 0) broadcast({});
      lock.lock();
      wait(lock, [&] { return idle_; });
      leaving_ = true;
    } catch (...) {
      if (!lock) lock.lock();
      gave_up_ = true;
    }
    lock.unlock();
    wake_.notify_one();
    mpi_.join();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  std::string host() const override { return host_; }

  Bytes broadcast(Bytes bytes) override {
    if (rank_ == 0) {
      const auto shared = std::make_shared<const Bytes>(std::move(bytes));
      for (const int below : below_) order(Outgoing(below, kTree, shared));
      return {};
    }
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !from_tree_.empty(); });
    bytes = std::move(from_tree_.front());
    from_tree_.pop_front();
    return bytes;
  }

  void send(int to, Bytes bytes) override {
    order(Outgoing(to, kDirect, std::make_shared<const Bytes>(std::move(bytes))));
  }

  void computes(bool now) override {
    {
      const std::lock_guard lock(mutex_);
      computes_ = now;
    }
    if (!now) wake_.notify_one();
  }

  std::vector<Received> receive_some(std::size_t most) override {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !received_.empty(); });
    const auto end = received_.begin() + static_cast<std::ptrdiff_t>(std::min(most, received_.size()));
    std::vector<Received> some(std::move_iterator(received_.begin()), std::move_iterator(end));
    received_.erase(received_.begin(), end);
    return some;
  }

 private:
  void order(Outgoing message) {
    {
      const std::lock_guard lock(mutex_);
      check_exchange();
      orders_.push_back(std::move(message));
      idle_ = false;
    }
    wake_.notify_one();
  }

  // After half a message, nobody knows what the next bytes are.
  void check_exchange() const {
    if (failure_) std::rethrow_exception(failure_);
    if (gave_up_) throw Interrupted();
  }

  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    const Clock::duration limit = rank_ == 0 ? Clock::duration(kRank0Waits) : Clock::duration(kOthersWait);
    std::optional<Clock::time_point> stopped;
    while (true) {
      check_exchange();
      if (ready()) return;
      changed_.wait_for(lock, kLook);
      if (!stop_.load(std::memory_order_relaxed)) continue;
      if (!stopped) stopped = Clock::now();
      gave_up_ = !ready() && Clock::now() - *stopped > limit;
    }
  }

  // Only MPI's thread calls what follows.

  void run() {
    try {
      join();
      while (look()) {
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  void join() {
    int provided = 0, rank = 0, count = 0, length = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED)
      throw Error::of("this MPI allows no threads beside those that call it");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
    MPI_Get_processor_name(name.data(), &length);
    direct_.emplace_back(kDirect);
    if (rank > 0) tree_.emplace_back();
    const std::lock_guard lock(mutex_);
    rank_ = rank;
    count_ = count;
    host_.assign(name.data(), static_cast<std::size_t>(length));
    below_ = below_in_tree(rank, count);
    changed_.notify_all();
  }

  // Moves all messages on, then sleeps; false when nothing of MPI is wanted any more.
  bool look() {
    bool moved = false;
    {
      const std::lock_guard lock(mutex_);
      if (gave_up_) return false;
      outgoing_.splice(outgoing_.end(), orders_);
    }
    for (Outgoing& message : outgoing_) moved |= message.advance();
    outgoing_.remove_if([](const Outgoing& message) { return message.done(); });
    moved |= advance_direct();
    moved |= advance_tree();
    if (moved) moved_ = Clock::now();
    return sleep();
  }

  bool advance_direct() {
    bool moved = false;
    for (Incoming& message : direct_) moved |= message.advance();
    if (direct_.back().begun()) direct_.emplace_back(kDirect);
    for (auto message = direct_.begin(); message != direct_.end();) {
      if (!message->done()) {
        ++message;
        continue;
      }
      const std::lock_guard lock(mutex_);
      received_.push_back({message->from(), std::move(*message->bytes())});
      message = direct_.erase(message);
      changed_.notify_all();
    }
    return moved;
  }

  bool advance_tree() {
    bool moved = false;
    for (Relayed& message : tree_) moved |= message.incoming.advance();
    if (!tree_.empty() && tree_.back().incoming.begun()) tree_.emplace_back();
    // One after the other, since MPI tells two messages apart by their order.
    while (!tree_.empty() && tree_.front().incoming.begun()) {
      Relayed& message = tree_.front();
      if (message.below.empty()) {
        for (const int below : below_) message.below.emplace_back(below, kTree, message.incoming.bytes());
      }
      for (Outgoing& below : message.below) moved |= below.advance(message.incoming.available());
      if (!message.incoming.done()) break;
      const bool passed_on = std::ranges::all_of(message.below, &Outgoing::done);
      if (!message.delivered) {
        const std::lock_guard lock(mutex_);
        from_tree_.push_back(passed_on ? std::move(*message.incoming.bytes()) : *message.incoming.bytes());
        message.delivered = true;
        changed_.notify_all();
      }
      if (!passed_on) break;
      tree_.pop_front();
    }
    return moved;
  }

  // The longer nothing moved, the longer: a message waits for a small part of the time that it took to come.
  // A look takes some 15 us from whoever computes on this core, so there are few of them while somebody does.
  bool sleep() {
    using std::chrono::microseconds;
    constexpr Clock::duration kShortest = microseconds(20), kLongest = microseconds(1000);
    std::unique_lock lock(mutex_);
    const bool passing_on = !tree_.empty() && tree_.front().incoming.begun();
    const bool was_idle = std::exchange(idle_, orders_.empty() && outgoing_.empty() && !passing_on);
    if (idle_ && !was_idle) changed_.notify_all();
    if (idle_ && leaving_) {
      lock.unlock();
      direct_.back().cancel();
      if (!tree_.empty()) tree_.back().incoming.cancel();
      MPI_Finalize();
      return false;
    }
    const bool computes = computes_;
    const Clock::duration pause = std::clamp((Clock::now() - moved_) / (computes ? 4 : 64),
                                             computes ? 5 * kShortest : kShortest, kLongest);
    wake_.wait_for(lock, pause,
                   [&] { return !orders_.empty() || leaving_ || gave_up_ || (computes && !computes_); });
    return true;
  }

  const std::atomic<bool>& stop_;
  std::mutex mutex_;
  std::condition_variable wake_;     // MPI's thread
  std::condition_variable changed_;  // the others
  bool gave_up_ = false, leaving_ = false, computes_ = false;
  bool idle_ = true;  // nothing is to be sent
  std::exception_ptr failure_;
  int rank_ = 0, count_ = 0;
  std::string host_;
  std::vector<int> below_;  // in the tree
  std::list<Outgoing> orders_;
  std::deque<Received> received_;
  std::deque<Bytes> from_tree_;

  // Of MPI's thread. The last of those that come in has not begun.
  std::list<Outgoing> outgoing_;
  std::list<Incoming> direct_;
  std::list<Relayed> tree_;
  Clock::time_point moved_ = Clock::now();

  std::thread mpi_;
};

}  // namespace
}  // namespace fedarena

// Called by join.cpp.
extern "C" __attribute__((visibility("default"))) fedarena::Ranks* fedarena_join_ranks(
    const std::atomic<bool>* stop) {
  return std::make_unique<fedarena::MpiRanks>(*stop).release();
}
