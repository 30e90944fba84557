// Which cells run at once, and how much memory they are taken to need.
#include "harness/runner/plan/cell_queue.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/runner/plan/memory.hpp"

namespace fedarena {
namespace {

using testing::Optional;

TEST(CellQueue, HandsOutCellsInOrderWhileTheyFit) {
  CellQueue queue({4, 4, 4}, 8);
  EXPECT_THAT(queue.take(), Optional(0U));
  EXPECT_THAT(queue.take(), Optional(1U));
  queue.give_back(0);
  EXPECT_THAT(queue.take(), Optional(2U));
  EXPECT_EQ(queue.take(), std::nullopt);
}

TEST(CellQueue, LetsSmallerCellsPassOneThatDoesNotFit) {
  CellQueue queue({5, 5, 3}, 8);
  EXPECT_THAT(queue.take(), Optional(0U));
  EXPECT_THAT(queue.take(), Optional(2U));
  queue.give_back(0);
  EXPECT_THAT(queue.take(), Optional(1U));
}

TEST(CellQueue, RunsACellThatNeverFitsAlone) {
  CellQueue queue({100, 100}, 8);
  EXPECT_THAT(queue.take(), Optional(0U));
  queue.give_back(0);
  EXPECT_THAT(queue.take(), Optional(1U));
}

TEST(CellQueue, HandsOutNothingOnceClosed) {
  CellQueue queue({1, 1}, 8);
  EXPECT_THAT(queue.take(), Optional(0U));
  queue.close();
  EXPECT_EQ(queue.take(), std::nullopt);
}

TEST(CellQueue, NeverExceedsTheBudgetWhoeverAsks) {
  constexpr std::int64_t kBudget = 10;
  std::vector<std::int64_t> needs;
  for (std::int64_t cell = 0; cell < 200; ++cell) needs.push_back(1 + cell * 7 % 12);
  CellQueue queue(needs, kBudget);
  std::atomic<std::int64_t> in_use = 0, done = 0, running = 0;
  std::atomic<bool> exceeded = false;
  const auto work = [&] {
    while (const auto cell = queue.take()) {
      const std::int64_t now = in_use += needs[*cell];
      // A cell above the budget runs alone.
      if (++running > 1 && now > kBudget) exceeded = true;
      std::this_thread::yield();
      --running;
      in_use -= needs[*cell];
      ++done;
      queue.give_back(*cell);
    }
  };
  std::vector<std::thread> others;
  for (int lane = 0; lane < 3; ++lane) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(done, 200);
  EXPECT_FALSE(exceeded);
}

TEST(Memory, GrowsWithModelCohortAndMicroBatches) {
  const CellSize small{.parameters = 1000, .activations = 100, .micro_batch = 8, .cohort = 10};
  // 8 + 3 * 10 + 4 * 1 models, and 4 copies of 8 * 100 activations, of 4 bytes each.
  EXPECT_EQ(estimate_memory(small), 4 * (42 * 1000 + 4 * 8 * 100));
  CellSize large = small;
  large.number_bytes = 8;
  EXPECT_EQ(estimate_memory(large), 2 * estimate_memory(small));
  large = small;
  large.per_example = true;  // 8 gradients on each worker
  EXPECT_EQ(estimate_memory(large), estimate_memory(small) + 4 * 8 * 1000);
  large = small;
  large.workers = 2;
  EXPECT_EQ(estimate_memory(large), estimate_memory(small) + 4 * (4 * 1000 + 4 * 8 * 100));
  large = small;
  large.states = 5000;  // in memory and in a checkpoint
  EXPECT_EQ(estimate_memory(large), estimate_memory(small) + 2 * 5000);
}

TEST(Memory, IsFreeInPart) { EXPECT_GT(free_memory(), 1 << 20); }

}  // namespace
}  // namespace fedarena
