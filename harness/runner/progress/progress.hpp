#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/runner/progress/progress_line.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// Tells a person how a run goes: one line that rewrites itself on a terminal, plain lines now and then
/// elsewhere. Safe to call from several threads.
class Progress {
 public:
  /// What is to be done in all.
  struct Work {
    std::int64_t cells = 0, rounds = 0;
    /// Whether a budget or a rule may end a cell before its last round; the time left may be less then.
    bool may_end_early = false;
    /// Whether sizes of cohorts and samples are secret, as under a policy they may be: a log may be read by
    /// others.
    bool hides_sizes = false;
  };
  /// `output` is the terminal or file to write to.
  Progress(std::FILE* output, const Work& work);

  /// A cell of so many rounds begins, with `done` of them there already. `name` says which, such as "fedavg,
  /// seed 1", and is what the cell goes by from here on. Several may be at work.
  void begin_cell(const std::string& name, std::int64_t done, std::int64_t rounds);
  /// A client of the cell's round in progress finished.
  void client_done(const std::string& name, std::int64_t done, std::int64_t clients);
  void round_done(const std::string& name, const results::RoundRecord& record);
  /// A cell ended; `before`: how it was found finished, or empty.
  void end_cell(const std::string& name, const results::Summary& summary, std::string_view before);
  /// A cell of so many rounds failed, also before it began; its rounds that are missing are not to be done.
  void leave_out(const std::string& name, std::int64_t rounds);
  /// A plain line, above the progress line.
  void say(const std::string& line);

 private:
  void draw();
  // The progress line, without what finds no room.
  std::string line_within(std::size_t room) const;
  std::string time_left() const;

  // A cell at work.
  struct Cell {
    std::int64_t round = 0, rounds = 0;
    std::int64_t clients_done = 0, clients = 0;
    std::string score = {};
  };
  static std::string round_text(const std::string& name, const Cell& cell);
  std::vector<std::string> parts() const;

  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  ProgressLine line_;
  Work work_;
  std::int64_t cells_done_ = 0;
  std::map<std::string, Cell> at_work_;
  std::int64_t rounds_run_ = 0, rounds_found_ = 0;
  std::int64_t examples_ = 0;
  double train_seconds_ = 0;
  Clock::time_point begun_, last_round_;
};

}  // namespace fedarena
