#include "results/record/run_directory.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "harness/digest/sha256.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/seal.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// A crash between the first and the last write of create() leaves these; anything else is not ours to
// overwrite.
bool is_left_by_create(const std::filesystem::directory_entry& entry) {
  const std::filesystem::path name = entry.path().filename();
  if (name == kRoundsFile) {
    std::error_code failure;
    return entry.file_size(failure) == 0 && !failure;
  }
  for (const char* whole : {kExperimentFile, kEnvironmentFile, kPartitionFile, kClaimFile}) {
    if (name == whole || name == partial_of(whole)) return true;
  }
  return name == partial_of(kRoundsFile) || name == partial_of(kSummaryFile);
}

void check_free(const std::filesystem::path& path) {
  std::error_code failure;
  if (std::filesystem::exists(path / kSummaryFile, failure)) {
    throw Error::in(path, "already holds a run",
                    {.remedy = "resume that run, choose another output folder, or remove this one"});
  }
  const std::filesystem::directory_iterator entries(path, failure);
  if (failure) fail_on_file(path, "cannot be listed", failure.value());
  for (const auto& entry : entries) {
    if (is_left_by_create(entry)) continue;
    throw Error::in(
        path, fmt::format("holds \"{}\", which is not part of a new run", entry.path().filename().string()),
        {.remedy = "choose another output folder"});
  }
}

std::string exact_text(const std::optional<double>& number) {
  return number ? exact_number(*number) : "null";
}

// The rounds of a run, of which there are so many, against what its summary repeats of them.
void check_stated(const std::filesystem::path& folder, const Summary& summary, std::int64_t count,
                  const RoundRecord& last) {
  const bool finished = summary.state == kFinished;
  if (finished ? count != summary.rounds_done : count > summary.rounds) {
    throw Error::in(folder / kRoundsFile, fmt::format("holds {}", counted(count, "round")),
                    {.allowed = finished ? fmt::format("{}, as field \"rounds_done\" of {} says",
                                                       summary.rounds_done, kSummaryFile)
                                         : fmt::format("at most the {} planned ones", summary.rounds),
                     .remedy = kBrokenRecord});
  }
  if (!finished) return;
  // The results that tables show are those of the last round.
  const auto expect = [&](const char* field, const auto& stated, const auto& recorded) {
    if (exact_text(stated) == exact_text(recorded)) return;  // nan is itself here
    throw Error::in(folder / kSummaryFile, fmt::format("field \"{}\" is {}", field, exact_text(stated)),
                    {.allowed = fmt::format("{}, as {} says", exact_text(recorded), kRoundsFile),
                     .remedy = kBrokenRecord});
  };
  expect("final_test_loss", summary.final_test_loss, last.test_loss);
  expect("final_test_accuracy", summary.final_test_accuracy, last.test_accuracy);
}

}  // namespace

RunDirectory RunDirectory::create(const std::filesystem::path& path, std::string_view experiment_toml,
                                  std::string_view environment_json, const Summary& summary,
                                  std::string_view partition_json) {
  make_folders(path);
  check_free(path);
  RunDirectory run(path);
  run.write_file_atomically(kExperimentFile, experiment_toml);
  run.write_file_atomically(kEnvironmentFile, environment_json);
  // One that a crashed attempt left is replaced or goes: it would not be part of this run.
  if (partition_json.empty()) {
    remove_durably(path / kPartitionFile);
  } else {
    run.write_file_atomically(kPartitionFile, partition_json);
  }
  run.write_file_atomically(kRoundsFile, "");
  run.recorded_ = Recorded{};
  run.write_summary(summary);  // last: a folder without it is not a run yet
  return run;
}

RunDirectory RunDirectory::resume(const std::filesystem::path& path, const RoundLimits& limits) {
  RunDirectory run = open(path);
  run.limits_ = limits;
  run.recorded();
  return run;
}

RunDirectory RunDirectory::open(const std::filesystem::path& path) {
  RunDirectory run(path);
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path / kSummaryFile, failure)) {
    if (failure == std::errc::permission_denied) {
      throw Error::in(path, "cannot be entered: " + failure.message(),
                      {.remedy = "change its permissions, or ask whom it belongs to"});
    }
    throw Error::in(path, fmt::format("holds no run: there is no {} in it", kSummaryFile),
                    {.remedy = "give the folder of one run, such as runs/quickstart/fedavg-seed-1"});
  }
  run.summary();
  return run;
}

RunDirectory::Recorded& RunDirectory::recorded() const {
  if (recorded_) return *recorded_;
  Recorded recorded;
  const auto add = [&](const RoundRecord& record) {
    recorded.lines.push_back({.end = 0, .memory = recorded.lines.back().memory + size_in_memory(record)});
  };
  const RoundLines read = for_each_round(path_ / kRoundsFile, add, limits_);
  for (std::size_t i = 0; i < read.ends.size(); ++i) recorded.lines[i + 1].end = read.ends[i];
  recorded.size = read.size;
  return recorded_.emplace(std::move(recorded));
}

Summary RunDirectory::summary() const {
  return parse_summary(read_file(kSummaryFile), (path_ / kSummaryFile).string());
}

