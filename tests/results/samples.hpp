#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "tests/message_of.hpp"
#include "tests/scratch.hpp"

namespace fedarena::results {

using test::message_of;
using test::Scratch;

inline void put(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// A test with a folder of its own.
class WithFolder : public testing::Test {
 protected:
  const Scratch folder_;
};

/// The text with its first `from` turned into `to`; a failure of the test where there is none.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) return text.replace(at, from.size(), to);
  ADD_FAILURE() << from << " is not in " << text;
  return text;
}

/// The lines of a text, each of which ends with a line feed.
inline std::vector<std::string> lines_of(const std::string& text) {
  EXPECT_TRUE(text.ends_with('\n'));
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A finished run with round numbers.
inline Summary finished(const std::string& label, std::int64_t seed, double accuracy) {
  Summary summary;
  summary.experiment = "quickstart";
  summary.label = label;
  summary.algorithm = label;
  summary.dataset = "digits";
  summary.data_hash = std::string(64, 'd');
  summary.partition = "iid";
  summary.partition_id = fmt::format("iid(clients=10,seed={})", seed);
  summary.partition_hash = fmt::format("{:016x}", 0xabc0 + seed);
  summary.model = "mlp";
  summary.seed = seed;
  summary.rounds = 20;
  summary.rounds_done = 20;
  summary.clients = 10;
  summary.parameters = 1000;
  summary.state = std::string(kFinished);
  summary.final_test_accuracy = accuracy;
  summary.final_test_loss = 0.5;
  summary.uplink_bytes = std::int64_t{20} * 10 * 4096;
  summary.downlink_bytes = std::int64_t{20} * 10 * 8192;
  summary.uplink_bytes_per_client_round = 4096;
  summary.downlink_bytes_per_client_round = 8192;
  summary.seconds = 12.5;
  return summary;
}

/// Of the notes of a table, those that do not name its partitions, which are there whatever is tested.
inline std::vector<std::string> beside_partitions(std::vector<std::string> notes) {
  std::erase_if(notes, [](const std::string& note) { return note.starts_with("partition of "); });
  return notes;
}

inline Summary unfinished(const std::string& label, std::int64_t seed, std::int64_t rounds_done) {
  Summary summary = finished(label, seed, 0);
  summary.state = std::string(kInterrupted);
  summary.rounds_done = rounds_done;
  summary.final_test_accuracy = std::nullopt;
  summary.final_test_loss = std::nullopt;
  return summary;
}

/// A finished run under the policy "record", with epsilons as they come from Opacus' orders.
inline Summary finished_privately(const std::string& label, std::int64_t seed, double accuracy) {
  Summary summary = finished(label, seed, accuracy);
  summary.policy = "record";
  summary.privacy = PrivacyClaim{.unit = "record",
                                 .adjacency = "zero-out",
                                 .settings = {.delta = 1e-5, .orders = "opacus"},
                                 .rdp = Claim{.epsilon = 2.78664},
                                 .order = 8.5,
                                 .pld = Claim{.epsilon = 2.5}};
  return summary;
}

/// The same, stopped after 15 of its 20 rounds by a budget of 3.
inline Summary stopped_by_budget(const std::string& label, std::int64_t seed, double accuracy) {
  Summary summary = finished_privately(label, seed, accuracy);
  summary.rounds_done = 15;
  summary.privacy->budget = 3;
  summary.privacy->stopped = kStoppedByBudget;
  return summary;
}

inline Claim unproven(const std::string& reason) { return {.epsilon = std::nullopt, .unproven = reason}; }

inline RoundRecord round_record(std::int64_t round) {
  return {.round = round,
          .test_loss = 0.25,
          .test_accuracy = 0.75,
          .clients = 10,
          .examples = 640,
          .uplink_bytes = 40960,
          .downlink_bytes = 81920,
          .train_seconds = 1.5,
          .evaluation_seconds = 0.125,
          .epsilon = std::nullopt,
          .cost = {.gradients = 640}};
}

/// One of a run that ends as this summary says.
inline RoundRecord round_of(const Summary& summary, std::int64_t round) {
  RoundRecord record = round_record(round);
  record.test_loss = summary.final_test_loss;
  record.test_accuracy = summary.final_test_accuracy;
  return record;
}

/// The run as find_runs() would return it, at runs/<label>-seed-<seed>.
inline FoundRun found(const Summary& summary, const std::string& folder = "runs") {
  return {.path = folder + "/" + summary.label + "-seed-" + std::to_string(summary.seed),
          .summary = summary,
          .problem = {}};
}

}  // namespace fedarena::results
