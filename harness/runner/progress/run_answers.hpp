#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "harness/runner/progress/progress_line.hpp"

namespace fedarena {

/// What a command says of many runs that are worked on at once: on the way one progress line with those at
/// work, and an answer about each in the order of the runs, whichever ends first. Safe to call from several
/// threads.
class RunAnswers {
 public:
  /// Says something, for good.
  using Answer = std::function<void()>;

  /// `names`, one a run, are what the progress line calls them; `messages` gets that line.
  RunAnswers(std::FILE* messages, std::vector<std::string> names);

  /// How far the work on a run is. From the first call on until its answer, the run counts as at work.
  void tell(std::size_t run, const std::string& what);
  /// Ends the work on a run. Its answer is called once, when all runs before it have theirs: now or, by the
  /// thread that gives the last of those, later. No two answers are called at once, and no progress line is
  /// in their way.
  void give(std::size_t run, Answer answer);
  /// Calls the answers that still wait for runs before them, in order: those runs get none any more.
  void give_rest();

 private:
  std::string line_within(std::size_t room) const;

  std::mutex mutex_;
  ProgressLine line_;
  std::vector<std::string> names_;
  std::map<std::size_t, std::string> at_work_;  // and what is told of each
  std::map<std::size_t, Answer> waiting_;
  std::size_t ended_ = 0, next_ = 0;  // next_: the first run without an answer
};

}  // namespace fedarena
