#include "harness/runner/progress.hpp"

#include <unistd.h>

#include <cmath>

#include <fmt/format.h>

namespace fedarena {
namespace {

// A terminal line is redrawn at most this often; elsewhere a line an interval is enough to see that it lives.
constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::seconds kPlainInterval{10};

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string accuracy_text(const results::RoundRecord& record) {
  if (record.test_accuracy) return fmt::format("test accuracy {:.2f} %", 100 * *record.test_accuracy);
  if (record.test_loss) return fmt::format("test loss {:.4g}", *record.test_loss);
  return {};
}

}  // namespace

Progress::Progress(std::FILE* output, std::int64_t cells, std::int64_t rounds)
    : output_(output), terminal_(isatty(fileno(output)) != 0), cells_(cells), rounds_(rounds), drawn_(Clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::begin_cell(const std::string& name, std::int64_t done) {
  const std::lock_guard lock(mutex_);
  name_ = name;
  round_ = done;
  rounds_found_ += done;
  clients_done_ = 0;
  accuracy_.clear();
  draw(true);
}

void Progress::client_done(std::int64_t done, std::int64_t clients) {
  const std::lock_guard lock(mutex_);
  clients_done_ = done;
  clients_ = clients;
  if (terminal_) draw(false);
}

void Progress::round_done(const results::RoundRecord& record) {
  const std::lock_guard lock(mutex_);
  round_ = record.round;
  ++rounds_run_;
  examples_ += record.examples;
  seconds_ += record.train_seconds + record.evaluation_seconds;
  clients_done_ = 0;
  if (std::string text = accuracy_text(record); !text.empty()) accuracy_ = std::move(text);
  draw(false);
}

void Progress::end_cell(const results::Summary& summary, bool ran) {
  const std::lock_guard lock(mutex_);
  ++cells_done_;
  if (!ran) rounds_found_ += summary.rounds;
  clear();
  const std::string accuracy =
      summary.final_test_accuracy ? fmt::format("test accuracy {:.2f} %", 100 * *summary.final_test_accuracy) : "";
  fmt::print(output_, "[{}/{}] {}, seed {}: {} rounds, {}, {}{}\n", cells_done_, cells_, summary.label, summary.seed,
             summary.rounds_done, accuracy, duration_text(summary.seconds), ran ? "" : " (finished before)");
  std::fflush(output_);
}

void Progress::say(const std::string& line) {
  const std::lock_guard lock(mutex_);
  clear();
  fmt::print(output_, "{}\n", line);
  std::fflush(output_);
}

std::string Progress::time_left() const {
  if (rounds_run_ == 0) return "time left unknown";
  const std::int64_t left = cells_ * rounds_ - rounds_found_ - rounds_run_;
  return duration_text(seconds_ / static_cast<double>(rounds_run_) * static_cast<double>(left)) + " left";
}

void Progress::draw(bool force) {
  const auto now = Clock::now();
  const auto interval = terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainInterval);
  if (now - drawn_ < interval && !(force && terminal_)) return;
  drawn_ = now;
  std::string line = fmt::format("[{}/{}] {}: round {}/{}", cells_done_ + 1, cells_, name_, round_, rounds_);
  if (clients_done_ > 0) line += fmt::format(", client {}/{}", clients_done_, clients_);
  if (seconds_ > 0) line += fmt::format(", {:.0f} examples/s", static_cast<double>(examples_) / seconds_);
  if (!accuracy_.empty()) line += ", " + accuracy_;
  line += ", " + time_left();
  if (terminal_) {
    fmt::print(output_, "\r\033[K{}", line);
    line_open_ = true;
  } else {
    fmt::print(output_, "{}\n", line);
  }
  std::fflush(output_);
}

void Progress::clear() {
  if (line_open_) fmt::print(output_, "\r\033[K");
  line_open_ = false;
}

}  // namespace fedarena
