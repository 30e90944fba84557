#include "harness/slurm/queue.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/child_program.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena::slurm {

namespace {

constexpr std::chrono::seconds kLongestAnswer{20};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 10 &&
         std::ranges::all_of(text, [](char letter) { return '0' <= letter && letter <= '9'; });
}

}  // namespace

std::string Task::text() const {
  if (!node.empty()) return fmt::format("{} on {}", id, node);
  return reason.empty() ? id : fmt::format("{}: {}", id, reason);
}

bool is_job_id(std::string_view text) {
  const std::size_t line = text.find('_');
  if (line == std::string_view::npos) return is_number(text);
  return is_number(text.substr(0, line)) && is_number(text.substr(line + 1));
}

std::vector<Task> parse_queue(std::string_view text) {
  std::vector<Task> tasks;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Task task;
    std::getline(fields, task.id, '|');
    std::getline(fields, task.state, '|');
    std::getline(fields, task.node, '|');
    std::getline(fields, task.reason);
    if (task.reason == "None") task.reason.clear();  // not looked at yet, or there is none
    if (is_job_id(task.id) && !task.state.empty()) tasks.push_back(std::move(task));
  }
  return tasks;
}

std::optional<std::vector<Task>> ask_queue(const std::vector<std::string>& jobs) {
  if (jobs.empty()) return std::vector<Task>{};
  // The user's own settings of squeue (SQUEUE_STATES and others) would hide tasks.
  const auto answer = call_program({"squeue", "--noheader", "--array", "--format=%i|%T|%N|%r",
                                    fmt::format("--jobs={}", fmt::join(jobs, ","))},
                                   {.without = "SQUEUE_", .limit = kLongestAnswer});
  if (!answer) return std::nullopt;
  if (answer->exit_code == 0) return parse_queue(answer->out);
  // Of one job alone that ended long ago.
  if (answer->err.find("Invalid job id") != std::string::npos) return std::vector<Task>{};
  return std::nullopt;
}

std::optional<std::size_t> most_tasks() {
  const auto answer = call_program({"scontrol", "show", "config"}, {.limit = kLongestAnswer});
  if (!answer || answer->exit_code != 0) return std::nullopt;
  std::istringstream lines(answer->out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("MaxArraySize ")) return parse_number<std::size_t>(line.substr(line.rfind(' ') + 1));
  }
  return std::nullopt;
}

}  // namespace fedarena::slurm
