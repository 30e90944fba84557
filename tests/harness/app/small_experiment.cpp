#include "tests/harness/app/small_experiment.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "results/record/run_directory.hpp"
#include "tests/scratch.hpp"

namespace fedarena::test {

namespace fs = std::filesystem;

std::string SmallExperiment::toml() const {
  std::string text = fmt::format("[experiment]\nname = \"small\"\nseeds = {}\nrounds = {}\n", seeds, rounds);
  text += fmt::format("\n[data]\nname = \"{}\"\n\n[partition]\n{}\n\n[model]\n{}\n", data, partition, model);
  if (!cohort.empty()) text += fmt::format("\n[cohort]\n{}\n", cohort);
  text += fmt::format("\n[evaluation]\nevery = {}\n\n[training]\n{}\n", evaluate_every, training);
  for (const std::string& name : algorithms) text += fmt::format("\n[[algorithms]]\nname = \"{}\"\n", name);
  return text;
}

std::vector<results::RoundRecord> rounds_of(const fs::path& run) {
  try {
    return results::RunDirectory::open(run).rounds();
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
    return {};
  }
}

std::vector<results::RoundRecord> timeless_rounds_of(const fs::path& run) {
  std::vector<results::RoundRecord> rounds = rounds_of(run);
  for (results::RoundRecord& round : rounds) round.train_seconds = round.evaluation_seconds = 0;
  return rounds;
}

results::Summary summary_of(const fs::path& run) {
  try {
    return results::RunDirectory::open(run).summary();
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
    return {};
  }
}

std::int64_t rounds_on_disk(const fs::path& run) {
  std::ifstream file(run / results::kRoundsFile, std::ios::binary);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

void expect_same_run(const fs::path& left, const fs::path& right) {
  SCOPED_TRACE(fmt::format("{} and {}", left.string(), right.string()));
  const std::vector<results::RoundRecord> rounds = timeless_rounds_of(left);
  EXPECT_FALSE(rounds.empty());
  EXPECT_TRUE(rounds == timeless_rounds_of(right)) << "rounds differ";
  EXPECT_TRUE(content_of(left / results::kCheckpointFile) == content_of(right / results::kCheckpointFile))
      << "checkpoints differ";
  EXPECT_EQ(content_of(left / results::kLedgerFile), content_of(right / results::kLedgerFile));
}

}  // namespace fedarena::test
