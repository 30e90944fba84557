#include "harness/runner/record/cell_record.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/record/builds.hpp"
#include "harness/runner/record/unfinished_run.hpp"
#include "harness/simulation/round_notes.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/record/durable_file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// Between checkpoints; a crash loses at most this much work.
constexpr std::chrono::seconds kCheckpointInterval{30};
// Large ones come less often, so that writing them takes at most 2 % of the time.
constexpr int kCheckpointShare = 50;

// Keeps other processes of this program from writing to a folder for as long as it is open, also when the
// process is killed in the end; leaves nothing on disk. Does nothing on a file system that knows no locks.
Descriptor locked(const fs::path& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Of one that cannot be opened, whoever writes to it next says what is wrong.
  if (!folder || ::flock(folder.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return folder;
  throw Error::in(
      path, "another fedarena is running this cell",
      {.remedy = "Wait for it or stop it, then pass --resume; or give another folder with --out."});
}

// A round with its clients' scores, which are not part of its line.
std::string text_of(const results::RoundRecord& record) {
  std::string text = to_json_line(record) + "\n";
  if (!record.client_scores.empty())
    text += to_json_text(results::ClientScores{record.round, record.client_scores});
  return text;
}

results::RoundRecord round_from(const std::string& text) {
  const std::size_t end = text.find('\n');
  results::RoundRecord record = results::parse_round(text.substr(0, end), {.file = results::kCheckpointFile});
  const std::string scores = text.substr(end + 1);
  if (!scores.empty()) {
    record.client_scores = results::parse_client_scores(scores, results::kCheckpointFile).clients;
  }
  return record;
}

// The same bytes in another file of that name, if there is one.
void replace_by_copy(const fs::path& file) {
  const fs::path copy = results::partial_of(file);
  std::error_code failure;
  fs::remove(copy, failure);  // as replace_file() does
  if (!fs::copy_file(file, copy, failure)) {
    if (failure == std::errc::no_such_file_or_directory) return;
    results::fail_on_file(file, "cannot be copied", failure.value());
  }
  results::rename_durably(copy, file);
}

}  // namespace

CellRecord::CellRecord(const fs::path& path, const Experiment& cell, const results::Json& environment,
                       results::Summary plan, bool resume,
                       const std::optional<results::RecordedPartition>& partition)
    : environment_(environment),
      guesses_(cell.audit.guesses),
      summary_(std::move(plan)),
      due_(Clock::now() + kCheckpointInterval) {
  const std::string toml = to_toml(cell);
  constant_files_.emplace(results::kExperimentFile, toml);
  if (partition) constant_files_.emplace(results::kPartitionFile, to_json_text(*partition));
  std::error_code ignored;  // what creates or opens the run says what is wrong with its folder
  const fs::path marker = path / results::kSummaryFile;
  if (fs::exists(marker, ignored)) {
    if (!resume) refuse_existing_run(path);
    open(path, toml);
    if (finished()) return;
  }
  fs::create_directories(path, ignored);
  if (auto claim = slurm::Claim::take(path)) claim_.emplace(std::move(*claim));
  if (claim_ && claim_->taken_over()) {
    // Who had it before may be at work still, and find out at its next write. What it writes at any moment
    // goes into a file of its own.
    replace_by_copy(path / results::kClientStatesFile);
  } else {
    lock_ = locked(path);
  }
  if (fs::exists(marker, ignored)) {
    open(path, toml);  // again: its last writer may just have ended
  } else {
    directory_ =
        results::RunDirectory::create(path, toml, results::json_text(environment, 1) + "\n", summary_,
                                      partition ? constant_files_.at(results::kPartitionFile) : "");
  }
}

results::RunDirectory& CellRecord::own() {
  if (claim_) claim_->check();
  return *directory_;
}

void CellRecord::open(const fs::path& path, const std::string& toml) {
  directory_ = results::RunDirectory::resume(path);
  check_same_experiment(*directory_, toml);
  // Of an unfinished run the plan says all that is known, whatever was edited.
  results::Summary written = directory_->summary();
  if (written.state != results::kFinished) return;
  const auto cell_of = [](const results::Summary& summary) {
    return std::tie(summary.label, summary.algorithm, summary.seed, summary.rounds, summary.policy);
  };
  if (cell_of(written) != cell_of(summary_))
    throw Error::in(path / results::kSummaryFile,
                    fmt::format("is of another cell: {}, seed {}, {}", written.label, written.seed,
                                counted(written.rounds, "round")),
                    {.remedy = kRestoreFile});
  results::check_recorded_rounds(path, written);  // or tables would leave out what is kept here
  summary_ = std::move(written);
}

std::int64_t CellRecord::restore(Simulation& simulation) {
  std::optional<Published> published;
  std::optional<results::RoundRecord> unpublished;
  if (directory_->has(results::kCheckpointFile)) {
    const std::string bytes = directory_->read_file(results::kCheckpointFile, kMostBytesOfFile);
    try {
      simulation.restore(std::as_bytes(std::span(bytes)), [&](const std::string& text) {
        published = parse_published(text);
        check_cell(*directory_, constant_files_.at(results::kExperimentFile), *published);
        if (!published->unpublished.empty()) unpublished = round_from(published->unpublished);
      });
    } catch (const Error& error) {
      const std::string& place = error.complaint().place.file;
      // Another file that the checkpoint needs is named by its path; what stands in the checkpoint is not.
      if (!place.empty() && place != results::kCheckpointFile) throw;
      throw Error::in(directory_->path() / results::kCheckpointFile, error.complaint().found,
                      {.allowed = error.complaint().allowed,
                       .remedy = "Remove the run directory to run this cell again from the start."});
    }
  }
  if (!simulation.repeatable()) {
    charge_lost(simulation);
  } else if (summary_.privacy) {
    constexpr const char* kOther = "another build of fedarena or of the plugin";
    const std::int64_t next = simulation.rounds_done() + 1;
    if (directory_->summary().state == results::kFailed) {
      check_same_code(
          directory_->path(), environment_, summary_.algorithm,
          fmt::format("round {} failed under {}, and the failure may have told its answers", next, kOther));
    } else if (directory_->rounds_recorded() > simulation.rounds_done() || has_later_ledger(simulation)) {
      check_same_code(
          directory_->path(), environment_, summary_.algorithm,
          fmt::format("rounds from {} on were published by {}, and the checkpoint does not know them", next,
                      kOther));
    }
  }
  if (published) {
    chain_ = chain_of(directory_->rounds());
    check_published(*directory_, *published, chain_, summary_);
  } else {  // of a run that begins again, this process is the first
    own().write_file_atomically(results::kEnvironmentFile, results::json_text(environment_, 1) + "\n");
  }
  const std::int64_t dropped =
      std::max<std::int64_t>(0, directory_->rounds_recorded() - simulation.rounds_done());
  const bool lacks_last = unpublished && directory_->rounds_recorded() < simulation.rounds_done();
  own().truncate_rounds(simulation.rounds_done() - (lacks_last ? 1 : 0));
  if (unpublished) publish(*unpublished, simulation);
  if (const auto with_build = environment_with_build(directory_->path(), environment_, summary_.algorithm,
                                                     simulation.rounds_done() + 1))
    own().write_file_atomically(results::kEnvironmentFile, *with_build);
  write_summary(results::kRunning);
  ledger_is_ahead_ = has_later_ledger(simulation);
  if (ledger_is_ahead_ && simulation.repeatable()) lost_until_ = last_round_of_ledger();
  return dropped;
}

std::int64_t CellRecord::last_round_of_ledger() const {
  try {
    return results::read_ledger(directory_->path(), summary_.policy).last_round();
  } catch (const Error&) {  // it is written anew
    return 0;
  }
}

// It is written first of what a round leaves.
bool CellRecord::has_later_ledger(const Simulation& simulation) const {
  return directory_->has(results::kLedgerFile) &&
         directory_->read_file(results::kLedgerFile) != simulation.ledger().to_json();
}

void CellRecord::charge_lost(Simulation& simulation) const {
  const auto refuse = [&](const char* file, const char* what) {
    throw Error::in(directory_->path() / file,
                    fmt::format("is gone, and nothing else knows {} for rounds that a crash lost", what),
                    {.remedy = kRestoreFile});
  };
  const std::optional<std::int64_t> marked = read_charged_mark(directory_->path());
  if (simulation.rounds_done() > 0 && !marked) refuse(results::kChargedFile, "how much was charged");
  if (!directory_->has(results::kLedgerFile)) {
    if (!marked && directory_->rounds().empty()) return;  // nothing was answered
    refuse(results::kLedgerFile, "what was charged");
  }
  const Ledger ledger = results::read_ledger(directory_->path(), summary_.policy);
  if (marked) check_charged_mark(directory_->path(), ledger, *marked);
  try {
    simulation.charge_lost(ledger);
  } catch (const Error& error) {
    if (directory_->has(results::kCheckpointFile))
      throw Error::in(directory_->path() / results::kLedgerFile, error.complaint().found,
                      {.remedy = kRestoreFile});
    throw Error::in(directory_->path() / results::kCheckpointFile,
                    "is gone, and the ledger tells of rounds that were made before it",
                    {.remedy = kRestoreFile});
  }
}

void CellRecord::append(const results::RoundRecord& record, Simulation& simulation) {
  if (!simulation.repeatable()) {
    checkpoint(simulation, &record);
    publish(record, simulation);
    return;
  }
  if (simulation.ledger().unit() != Unit::kNothing) write_ledger(simulation);
  publish(record, simulation);
  if (Clock::now() >= due_) checkpoint(simulation);
}

void CellRecord::publish(const results::RoundRecord& record, const Simulation& simulation) {
  ledger_is_ahead_ = simulation.ledger().unit() != Unit::kNothing;
  const bool is_new = directory_->rounds_recorded() < record.round;
  // One that lies there is replaced only where the checkpoint has it, too, should this be cut off.
  const Batch& synthetic = simulation.synthetic();
  if (synthetic.inputs.defined() && (is_new || !simulation.repeatable())) {
    own().synthetic().write(record.round, {to_array(synthetic.inputs), to_array(synthetic.targets)});
  }
  if (!record.client_scores.empty()) own().write_client_scores({record.round, record.client_scores});
  if (is_new) {
    own().append(record);
  } else {
    own().replace_last(record);
  }
  chain_.resize(static_cast<std::size_t>(record.round));
  chain_.push_back(chained(chain_.back(), record));
  summary_.rounds_done = record.round;
  ledger_is_ahead_ = record.round < lost_until_;
}

void CellRecord::write_ledger(const Simulation& simulation) {
  ledger_is_ahead_ =
      simulation.rounds_done() > summary_.rounds_done || simulation.rounds_done() < lost_until_;
  if (simulation.rounds_done() < lost_until_) return;
  own().write_file_atomically(results::kLedgerFile, simulation.ledger().to_json());
  if (!simulation.repeatable()) write_charged_mark(own().path(), simulation.ledger());
}

// Not before the end: nothing about canaries may be read while their scores can still change.
void CellRecord::write_audit(const Canaries& canaries, std::vector<double> scores,
                             results::Summary& summary) {
  if (canaries.size() == 0) return;
  const results::CanaryScores audit{.kind = canaries.plan().kind,
                                    .guesses = guesses_,
                                    .control = canaries.plan().control,
                                    .scores = std::move(scores),
                                    .in = canaries.in()};
  own().write_file_atomically(results::kAuditFile, to_json_text(audit));
  summary.audit = results::audit_of(audit, *summary.privacy);
}

void CellRecord::checkpoint(Simulation& simulation, const results::RoundRecord* unpublished) {
  const auto start = Clock::now();
  write_ledger(simulation);
  const std::int64_t rounds = unpublished != nullptr ? unpublished->round - 1 : simulation.rounds_done();
  Published published =
      published_so_far(*directory_, constant_files_.at(results::kExperimentFile), rounds,
                       chain_.at(static_cast<std::size_t>(rounds)), summary_, synthetic_files_);
  if (unpublished != nullptr) published.unpublished = text_of(*unpublished);
  simulation.checkpoint(
      [&](const Bytes& bytes) {
        own().write_file_atomically(results::kCheckpointFile,
                                    {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      },
      to_json_text(published));
  write_summary(summary_.state);
  const auto end = Clock::now();
  due_ = end + std::max<Clock::duration>(kCheckpointInterval, kCheckpointShare * (end - start));
}

void CellRecord::interrupt(Simulation& simulation) {
  // Before the first round there is nothing to go on from, and nothing is charged that a checkpoint might
  // hold: labels are randomised by then.
  if (simulation.rounds_done() > 0) checkpoint(simulation);
  if (!ledger_is_ahead_) write_summary(results::kInterrupted);
}

void CellRecord::leave() {
  if (ledger_is_ahead_) return;  // by a round that is not recorded, as after a crash
  try {
    write_summary(results::kInterrupted);
  } catch (const Error&) {  // the disk is full, or another process has the cell
  }
}

void CellRecord::fail(const std::string& reason) {
  summary_.failure = reason;
  write_summary(results::kFailed);
}

void CellRecord::evaluate_last_round(Simulation& simulation) {
  results::RoundRecord last = directory_->rounds().back();
  if (last.test_loss) return;
  simulation.evaluate(last);
  checkpoint(simulation, &last);  // whose ledger now lists what personal models took
  publish(last, simulation);
  checkpoint(simulation);  // the same of any run with these bits: without the round, which holds times
}

void CellRecord::finish(Simulation& simulation, const std::string& stopped) {
  lost_until_ = 0;
  checkpoint(simulation);
  evaluate_last_round(simulation);  // planned as one in the middle when the budget ended the run
  std::vector<double> scores = simulation.canary_scores();  // the last that can be interrupted
  double client_rounds = 0;
  std::vector<results::EvaluatedRound> evaluated;
  const std::vector<results::RoundRecord> rounds = directory_->rounds();
  results::Summary summary = summary_;  // which a run that cannot be finished keeps
  summary.examples = 0;
  summary.cost = results::total_cost(rounds);
  for (const results::RoundRecord& record : rounds) {
    summary.examples += record.examples;
    summary.uplink_bytes += record.uplink_bytes;
    summary.downlink_bytes += record.downlink_bytes;
    summary.seconds += record.train_seconds + record.evaluation_seconds;
    client_rounds += static_cast<double>(record.clients);
    summary.final_test_accuracy = record.test_accuracy;
    summary.final_test_loss = record.test_loss;
    if (record.per_client) evaluated.push_back({record.round, *record.per_client});
    if (record.client_errors) summary.client_errors = record.client_errors;
    if (record.per_client || record.client_errors) summary.personal = record.personal;
  }
  if (!evaluated.empty()) {
    summary.per_client = evaluated.back().clients;
    summary.best_round = results::best_over_rounds(evaluated);
  }
  results::compute_claim(summary, simulation.ledger());
  if (summary.privacy) summary.privacy->spent_clients = std::ssize(simulation.spent());
  write_audit(simulation.canaries(), std::move(scores), summary);
  if (!simulation.finished()) {
    if (stopped.empty()) {
      summary.privacy->stopped = results::kStoppedByBudget;
    } else {
      summary.stopped = stopped;
    }
  }
  const bool secret = is_secret(results::DrawnSizes::kCohorts, summary.privacy);
  const auto mean_of_member = [&](std::int64_t results::Summary::*total,
                                  std::int64_t results::RoundRecord::*bytes) {
    const double mean = client_rounds == 0 ? 0 : static_cast<double>(summary.*total) / client_rounds;
    const bool differ = std::ranges::any_of(rounds, [&](const results::RoundRecord& round) {
      return static_cast<double>(round.*bytes) != mean * static_cast<double>(round.clients);
    });
    return secret && differ ? 0 : mean;
  };
  summary.uplink_bytes_per_client_round =
      mean_of_member(&results::Summary::uplink_bytes, &results::RoundRecord::uplink_bytes);
  summary.downlink_bytes_per_client_round =
      mean_of_member(&results::Summary::downlink_bytes, &results::RoundRecord::downlink_bytes);
  // Rounds without anybody would hide that theirs are of another length, and a number tell that there were
  // some.
  const auto declared = secret ? static_cast<double>(simulation.declared_uplink_bytes().value_or(0)) : 0;
  if (secret && client_rounds == 0) {
    summary.uplink_bytes_per_client_round = declared;
    summary.downlink_bytes_per_client_round = static_cast<double>(simulation.next_downlink().size());
  } else if (secret && summary.uplink_bytes_per_client_round != declared) {
    summary.uplink_bytes_per_client_round = 0;
  }
  restore_constant_files();  // or the seal would list what somebody left of them
  write_summary(results::kFinished, std::move(summary));
  std::error_code ignored;  // mostly there is none; it may take gigabytes, and a finished run is only read
  fs::remove(directory_->path() / results::kClientStatesFile, ignored);
  fs::remove(directory_->path() / results::kChargedFile, ignored);
}

void CellRecord::restore_constant_files() {
  for (const auto& [name, text] : constant_files_) {
    if (!directory_->has(name) || directory_->read_file(name) != text)
      own().write_file_atomically(name, text);
  }
}

void CellRecord::write_summary(std::string_view state) { write_summary(state, summary_); }

void CellRecord::write_summary(std::string_view state, results::Summary summary) {
  summary.state = state;
  if (state != results::kFailed) summary.failure.clear();
  summary.rounds_done = directory_->rounds_recorded();
  own().write_summary(summary);
  summary_ = std::move(summary);
}

}  // namespace fedarena
