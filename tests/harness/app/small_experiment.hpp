#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::test {

/// An experiment on synthetic digits that takes well under a second; tests change what they are about.
struct SmallExperiment {
  std::string data = "glyphs";
  std::string seeds = "[1]";
  std::int64_t rounds = 3;
  std::string partition = "kind = \"iid\"\nclients = 4";
  std::string model = "name = \"logistic\"";
  std::string cohort = {};
  std::int64_t evaluate_every = 1;
  std::string training = "local_steps = 4\nbatch_size = 16\nrate = 0.05";
  std::vector<std::string> algorithms = {"fedavg"};

  std::string toml() const;
};

/// The rounds of a run directory; fails the test when one is not valid.
std::vector<results::RoundRecord> rounds_of(const std::filesystem::path& run);

/// The same, with the seconds set to 0: what must not depend on speed.
std::vector<results::RoundRecord> timeless_rounds_of(const std::filesystem::path& run);

/// The summary of a run directory; fails the test when it is not valid.
results::Summary summary_of(const std::filesystem::path& run);

/// How many whole lines `rounds.jsonl` has; 0 when there is none yet.
std::int64_t rounds_on_disk(const std::filesystem::path& run);

/// Fails the test unless both runs have the same rounds, but for the seconds, and the same final state, bit
/// by bit.
void expect_same_run(const std::filesystem::path& left, const std::filesystem::path& right);

}  // namespace fedarena::test
