// Who may begin on a GPU, and what is done where its memory was not enough; no GPU is needed.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/engine/micro_batch.hpp"
#include "harness/gradients/engine/reservations.hpp"

namespace fedarena {
namespace {

// Many threads that take and give back at once, by several sizes, some of them everything.
void crowd(Reservations& memory, std::int64_t capacity, std::atomic<bool>& too_much) {
  constexpr int kThreads = 6, kTurns = 300;
  std::atomic<std::int64_t> taken = 0, holders = 0;
  std::barrier start(kThreads);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::int64_t bytes = 1 + (7 * thread + turn) % (capacity + 2);
        if ((thread + turn) % 5 == 0) {
          const Reservations::Held held = memory.take_all();
          too_much = too_much || ++holders != 1;
          --holders;
        } else {
          const Reservations::Held held = memory.take(bytes);
          const std::int64_t others = ++holders - 1, sum = taken += bytes;
          too_much = too_much || (others > 0 && sum > capacity);
          taken -= bytes;
          --holders;
        }
      }
    });
  }
}

TEST(Reservations, NeverPassTheirCapacityButForOneThatIsAlone) {
  for (const std::int64_t capacity : {0, 1, 10}) {
    Reservations memory(capacity);
    std::atomic<bool> too_much = false;
    crowd(memory, capacity, too_much);
    EXPECT_FALSE(too_much) << capacity;
  }
}

TEST(Reservations, LetSeveralIn) {
  Reservations memory(10);
  std::barrier both_in(2);
  const auto one = [&] {
    const Reservations::Held held = memory.take(5);
    both_in.arrive_and_wait();
  };
  const std::jthread first(one), second(one);
}

class MemoryOfAGpu : public ::testing::Test {
 protected:
  using Calls = std::vector<std::pair<std::int64_t, std::int64_t>>;

  // What is called when the first `failures` calls, and all for more than `most` examples, find no memory.
  Calls calls(int failures, std::int64_t most) {
    Calls made;
    memory.run(0, 8, [&](std::int64_t begin, std::int64_t end) {
      made.emplace_back(begin, end);
      TORCH_CHECK_WITH(OutOfMemoryError, std::ssize(made) > failures && end - begin <= most, "none");
    });
    return made;
  }

  const Model model{{.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}}, torch::kFloat32};
  const GpuMemory memory{model};
  const cuda::Walked walked{cuda::Order::kForward};
};

TEST_F(MemoryOfAGpu, TriesAWholeBatchAgainBeforeItIsDivided) {
  EXPECT_EQ(calls(0, 8), (Calls{{0, 8}}));
  EXPECT_EQ(calls(1, 8), (Calls{{0, 8}, {0, 8}}));
  EXPECT_EQ(calls(2, 8), (Calls{{0, 8}, {0, 8}, {0, 4}, {4, 8}}));
}

TEST_F(MemoryOfAGpu, DividesHalvesUntilTheyFit) {
  EXPECT_EQ(calls(0, 2),
            (Calls{{0, 8}, {0, 8}, {0, 4}, {0, 4}, {0, 2}, {2, 4}, {4, 8}, {4, 8}, {4, 6}, {6, 8}}));
  EXPECT_THROW(calls(0, 0), c10::OutOfMemoryError);
}

TEST_F(MemoryOfAGpu, DoesNotTryAgainAfterOtherErrors) {
  int made = 0;
  EXPECT_THROW(memory.run(0, 8,
                          [&](std::int64_t, std::int64_t) {
                            ++made;
                            TORCH_CHECK(false, "a fault");
                          }),
               c10::Error);
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace fedarena
