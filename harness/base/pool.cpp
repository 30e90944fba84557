#include "fedarena/base/pool.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/first_failure.hpp"

namespace fedarena {
namespace {

class EntryObserver final : public tbb::task_scheduler_observer {
 public:
  EntryObserver(tbb::task_arena& arena, std::function<void()> on_entry)
      : tbb::task_scheduler_observer(arena), on_entry_(std::move(on_entry)) {
    observe(true);
  }
  ~EntryObserver() override { observe(false); }
  void on_scheduler_entry(bool /*is_worker*/) override {
    if (on_entry_) on_entry_();
  }

 private:
  std::function<void()> on_entry_;
};

// oneTBB starts no more threads than there are cores, unless a limit says otherwise, and of several limits
// the smallest holds. So the process has one, as high as its largest pool asked for; each pool's arena keeps
// to its own number.
void allow_threads(std::size_t threads) {
  static std::mutex mutex;
  static std::unique_ptr<tbb::global_control> limit;
  static std::size_t allowed = 0;
  const std::lock_guard lock(mutex);
  if (threads <= allowed) return;
  limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, threads);
  allowed = threads;
}

// How many bodies the thread is in the middle of, of any pool.
thread_local int bodies_begun = 0;
// How many `WorkPool::Alone` the thread has.
thread_local int alone = 0;

class Body {
 public:
  Body() { ++bodies_begun; }
  ~Body() { --bodies_begun; }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
};

}  // namespace

struct WorkPool::Impl {
  Impl(int workers, std::function<void()> on_entry) : arena(workers), observer(arena, std::move(on_entry)) {}

  tbb::task_arena arena;
  EntryObserver observer;
};

WorkPool::WorkPool(int workers, std::function<void()> on_entry) {
  FEDARENA_CHECK(workers, >=, 1);
  allow_threads(static_cast<std::size_t>(std::max(workers, available_cores())));
  impl_ = std::make_unique<Impl>(workers, std::move(on_entry));
}

WorkPool::~WorkPool() = default;

int WorkPool::workers() const { return impl_->arena.max_concurrency(); }

int WorkPool::available_cores() { return tbb::info::default_concurrency(); }

void WorkPool::for_each(std::size_t count, const std::function<void(std::size_t)>& body) const {
  FirstFailure failure;
  const auto guarded = [&](std::size_t index) {
    if (failure.precedes(index)) return;  // pieces before it still run, for one of them may fail too
    const Body begun;
    try {
      body(index);
    } catch (...) {
      failure.record(index, std::current_exception());
    }
  };
  if (alone > 0) {
    for (std::size_t index = 0; index < count; ++index) guarded(index);
    return failure.rethrow();
  }
  const auto loop = [&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t index = range.begin(); index != range.end(); ++index) guarded(index);
        },
        tbb::simple_partitioner());
  };
  // A thread in the middle of a body may take nothing but pieces of this loop. One that is in none helps
  // whomever it can while it waits: with an odd number of clients, the last one's batches keep both of two
  // workers busy.
  const bool nested = bodies_begun > 0;
  impl_->arena.execute([&] {
    if (nested) {
      tbb::this_task_arena::isolate(loop);
    } else {
      loop();
    }
  });
  failure.rethrow();
}

WorkPool::Alone::Alone() { ++alone; }
WorkPool::Alone::~Alone() { --alone; }

}  // namespace fedarena
