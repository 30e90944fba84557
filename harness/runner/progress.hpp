#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

#include "results/record.hpp"

namespace fedarena {

/// Tells a person how a run goes: one line that rewrites itself on a terminal, plain lines now and then
/// elsewhere. Safe to call from several threads.
class Progress {
 public:
  /// `cells` x `rounds` are to be done in all; `output` is the terminal or file to write to.
  Progress(std::FILE* output, std::int64_t cells, std::int64_t rounds);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A cell begins, with `done` of its rounds there already. `name` says which, such as "fedavg, seed 1".
  void begin_cell(const std::string& name, std::int64_t done);
  /// A client of the round in progress finished.
  void client_done(std::int64_t done, std::int64_t clients);
  void round_done(const results::RoundRecord& record);
  /// A cell ended; `ran` false: it was found finished.
  void end_cell(const results::Summary& summary, bool ran);
  /// A plain line, above the progress line.
  void say(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(bool force);
  // The progress line; on a terminal of so many columns without what finds no room (0: there is room for
  // all).
  std::string line_within(std::size_t columns) const;
  void clear();
  std::string time_left() const;

  std::FILE* output_;
  bool terminal_;
  std::mutex mutex_;
  std::int64_t cells_, rounds_;
  std::int64_t cells_done_ = 0;
  std::string name_;
  std::int64_t round_ = 0;
  std::int64_t clients_done_ = 0, clients_ = 0;
  std::int64_t rounds_run_ = 0, rounds_found_ = 0;
  std::int64_t examples_ = 0;
  double seconds_ = 0, train_seconds_ = 0;
  std::string score_;
  Clock::time_point drawn_;
  bool line_open_ = false;
};

}  // namespace fedarena
