// Which cells run at once, how much memory they are taken to need, and which names files keep from plugins.
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/plugin.hpp"

#include "harness/config/sections/sections.hpp"
#include "harness/runner/plan/catalog.hpp"
#include "harness/runner/plan/memory.hpp"
#include "partitions/partition.hpp"
#include "results/record/partition_file.hpp"
#include "tests/message_of.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

using testing::Optional;

// With a setting of such a name in the catalog no file could be read, so the plugin is left out before.
TEST(Registry, RefusesSettingsNamedLikeAnyKeyOfTheSectionOfAlgorithms) {
  const Catalog catalog;
  const std::vector<config::SectionSpec> specs = config::sections(catalog);
  const config::SectionSpec* algorithms = config::find_spec(specs, "algorithms");
  ASSERT_NE(algorithms, nullptr);
  std::vector<std::string> kept;
  for (const config::Key& key : algorithms->keys) kept.push_back(key.name());
  for (const config::SectionSpec& own : algorithms->own) kept.push_back(own.key());
  EXPECT_GE(kept.size(), 3U);
  for (const std::string& name : kept) {
    AlgorithmInfo info;
    info.name = "mine";
    info.fields.push_back(algorithms->keys.front().field);
    info.fields.front().name = name;
    EXPECT_THAT(test::message_of([&] { Registry().add(info); }), testing::HasSubstr("needs for itself"))
        << name;
  }
}

TEST(PolicySettings, AreTheKeysOfPrivacyUnderAnyPolicy) {
  EXPECT_THAT(policy_settings(),
              testing::IsSupersetOf({"policy", "budget", "delta", "clip_norm", "noise_multiplier",
                                     "noise_for_epsilon", "adaptive_clipping", "mechanism", "epsilon"}));
}

// Kinds that ask for labels refuse data without any.
TEST(PublicData, KnowsEveryPartitionThatDealsByLabels) {
  const std::vector<std::int64_t> users = {0, 0, 1, 1};
  const PartitionInput input{.labels = {}, .examples = 4, .classes = 0, .users = users};
  std::size_t by_labels = 0;
  for (const std::string& kind : partition_names()) {
    Settings settings;
    for (const Field& field : partition_fields(kind))
      settings.emplace_back(field.name, field.name == "clients" ? Value(std::int64_t{2}) : field.fallback);
    const std::string refusal = test::message_or("", [&] { make_partition(kind, settings, input, 1); });
    EXPECT_EQ(refusal.find("deals by class label") != std::string::npos, results::deals_by_labels(kind))
        << kind << ": " << refusal;
    by_labels += results::deals_by_labels(kind) ? 1 : 0;
  }
  EXPECT_GE(by_labels, 8U);
}

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

// What files hold of a group's memory is dropped before anybody is killed, and a group around it counts, too.
TEST(Memory, IsWhatControlGroupsAllow) {
  constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  const test::Scratch root;
  EXPECT_EQ(free_in_groups(root.path()), kUnlimited);
  root.write("proc/self/cgroup", "0::/jobs/7\n");
  root.write("sys/fs/cgroup/jobs/7/memory.max", "max\n");
  EXPECT_EQ(free_in_groups(root.path()), kUnlimited);
  root.write("sys/fs/cgroup/jobs/7/memory.max", "9000\n");
  root.write("sys/fs/cgroup/jobs/7/memory.current", "8000\n");
  root.write("sys/fs/cgroup/jobs/7/memory.stat", "anon 3000\ninactive_file 4500\n");
  EXPECT_EQ(free_in_groups(root.path()), 5500);
  root.write("sys/fs/cgroup/jobs/memory.max", "8200\n");
  root.write("sys/fs/cgroup/jobs/memory.current", "8100\n");
  EXPECT_EQ(free_in_groups(root.path()), 100);
  root.write("proc/self/cgroup", "5:cpu:/other\n4:memory:/slurm/step\n0::/\n");
  root.write("sys/fs/cgroup/memory/slurm/step/memory.limit_in_bytes", "700\n");
  root.write("sys/fs/cgroup/memory/slurm/step/memory.usage_in_bytes", "900\n");
  root.write("sys/fs/cgroup/memory/slurm/step/memory.stat", "total_inactive_file 350\n");
  EXPECT_EQ(free_in_groups(root.path()), 150);
}

}  // namespace
}  // namespace fedarena
