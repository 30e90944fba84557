#include "tests/harness/app/small_experiment.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "results/audit/compute_claim.hpp"
#include "results/record/run_directory.hpp"
#include "tests/paths.hpp"
#include "tests/results/samples.hpp"
#include "tests/scratch.hpp"

namespace fedarena::test {

std::string SmallExperiment::toml() const {
  std::string text = fmt::format("[experiment]\nname = \"small\"\nseeds = {}\nrounds = {}\n", seeds, rounds);
  text += fmt::format("\n[data]\nname = \"{}\"\n\n[partition]\n{}\n\n[model]\n{}\n", data, partition, model);
  if (!cohort.empty()) text += fmt::format("\n[cohort]\n{}\n", cohort);
  text +=
      fmt::format("\n[evaluation]\nevery = {}\n{}\n[training]\n{}\n", evaluate_every, evaluation, training);
  for (const std::string& name : algorithms) text += fmt::format("\n[[algorithms]]\nname = \"{}\"\n", name);
  return text + more;
}

void SmallExperiment::write_to(const Scratch& scratch) const {
  scratch.write("small.toml", toml());
  for (const auto& [name, content] : files) scratch.write(name, content);
}

Outcome run_small(const Scratch& scratch, const SmallExperiment& experiment, const std::string& options) {
  struct Finished {
    Scratch scratch;
    Outcome outcome;
  };
  static std::map<std::pair<std::string, std::string>, Finished> runs;
  const auto [run, is_new] = runs.try_emplace({experiment.toml(), options});
  Finished& finished = run->second;
  if (is_new) {
    experiment.write_to(finished.scratch);
    finished.outcome = run_program(finished.scratch, "run small.toml " + options);
  }
  if (finished.outcome.exit_code != 0) throw std::runtime_error(finished.outcome.err);
  fs::copy(finished.scratch.path(), scratch.path(),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  return finished.outcome;
}

void record_run(const fs::path& folder, std::int64_t seed, std::int64_t rounds, std::int64_t planned) {
  results::Summary summary = rounds == planned ? results::finished("fedavg", seed, 0.75)
                                               : results::unfinished("fedavg", seed, rounds);
  if (rounds == planned) summary.final_test_loss = results::round_record(rounds).test_loss;
  summary.rounds = planned;
  summary.rounds_done = rounds;
  auto run = results::RunDirectory::create(folder / fmt::format("fedavg-seed-{}", seed), "[experiment]\n",
                                           "{}\n", summary);
  while (run.rounds_recorded() < rounds) run.append(results::round_record(run.rounds_recorded() + 1));
}

std::vector<results::RoundRecord> rounds_of(const fs::path& run) {
  return results::RunDirectory::open(run).rounds();
}

std::vector<results::RoundRecord> timeless_rounds_of(const fs::path& run) {
  std::vector<results::RoundRecord> rounds = rounds_of(run);
  for (results::RoundRecord& round : rounds) round.train_seconds = round.evaluation_seconds = 0;
  return rounds;
}

results::Summary summary_of(const fs::path& run) { return results::RunDirectory::open(run).summary(); }

void edit_summary(const fs::path& run, const std::function<void(results::Summary&)>& edit) {
  results::Summary summary = summary_of(run);
  edit(summary);
  results::RunDirectory::open(run).write_summary(summary);
}

void replace_in(const fs::path& file, const std::string& before, const std::string& after) {
  std::string text = content_of(file);
  std::ofstream(file, std::ios::binary) << text.replace(text.find(before), before.size(), after);
}

std::int64_t rounds_on_disk(const fs::path& run) {
  std::ifstream file(run / results::kRoundsFile, std::ios::binary);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

Outcome signal_after(const Scratch& scratch, const CommandLine& command, const fs::path& run,
                     std::int64_t rounds, int signal) {
  Program program(scratch, command);
  EXPECT_TRUE(program.wait_until([&] {
    return fs::exists(run / results::kSummaryFile) && rounds_on_disk(run) >= rounds;
  })) << program.err();
  program.send(signal);
  return program.finish();
}

std::vector<std::string> cells_in(const fs::path& folder) {
  std::vector<std::string> cells;
  if (!fs::exists(folder)) return cells;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == results::kSummaryFile)
      cells.push_back(fs::relative(entry.path().parent_path(), folder).string());
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

std::vector<std::string> files_named(const fs::path& folder, const std::string& part) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(part) != std::string::npos) names.push_back(entry.path().string());
  }
  return names;
}

void unfinish(const fs::path& run) {
  edit_summary(run, [](results::Summary& summary) {
    summary.state = results::kRunning;
    summary.final_test_accuracy.reset();
    summary.final_test_loss.reset();
    summary.audit.reset();
    if (summary.privacy)
      plan_privacy(summary, summary.policy, summary.privacy->settings, summary.privacy->budget);
    summary.uplink_bytes = summary.downlink_bytes = 0;
    summary.uplink_bytes_per_client_round = summary.downlink_bytes_per_client_round = summary.seconds = 0;
  });
}

std::map<fs::path, std::pair<std::string, fs::file_time_type>> snapshot_of(const fs::path& folder) {
  std::map<fs::path, std::pair<std::string, fs::file_time_type>> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path()] = {content_of(entry.path()), entry.last_write_time()};
  }
  return files;
}

fs::path published_data() {
  const fs::path folder = data_folder();
  if (fs::exists(folder / "mnist")) return fs::canonical(folder);
  std::puts(
      "MNIST is not here, so nothing was done with it; FEDARENA_TEST_DATA names the folder above mnist/.");
  return {};
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

void expect_same_runs(const fs::path& left, const fs::path& right) {
  const std::vector<std::string> cells = cells_in(left);
  EXPECT_FALSE(cells.empty());
  EXPECT_EQ(cells, cells_in(right));
  for (const std::string& cell : cells) expect_same_run(left / cell, right / cell);
}

}  // namespace fedarena::test
