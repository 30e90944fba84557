#include "results/live/live_cell.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fedarena::results {
namespace {

Work work_of(const Summary& summary, std::optional<bool> held) {
  if (summary.state == kFinished) return Work::kFinished;
  const bool running = summary.state == kRunning;
  if (held.value_or(running)) return Work::kRunning;
  return running ? Work::kLeft : Work::kInterrupted;
}

std::string name_of(const Summary& summary) {
  const std::string setting = sweep_text(summary.sweep);
  return fmt::format("{}{}{}, seed {}", setting, setting.empty() ? "" : ", ", summary.label, summary.seed);
}

// The time that the rounds left will take, less what the one at work has taken, at most a round.
double time_left(double round_seconds, std::int64_t rounds, double since_written) {
  const double begun = std::clamp(since_written, 0.0, round_seconds);
  return std::max(0.0, round_seconds * static_cast<double>(rounds) - begun);
}

}  // namespace

LiveCell live_cell(const std::filesystem::path& path, const Summary& summary,
                   std::span<const RoundRecord> rounds, std::optional<bool> held, double since_written) {
  LiveCell cell{.path = path,
                .work = work_of(summary, held),
                .experiment = summary.experiment,
                .name = name_of(summary),
                .done = static_cast<std::int64_t>(rounds.size()),
                .rounds = summary.rounds,
                .is_private = summary.privacy.has_value()};
  const bool regression =
      std::ranges::none_of(rounds, [](const RoundRecord& round) { return round.test_accuracy.has_value(); });
  double seconds = 0;
  for (const RoundRecord& round : rounds) {
    seconds += round.train_seconds + round.evaluation_seconds;
    if (!round.test_loss) continue;
    cell.accuracy = round.test_accuracy;
    cell.loss = round.test_loss;
    if (regression) cell.curve.push_back(*round.test_loss);
    if (round.test_accuracy) cell.curve.push_back(*round.test_accuracy);
  }
  if (rounds.empty()) return cell;
  cell.epsilon = rounds.back().epsilon;
  cell.round_seconds = seconds / static_cast<double>(rounds.size());
  if (cell.work != Work::kFinished) cell.since_written = since_written;
  if (cell.work == Work::kRunning) {
    cell.seconds_left = time_left(*cell.round_seconds, cell.rounds - cell.done, since_written);
  }
  return cell;
}

}  // namespace fedarena::results
