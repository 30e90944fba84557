#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "tests/results/samples.hpp"

namespace fedarena::results {

/// What tests change of a run and of its rounds.
struct RunChanges {
  std::function<void(Summary&)> summary = [](Summary&) {};
  std::function<void(RoundRecord&)> round = [](RoundRecord&) {};
};

/// Writes a finished run without privacy whose records agree with each other: accuracy grows to `accuracy`,
/// every third round is not tested, bytes vary from round to round. Returns `path`.
inline std::filesystem::path write_run(const std::filesystem::path& path, const std::string& label,
                                       std::int64_t seed, double accuracy, const RunChanges& changes = {},
                                       std::int64_t rounds = 8) {
  Summary summary = finished(label, seed, accuracy);
  summary.rounds = summary.rounds_done = rounds;
  changes.summary(summary);
  RunDirectory run = RunDirectory::create(
      path, fmt::format("[experiment]\nname = \"quickstart\"\nseeds = [{}]\n", seed),
      R"({"cores": 2, "processor": "abacus", "plugins": [{"name": "fedavg", "version": "1.0.0"}]})", summary);
  for (std::int64_t i = 1; i <= rounds; ++i) {
    RoundRecord round = round_record(i);
    const double part = static_cast<double>(i) / static_cast<double>(rounds);
    round.test_accuracy = accuracy * part;
    round.test_loss = 2 - part;
    if (i % 3 == 0) round.test_accuracy = round.test_loss = std::nullopt;
    round.uplink_bytes += 1000 * ((seed + i) % 4);
    round.cost = Cost{.gradients = 700 * i, .operations = 1'000'000 * i};
    changes.round(round);
    if (i == rounds) {
      round.test_accuracy = summary.final_test_accuracy;
      round.test_loss = summary.final_test_loss;
    }
    run.append(round);
  }
  return path;
}

}  // namespace fedarena::results
