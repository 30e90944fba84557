#include "fedarena/base/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {
namespace {

class WorkPoolOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, WorkPoolOf, ::testing::Values(1, 2, 7));

void linger() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

TEST_P(WorkPoolOf, CallsEveryIndexOnce) {
  const WorkPool pool(GetParam());
  EXPECT_EQ(pool.workers(), GetParam());
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> calls(count);
    pool.for_each(count, [&](std::size_t index) { ++calls.at(index); });
    for (const std::atomic<int>& call : calls) EXPECT_EQ(call, 1);
  }
}

// The largest number of bodies that ran at the same time.
int most_at_once(const WorkPool& pool) {
  std::atomic<int> running = 0, most = 0;
  pool.for_each(200, [&](std::size_t) {
    const int now = ++running;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    linger();
    --running;
  });
  return most;
}

TEST_P(WorkPoolOf, WorksInParallelWithinItsNumberOfWorkers) {
  const int most = most_at_once(WorkPool(GetParam()));
  EXPECT_LE(most, GetParam());
  EXPECT_GE(most, std::min(GetParam(), 2));
}

TEST_P(WorkPoolOf, NestsLoops) {
  const WorkPool pool(GetParam());
  std::vector<std::atomic<int>> calls(10 * 10 * 10);
  pool.for_each(10, [&](std::size_t i) {
    pool.for_each(10, [&](std::size_t j) {
      pool.for_each(10, [&](std::size_t k) { ++calls.at(100 * i + 10 * j + k); });
    });
  });
  for (const std::atomic<int>& call : calls) EXPECT_EQ(call, 1);
}

// A worker that waits for an inner loop must not begin another outer body on the same stack.
TEST_P(WorkPoolOf, HoldsOneOuterBodyAThread) {
  const WorkPool pool(GetParam());
  thread_local int outer_bodies = 0;
  std::atomic<int> most = 0;
  pool.for_each(40, [&](std::size_t) {
    ++outer_bodies;
    if (outer_bodies > 1) most = outer_bodies;
    pool.for_each(8, [&](std::size_t) { linger(); });
    --outer_bodies;
  });
  EXPECT_EQ(most, 0);
}

// Waits for a condition that another thread brings about; false when it has not come in a minute.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Of two outer bodies, one has nothing to do. Whichever thread that is, it takes a part of the other's inner
// loop, whose two bodies wait for each other.
TEST(WorkPool, HelpsWithTheInnerLoopOfTheLastOuterBody) {
  const WorkPool pool(2);
  for (const bool caller_is_idle : {true, false}) {
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> outer = 0, inner = 0, alone = 0;
    pool.for_each(2, [&](std::size_t) {
      ++outer;
      if (!comes_true([&] { return outer == 2; })) ++alone;
      if ((std::this_thread::get_id() == caller) == caller_is_idle) return;
      pool.for_each(2, [&](std::size_t) {
        ++inner;
        if (!comes_true([&] { return inner == 2; })) ++alone;
      });
    });
    EXPECT_EQ(inner, 2);
    EXPECT_EQ(alone, 0) << "the caller was " << (caller_is_idle ? "idle" : "busy");
  }
}

