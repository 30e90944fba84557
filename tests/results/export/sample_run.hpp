#pragma once

#include "results/export/exported_runs.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {

/// A finished run of two rounds without privacy, of which the first was not evaluated.
inline ExportedRun sample_run(const std::string& label = "fedavg") {
  ExportedRun run{
      .name = label + "-seed-1", .settings = {}, .summary = finished(label, 1, 0.75), .rounds = {}};
  run.summary.rounds = run.summary.rounds_done = 2;
  run.rounds = {round_record(1), round_record(2)};
  run.rounds[0].test_accuracy = run.rounds[0].test_loss = std::nullopt;
  return run;
}

/// The same under the policy "record".
inline ExportedRun private_run() {
  ExportedRun run = sample_run("dp-fedavg");
  run.summary = finished_privately("dp-fedavg", 1, 0.75);
  run.summary.rounds = run.summary.rounds_done = 2;
  run.rounds[0].epsilon = 1.5;
  run.rounds[1].epsilon = 2.78664;
  return run;
}

}  // namespace fedarena::results
