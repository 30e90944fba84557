#include "results/record/run_directory.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/digest/sha256.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/seal.hpp"

namespace fedarena::results {
namespace {

// What replace_file() writes first.
constexpr std::string_view kPartial = ".partial";

// A crash between the first and the last write of create() leaves these; anything else is not ours to
// overwrite.
bool is_left_by_create(const std::filesystem::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (name == kRoundsFile) {
    std::error_code failure;
    return entry.file_size(failure) == 0 && !failure;
  }
  const std::string whole = name.ends_with(kPartial) ? name.substr(0, name.size() - kPartial.size()) : name;
  const bool partial = whole != name;
  return whole == kExperimentFile || whole == kEnvironmentFile || whole == kPartitionFile ||
         whole == kClaimFile || (partial && (whole == kRoundsFile || whole == kSummaryFile));
}

void check_free(const std::filesystem::path& path) {
  std::error_code failure;
  if (std::filesystem::exists(path / kSummaryFile, failure)) {
    throw Error(Complaint{.place = {.file = path.string()},
                          .found = "already holds a run",
                          .remedy = "resume that run, choose another output folder, or remove this one"});
  }
  const std::filesystem::directory_iterator entries(path, failure);
  if (failure) fail_on_file(path, "cannot be listed", failure.value());
  for (const auto& entry : entries) {
    if (is_left_by_create(entry)) continue;
    throw Error(Complaint{.place = {.file = path.string()},
                          .found = fmt::format("holds \"{}\", which is not part of a new run",
                                               entry.path().filename().string()),
                          .remedy = "choose another output folder"});
  }
}

}  // namespace

std::vector<RoundRecord> rounds_of(const std::filesystem::path& run) { return all_rounds(run / kRoundsFile); }

void for_each_round_of(const std::filesystem::path& run,
                       const std::function<void(const RoundRecord& record)>& look) {
  for_each_round(run / kRoundsFile, look);
}

RunDirectory RunDirectory::create(const std::filesystem::path& path, std::string_view experiment_toml,
                                  std::string_view environment_json, const Summary& summary,
                                  std::string_view partition_json) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) fail_on_file(path, "cannot be created", failure.value());
  check_free(path);
  RunDirectory run(path);
  run.write_file_atomically(kExperimentFile, experiment_toml);
  run.write_file_atomically(kEnvironmentFile, environment_json);
  // One that a crashed attempt left is replaced or goes: it would not be part of this run.
  if (partition_json.empty()) {
    std::filesystem::remove(path / kPartitionFile, failure);
    if (failure) fail_on_file(path / kPartitionFile, "cannot be removed", failure.value());
  } else {
    run.write_file_atomically(kPartitionFile, partition_json);
  }
  run.write_file_atomically(kRoundsFile, "");
  run.write_summary(summary);  // last: a folder without it is not a run yet
  return run;
}

RunDirectory RunDirectory::open(const std::filesystem::path& path, const RoundLimits& limits) {
  RunDirectory run(path);
  run.limits_ = limits;
  if (!run.has(kSummaryFile)) {
    throw Error(Complaint{.place = {.file = path.string()},
                          .found = fmt::format("holds no run: there is no {} in it", kSummaryFile),
                          .remedy = "give the folder of one run, such as runs/quickstart/fedavg-seed-1"});
  }
  run.summary();
  RoundLines lines = for_each_round(
      path / kRoundsFile,
      [&](const RoundRecord& record) {
        run.memory_.push_back((run.memory_.empty() ? 0 : run.memory_.back()) + size_in_memory(record));
      },
      limits);
  run.line_ends_ = std::move(lines.ends);
  run.size_ = lines.size;
  return run;
}

Summary RunDirectory::summary() const {
  return parse_summary(read_file(kSummaryFile), (path_ / kSummaryFile).string());
}