TEST_P(WorkPoolOf, GivesTheSameResultsAsOneWorker) {
  const auto draw = [](const WorkPool& pool) {
    std::vector<double> values(300);
    pool.for_each(values.size(), [&](std::size_t index) {
      values[index] = Stream({.seed = 1, .client = static_cast<std::int64_t>(index)}).normal();
    });
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  EXPECT_EQ(draw(WorkPool(GetParam())), draw(WorkPool(1)));
}

std::string failure_of(const WorkPool& pool, std::size_t count, const std::set<std::size_t>& failing) {
  try {
    pool.for_each(count, [&](std::size_t index) {
      if (index % 3 == 0) std::this_thread::yield();
      if (failing.contains(index)) throw std::runtime_error(std::to_string(index));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST_P(WorkPoolOf, RethrowsTheFailureOfTheLowestIndex) {
  const WorkPool pool(GetParam());
  std::set<std::size_t> all;
  for (std::size_t index = 0; index < 200; ++index) all.insert(index);
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(failure_of(pool, 200, all), "0");
    EXPECT_EQ(failure_of(pool, 200, {13, 14, 150, 199}), "13");
    EXPECT_EQ(failure_of(pool, 200, {199}), "199");
    EXPECT_EQ(failure_of(pool, 200, {}), "none");
  }
}

TEST_P(WorkPoolOf, RunsEveryIndexBelowAFailure) {
  const WorkPool pool(GetParam());
  std::vector<std::atomic<int>> calls(100);
  EXPECT_THROW(pool.for_each(100,
                             [&](std::size_t index) {
                               ++calls.at(index);
                               if (index == 60) throw std::runtime_error("sixty");
                             }),
               std::runtime_error);
  for (std::size_t index = 0; index <= 60; ++index) EXPECT_EQ(calls[index], 1) << index;
}

TEST_P(WorkPoolOf, PassesFailuresOutOfNestedLoops) {
  const WorkPool pool(GetParam());
  EXPECT_THROW(
      pool.for_each(4, [&](std::size_t) { pool.for_each(4, [](std::size_t) { throw Interrupted(); }); }),
      Interrupted);
}

TEST_P(WorkPoolOf, WorksAfterAFailure) {
  const WorkPool pool(GetParam());
  EXPECT_EQ(failure_of(pool, 10, {5}), "5");
  std::atomic<int> calls = 0;
  pool.for_each(100, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 100);
}

TEST_P(WorkPoolOf, CallsOnEntryOnEachThreadBeforeItsWork) {
  thread_local bool entered = false;
  entered = false;
  std::atomic<int> entries = 0, strangers = 0;
  const WorkPool pool(GetParam(), [&] {
    entered = true;
    ++entries;
  });
  pool.for_each(100, [&](std::size_t) {
    if (!entered) ++strangers;
    linger();
  });
  EXPECT_EQ(strangers, 0);
  EXPECT_GE(entries, 1);
}

TEST_P(WorkPoolOf, ServesSeveralCallersAtOnce) {
  const WorkPool pool(GetParam());
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] { pool.for_each(100, [&](std::size_t) { ++calls; }); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 400);
}

TEST(WorkPool, KeepsLoopsOfOneThatWantsToBeAloneOnItsThread) {
  const WorkPool pool(3);
  const auto threads_of = [&] {
    std::vector<std::thread::id> threads(20);
    pool.for_each(threads.size(), [&](std::size_t index) {
      threads[index] = std::this_thread::get_id();
      linger();
    });
    return std::set(threads.begin(), threads.end());
  };
  pool.for_each(6, [&](std::size_t) {
    const std::set own{std::this_thread::get_id()};
    const WorkPool::Alone alone;
    {
      const WorkPool::Alone more;
      EXPECT_EQ(threads_of(), own);
    }
    EXPECT_EQ(threads_of(), own);
    EXPECT_THROW(pool.for_each(3, [](std::size_t) { throw std::runtime_error("no"); }), std::runtime_error);
  });
  EXPECT_GT(threads_of().size(), 1U);
}

TEST(WorkPool, IsNotLimitedByASmallerOne) {
  const WorkPool small(1), large(4);
  EXPECT_EQ(most_at_once(small), 1);
  EXPECT_GE(most_at_once(large), 2);
}

TEST(WorkPool, RefusesToHaveNoWorker) { EXPECT_THROW(WorkPool(0), Bug); }

TEST(WorkPool, KnowsThatThereIsACore) { EXPECT_GE(WorkPool::available_cores(), 1); }

}  // namespace
}  // namespace fedarena

// oneTBB keeps 40 bytes for a worker that has not left its arena when the program ends, where the leak
// sanitizer does not see them. Their number does not grow with the number of pools.
extern "C" FEDARENA_API const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() { return "leak:tbb::detail::r1::observe\n"; }
