#include "harness/runner/progress/progress_line.hpp"

#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

RunAnswers::RunAnswers(std::FILE* messages, std::vector<std::string> names)
    : line_(messages), names_(std::move(names)) {}

void RunAnswers::tell(std::size_t run, const std::string& what) {
  const std::lock_guard lock(mutex_);
  at_work_[run] = what;
  line_.draw([this](std::size_t room) { return line_within(room); });
}

void RunAnswers::give(std::size_t run, Answer answer) {
  const std::lock_guard lock(mutex_);
  at_work_.erase(run);
  ++ended_;
  waiting_.emplace(run, std::move(answer));
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
       first = waiting_.erase(first), ++next_) {
    line_.clear();
    first->second();
  }
}

void RunAnswers::give_rest() {
  const std::lock_guard lock(mutex_);
  line_.clear();
  for (const auto& [run, answer] : std::exchange(waiting_, {})) answer();
}

// How many have ended, as Progress has it; of a single one at work which one it is.
std::string RunAnswers::line_within(std::size_t room) const {
  std::vector<std::string> parts;
  for (const auto& [run, what] : at_work_) parts.push_back(fmt::format("{}: {}", names_[run], what));
  const std::string line = parts.size() == 1
                               ? fmt::format("[{}/{}] {}", ended_ + 1, names_.size(), parts.front())
                               : fmt::format("[{}/{}] {} runs at work; {}", ended_, names_.size(),
                                             parts.size(), fmt::join(parts, "; "));
  return std::string(beginning(line, room));
}

}  // namespace fedarena
