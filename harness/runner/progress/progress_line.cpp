#include "harness/runner/progress/progress_line.hpp"

#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fedarena/base/print.hpp"

namespace fedarena {
namespace {

// Often enough for an eye, seldom enough for a log.
constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::seconds kPlainInterval{10};

constexpr auto kEndless = std::numeric_limits<std::size_t>::max();

// A line that wraps could not be rewritten.
std::size_t room_on(std::FILE* terminal) {
  winsize size{};
  const bool known = ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col - 1U : kEndless;
}

}  // namespace

ProgressLine::ProgressLine(std::FILE* output)
    : output_(output), terminal_(isatty(fileno(output)) != 0), drawn_(Clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::draw(const Text& text) {
  const auto now = Clock::now();
  const auto interval = terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainInterval);
  const bool first = terminal_ && !open_;
  if (now - drawn_ < interval && !first) return;
  drawn_ = now;
  if (terminal_) {
    std::fputs(("\r\033[K" + one_line(text(room_on(output_)))).c_str(), output_);
    open_ = true;
  } else {
    print(output_, "{}\n", text(kEndless));
  }
  std::fflush(output_);
}

void ProgressLine::clear() {
  if (!open_) return;
  std::fputs("\r\033[K", output_);
  std::fflush(output_);
  open_ = false;
}

void ProgressLine::say(const std::string& line) {
  clear();
  print(output_, "{}\n", line);
  std::fflush(output_);
}

}  // namespace fedarena
