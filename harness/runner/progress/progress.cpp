#include "harness/runner/progress/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

std::string score_text(const std::optional<double>& accuracy, const std::optional<double>& loss) {
  // Its model still has an accuracy.
  if (loss && !std::isfinite(*loss))
    return fmt::format("loss {}: diverged", std::isnan(*loss) ? std::abs(*loss) : *loss);
  if (accuracy) return fmt::format("accuracy {:.2f} %", 100 * *accuracy);
  if (loss) return fmt::format("loss {:.4g}", *loss);
  return {};
}

}  // namespace

Progress::Progress(std::FILE* output, const Work& work) : line_(output), work_(work) {}

void Progress::begin_cell(const std::string& name, std::int64_t done, std::int64_t rounds) {
  const std::lock_guard lock(mutex_);
  if (begun_ == Clock::time_point()) begun_ = Clock::now();
  at_work_[name] = {.round = done, .rounds = rounds};
  rounds_found_ += done;
  draw();
}

void Progress::client_done(const std::string& name, std::int64_t done, std::int64_t clients) {
  const std::lock_guard lock(mutex_);
  Cell& cell = at_work_[name];
  cell.clients_done = std::max(cell.clients_done, done);  // threads may report out of order
  cell.clients = clients;
  draw();
}

void Progress::round_done(const std::string& name, const results::RoundRecord& record) {
  const std::lock_guard lock(mutex_);
  Cell& cell = at_work_[name];
  cell.round = record.round;
  cell.clients_done = 0;
  if (std::string text = score_text(record.test_accuracy, record.test_loss); !text.empty()) {
    cell.score = std::move(text);
  }
  ++rounds_run_;
  examples_ += record.examples;
  train_seconds_ += record.train_seconds;
  last_round_ = Clock::now();
  draw();
}

void Progress::end_cell(const std::string& name, const results::Summary& summary, std::string_view before) {
  const std::lock_guard lock(mutex_);
  ++cells_done_;
  at_work_.erase(name);
  // What a budget left undone will not be run either.
  rounds_found_ += before.empty() ? summary.rounds - summary.rounds_done : summary.rounds;
  // A line may end in a log that is passed on: it tells no more than a table does.
  const bool tells_seconds = !results::is_secret(results::DrawnSizes::kBatches, summary.privacy);
  line_.say(fmt::format("[{}/{}] {}: {}, test {}{}{}", cells_done_, work_.cells, name,
                        counted(summary.rounds_done, "round"),
                        score_text(summary.final_test_accuracy, summary.final_test_loss),
                        tells_seconds ? ", " + results::duration_text(summary.seconds) : "",
                        before.empty() ? "" : fmt::format(" ({})", before)));
}

void Progress::leave_out(const std::string& name, std::int64_t rounds) {
  const std::lock_guard lock(mutex_);
  ++cells_done_;
  const auto cell = at_work_.find(name);
  rounds_found_ += cell == at_work_.end() ? rounds : cell->second.rounds - cell->second.round;
  at_work_.erase(name);
}

void Progress::say(const std::string& line) {
  const std::lock_guard lock(mutex_);
  line_.say(line);
}

std::string Progress::time_left() const {
  if (rounds_run_ == 0) return "time left unknown";
  const std::int64_t left = work_.rounds - rounds_found_ - rounds_run_;
  const auto seconds = [this](Clock::time_point until) {
    return std::chrono::duration<double>(until - begun_).count();
  };
  // A round that takes longer than those before it counts as if it ended now.
  const auto rounds = static_cast<double>(rounds_run_);
  const double a_round = std::max(seconds(last_round_) / rounds, seconds(Clock::now()) / (rounds + 1));
  return fmt::format("about {} left{}", results::duration_text(a_round * static_cast<double>(left)),
                     work_.may_end_early ? " or sooner" : "");
}

void Progress::draw() {
  line_.draw([this](std::size_t room) { return line_within(room); });
}

std::string Progress::round_text(const std::string& name, const Cell& cell) {
  // The round in progress, except right after one ended.
  const std::int64_t round = cell.clients_done > 0 || cell.round == 0 ? cell.round + 1 : cell.round;
  return fmt::format("{}: round {}/{}", name, round, cell.rounds);
}

// What is told, the most important first.
std::vector<std::string> Progress::parts() const {
  std::vector<std::string> texts;
  const auto part = [&](bool known, const std::string& text) {
    if (known) texts.push_back(", " + text);
  };
  const std::string speed =
      fmt::format("{:.0f} examples/s", static_cast<double>(examples_) *
                                           static_cast<double>(std::max<std::size_t>(1, at_work_.size())) /
                                           train_seconds_);
  const bool shows_speed = train_seconds_ > 0 && !work_.hides_sizes;
  if (at_work_.size() != 1) {
    texts.push_back(fmt::format("[{}/{}] {} cells at work", cells_done_, work_.cells, at_work_.size()));
    part(true, time_left());
    part(shows_speed, speed);
    for (const auto& [name, cell] : at_work_) texts.push_back("; " + round_text(name, cell));
    return texts;
  }
  const auto& [name, cell] = *at_work_.begin();
  texts.push_back(fmt::format("[{}/{}] {}", cells_done_ + 1, work_.cells, name));
  texts.push_back(round_text("", cell));
  part(true, time_left());
  part(shows_speed, speed);
  part(!cell.score.empty(), cell.score);
  // The server may take longer than the clients did, and the line must not seem stuck at the last of them.
  const bool all_done = cell.clients_done == cell.clients;
  part(cell.clients_done > 0, all_done ? "server at work"
                              : work_.hides_sizes
                                  ? "clients at work"
                                  : fmt::format("client {}/{}", cell.clients_done, cell.clients));
  return texts;
}

std::string Progress::line_within(std::size_t room) const {
  const std::vector<std::string> texts = parts();
  std::string line;
  for (const std::string& text : texts) {
    if (line.size() + text.size() <= room) line += text;
  }
  return line.empty() ? std::string(beginning(texts.front(), room)) : line;
}

}  // namespace fedarena
