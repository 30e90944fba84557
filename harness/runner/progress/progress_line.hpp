#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace fedarena {

/// How far long work is: one line that rewrites itself on a terminal, plain lines now and then elsewhere.
/// For one thread at a time.
class ProgressLine {
 public:
  /// Makes the line, with at most so many characters.
  using Text = std::function<std::string(std::size_t room)>;

  explicit ProgressLine(std::FILE* output);
  /// Takes the line away.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows the text if it is time to. A terminal that shows no line gets one at once, so that something is
  /// seen to happen.
  void draw(const Text& text);
  /// Takes the line away, to make room for others.
  void clear();
  /// A plain line, above the one that rewrites itself.
  void say(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* output_;
  bool terminal_;
  Clock::time_point drawn_;
  bool open_ = false;
};

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
