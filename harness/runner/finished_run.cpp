#include "harness/runner/finished_run.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/config/syntax/document.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/audit/ledger_findings.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

void check_same(const fs::path& run, const std::string& what, const std::string& recorded,
                const std::string& now) {
  if (recorded == now) return;
  throw Error::in(
      run, fmt::format("the {} of the run are not those that are there now", what),
      {.remedy =
           "Bring back the files that it ran on, or run it again; `fedarena verify --data` compares them."});
}

// A run that its data ended is charged for its rounds to come as well; nobody took part in those.
std::set<std::int64_t> participants(const Ledger& ledger) {
  std::set<std::int64_t> clients;
  for (const auto& [client, record] : ledger.clients()) {
    const bool took_part = std::ranges::any_of(record.segments, [&](const Ledger::Segment& segment) {
      return segment.participations > 0 &&
             (ledger.ended_after() == 0 || segment.first_round <= ledger.ended_after());
    });
    if (took_part) clients.insert(client);
  }
  return clients;
}

}  // namespace

Checkpoint read_checkpoint(const results::RunDirectory& run, const Model& model) {
  if (!run.has(results::kCheckpointFile)) {
    if (run.summary().rounds_done == 0)
      throw Error::in(run.path(), "the run has no checkpoint yet, and so no model",
                      {.remedy = "Let it go on, or run the experiment with --resume: checkpoints come every "
                                 "half a minute, and where a run is stopped."});
    throw Error::in(run.path(),
                    fmt::format("the run has no {}, which holds its model", results::kCheckpointFile),
                    {.remedy = "Restore the file, or remove the run directory and run the cell again."});
  }
  const std::string bytes = run.read_file(results::kCheckpointFile, kMostBytesOfFile);
  try {
    return unpack_checkpoint(std::as_bytes(std::span(bytes)), model);
  } catch (const Error& error) {
    throw Error::in(run.path() / results::kCheckpointFile, error.complaint().found,
                    {.remedy = "Restore the file, or remove the run directory and run the cell again."});
  }
}

FinishedRun::FinishedRun(fs::path path, const Catalog& catalog, SharedInputs& inputs,
                         const std::string& device)
    : path_(std::move(path)) {
  const auto run = results::RunDirectory::open(path_);
  summary_ = run.summary();
  if (summary_.state != results::kFinished) {
    throw Error::in(
        path_, fmt::format("the run is {}, not finished", summary_.state),
        {.remedy =
             summary_.state == results::kFailed
                 ? "`fedarena list` says why it failed; mend that, and run the experiment with --resume."
                 : "Finish it by `fedarena run ... --resume` first."});
  }
  std::vector<std::string> overrides;
  if (!device.empty()) overrides.push_back("experiment.device=" + device);
  cell_ = recorded_cell(config::read_document(path_ / results::kExperimentFile), catalog, overrides);
  dataset_ = &inputs.dataset(experiment());
  check_same(path_, "data", summary_.data_hash, inputs.data_hash(experiment()));
  dealt_ = inputs.dealt(experiment(), summary_.seed);
  check_same(path_, "clients' shares of the data", summary_.partition_hash,
             dealt_->card.statistics.index_hash);
  model_ = &inputs.model(experiment());
  features_ = feature_skew(experiment().partition.name, experiment().partition.settings);
  params_ = read_checkpoint(run, *model_).params;
  took_part_ = participants(results::read_ledger(path_));
}

InputSkew FinishedRun::skew_of(std::int64_t client, std::int64_t first) const {
  return input_skew(features_, static_cast<std::uint64_t>(summary_.seed), client,
                    static_cast<std::int64_t>(dealt_->partition.size()), first);
}

}  // namespace fedarena
