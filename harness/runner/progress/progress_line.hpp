#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>

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

}  // namespace fedarena
