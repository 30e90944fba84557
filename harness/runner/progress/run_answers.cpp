#include "harness/runner/progress/run_answers.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fedarena {

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