void RunDirectory::write_summary(const Summary& summary) const {
  const std::string text = to_json_text(summary);
  if (summary.state == kFinished) {
    Seal seal = current_seal(path_);
    // Of the record itself nothing passes for a file.
    std::erase_if(seal, [](const auto& file) { return is_record(file.first) && !is_sha256(file.second); });
    seal[kSummaryFile] = sha256_of(text);
    // The summary that the seal is about is on disk before it, so that who reads the one can find the other.
    prepare_file(path_ / kSummaryFile, text);
    write_file_atomically(kSealFile, to_json_text(seal));
    rename_durably(partial_of(path_ / kSummaryFile), path_ / kSummaryFile);
    return;
  }
  // A run may have been killed between its seal and its last summary.
  remove_durably(path_ / kSealFile);
  write_file_atomically(kSummaryFile, text);
}

std::vector<RoundRecord> RunDirectory::rounds() const { return all_rounds(path_ / kRoundsFile); }

void RunDirectory::append(const RoundRecord& record) {
  cut_rounds(rounds_recorded());  // a torn line
  FEDARENA_CHECK(record.round, ==, rounds_recorded() + 1);
  auto& [lines, size] = recorded();
  const std::string text = to_json_line(record) + "\n";
  const Line line = line_after(lines.back(), record, text.size());
  rewrite_end(path_ / kRoundsFile, size, size, text);
  lines.push_back(line);
  size = line.end;
  synthetic().thin();
}

void RunDirectory::replace_last(const RoundRecord& record) {
  FEDARENA_CHECK(record.round, ==, rounds_recorded());
  auto& [lines, size] = recorded();
  FEDARENA_CHECK(lines.size(), >, 1U);
  const Line& before = lines[lines.size() - 2];
  const std::string text = to_json_line(record) + "\n";
  const Line line = line_after(before, record, text.size());
  replace_end(path_ / kRoundsFile, size, before.end, text);
  lines.back() = line;
  size = line.end;
}

RunDirectory::Line RunDirectory::line_after(const Line& before, const RoundRecord& record,
                                            std::size_t bytes) const {
  const Line line{.end = before.end + bytes, .memory = before.memory + size_in_memory(record)};
  if (line.end <= limits_.file && line.memory <= limits_.records) return line;
  throw Error::in(path_ / kRoundsFile, fmt::format("round {} does not fit any more", record.round),
                  {.allowed = fmt::format("at most {} MiB of rounds, and {} MiB of them in memory",
                                          limits_.file >> 20, limits_.records >> 20),
                   .remedy = "run fewer rounds, or record less in each: evaluate less often"});
}

void RunDirectory::truncate_rounds(std::int64_t last_round_to_keep) {
  cut_rounds(last_round_to_keep);
  synthetic().drop_after(last_round_to_keep);
}

void RunDirectory::cut_rounds(std::int64_t last_round_to_keep) {
  FEDARENA_CHECK(last_round_to_keep, >=, 0);
  if (last_round_to_keep > rounds_recorded()) {
    throw Error::in(path_ / kRoundsFile,
                    fmt::format("ends at round {}, before round {} of the checkpoint", rounds_recorded(),
                                last_round_to_keep),
                    {.remedy = "lines were lost; remove the folder and run this cell again"});
  }
  auto& [lines, size] = recorded();
  const auto kept = static_cast<std::size_t>(last_round_to_keep);
  const std::uintmax_t keep = lines[kept].end;
  if (keep == size) return;
  rewrite_end(path_ / kRoundsFile, size, keep, "");
  lines.resize(kept + 1);
  size = keep;
}

std::optional<ClientScores> RunDirectory::client_scores() const {
  if (!has(kClientsFile)) return std::nullopt;
  return parse_client_scores(read_file(kClientsFile), (path_ / kClientsFile).string());
}

void RunDirectory::write_client_scores(const ClientScores& scores) const {
  write_file_atomically(kClientsFile, to_json_text(scores));
}

void RunDirectory::write_file_atomically(const std::string& name, std::string_view bytes) const {
  FEDARENA_CHECK(name.find('/'), ==, std::string::npos);
  replace_file(path_ / name, bytes);
}

std::string RunDirectory::read_file(const std::string& name, std::uintmax_t most) const {
  FEDARENA_CHECK(name.find('/'), ==, std::string::npos);
  return read_whole_file(path_ / name, most);
}

bool RunDirectory::has(const std::string& name) const {
  std::error_code failure;
  return std::filesystem::is_regular_file(path_ / name, failure);
}

std::vector<RoundRecord> recorded_rounds(const std::filesystem::path& folder, const Summary& summary) {
  std::vector<RoundRecord> rounds = all_rounds(folder / kRoundsFile);
  check_stated(folder, summary, std::ssize(rounds), rounds.empty() ? RoundRecord() : rounds.back());
  return rounds;
}

std::int64_t check_recorded_rounds(const std::filesystem::path& folder, const Summary& summary) {
  std::int64_t count = 0;
  RoundRecord last;
  for_each_round(folder / kRoundsFile, [&](RoundRecord round) {
    ++count;
    last = std::move(round);
  });
  check_stated(folder, summary, count, last);
  return count;
}

}  // namespace fedarena::results