void RunDirectory::write_summary(const Summary& summary) const {
  const std::string text = to_json_text(summary);
  if (summary.state == kFinished) {
    Seal seal = current_seal(path_);
    std::erase_if(seal, [](const auto& file) { return file.second == kNotRegular; });
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

std::vector<RoundRecord> RunDirectory::rounds() const { return rounds_of(path_); }

void RunDirectory::append(const RoundRecord& record) {
  cut_rounds(rounds_recorded());  // a torn line
  add_line(record);
  synthetic().thin();
}

void RunDirectory::replace_last(const RoundRecord& record) {
  FEDARENA_CHECK(record.round, ==, rounds_recorded());
  FEDARENA_CHECK(line_ends_.empty(), ==, false);
  const std::uintmax_t keep = line_ends_.size() == 1 ? 0 : line_ends_[line_ends_.size() - 2];
  const std::string line = to_json_line(record) + "\n";
  const std::size_t others = memory_.size() == 1 ? 0 : memory_[memory_.size() - 2];
  const std::size_t memory = memory_with(record, others, keep + line.size());
  replace_end(path_ / kRoundsFile, size_, keep, line);
  size_ = line_ends_.back() = keep + line.size();
  memory_.back() = memory;
}

void RunDirectory::add_line(const RoundRecord& record) {
  FEDARENA_CHECK(record.round, ==, rounds_recorded() + 1);
  const std::string line = to_json_line(record) + "\n";
  const std::size_t memory = memory_with(record, memory_.empty() ? 0 : memory_.back(), size_ + line.size());
  rewrite_end(path_ / kRoundsFile, size_, size_, line);
  size_ += line.size();
  line_ends_.push_back(size_);
  memory_.push_back(memory);
}

std::size_t RunDirectory::memory_with(const RoundRecord& record, std::size_t others,
                                      std::uintmax_t size_on_disk) const {
  const std::size_t memory = others + size_in_memory(record);
  if (size_on_disk <= limits_.file && memory <= limits_.records) return memory;
  throw Error(Complaint{.place = {.file = (path_ / kRoundsFile).string()},
                        .found = fmt::format("round {} does not fit any more", record.round),
                        .allowed = fmt::format("at most {} MiB of rounds, and {} MiB of them in memory",
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
    throw Error(Complaint{.place = {.file = (path_ / kRoundsFile).string()},
                          .found = fmt::format("ends at round {}, before round {} of the checkpoint",
                                               rounds_recorded(), last_round_to_keep),
                          .remedy = "lines were lost; remove the folder and run this cell again"});
  }
  const std::uintmax_t keep =
      last_round_to_keep == 0 ? 0 : line_ends_[static_cast<std::size_t>(last_round_to_keep) - 1];
  if (keep == size_) return;
  rewrite_end(path_ / kRoundsFile, size_, keep, "");
  line_ends_.resize(static_cast<std::size_t>(last_round_to_keep));
  memory_.resize(line_ends_.size());
  size_ = keep;
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

namespace {

// Of a run with that many rounds.
void check_count(std::int64_t count, const std::filesystem::path& folder, const Summary& summary) {
  const bool finished = summary.state == kFinished;
  if (finished ? count == summary.rounds_done : count <= summary.rounds) return;
  throw Error(Complaint{.place = {.file = (folder / kRoundsFile).string()},
                        .found = fmt::format("holds {} rounds", count),
                        .allowed = finished ? fmt::format("{}, as field \"rounds_done\" of {} says",
                                                          summary.rounds_done, kSummaryFile)
                                            : fmt::format("at most the {} planned ones", summary.rounds),
                        .remedy = "the file is damaged or was edited; restore it, or run this cell again"});
}

}  // namespace

std::vector<RoundRecord> recorded_rounds(const std::filesystem::path& folder, const Summary& summary) {
  std::vector<RoundRecord> rounds = rounds_of(folder);
  check_count(std::ssize(rounds), folder, summary);
  return rounds;
}

void check_recorded_rounds(const std::filesystem::path& folder, const Summary& summary) {
  const RoundLines lines = for_each_round(folder / kRoundsFile, [](const RoundRecord&) {});
  check_count(std::ssize(lines.ends), folder, summary);
}

}  // namespace fedarena::results
