#include "harness/app/transfer_progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "results/number_format.hpp"

namespace fedarena {
namespace {

// As in runs: often enough for an eye, seldom enough for a log.
constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::seconds kPlainInterval{10};

std::string line_of(const std::string& name, std::int64_t done, std::int64_t whole) {
  const std::string amount = results::human_bytes(static_cast<double>(done));
  if (whole == 0) return fmt::format("{}: {}", name, amount);
  return fmt::format("{}: {} of {}, {:.0f} %", name, amount, results::human_bytes(static_cast<double>(whole)),
                     100 * static_cast<double>(done) / static_cast<double>(whole));
}

// A line that wraps could not be rewritten.
std::string cut_to_terminal(const std::string& line, std::FILE* terminal) {
  winsize size{};
  const bool known = ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? line.substr(0, size.ws_col - 1U) : line;
}

}  // namespace

TransferProgress::TransferProgress(std::FILE* output)
    : output_(output), terminal_(isatty(fileno(output)) != 0), drawn_(Clock::now()) {}

TransferProgress::~TransferProgress() { clear(); }

void TransferProgress::update(const std::string& name, std::int64_t done, std::int64_t whole) {
  const auto now = Clock::now();
  const auto interval = terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainInterval);
  // The first line on a terminal comes at once: something is seen to happen.
  if (now - drawn_ < interval && (!terminal_ || line_open_)) return;
  drawn_ = now;
  const std::string line = line_of(name, done, whole);
  if (terminal_) {
    fmt::print(output_, "\r\033[K{}", cut_to_terminal(line, output_));
    line_open_ = true;
  } else {
    fmt::print(output_, "{}\n", line);
  }
  std::fflush(output_);
}

void TransferProgress::clear() {
  if (!line_open_) return;
  fmt::print(output_, "\r\033[K");
  std::fflush(output_);
  line_open_ = false;
}

}  // namespace fedarena
