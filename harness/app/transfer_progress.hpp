#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace fedarena {

/// Tells a person how far a file's transfer is: one line that rewrites itself on a terminal, plain lines now
/// and then elsewhere.
class TransferProgress {
 public:
  explicit TransferProgress(std::FILE* output);
  ~TransferProgress();
  TransferProgress(const TransferProgress&) = delete;
  TransferProgress& operator=(const TransferProgress&) = delete;

  /// `done` bytes of the file are there, of `whole` (0: unknown).
  void update(const std::string& name, std::int64_t done, std::int64_t whole);
  /// Takes the line away, to make room for another.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* output_;
  bool terminal_;
  Clock::time_point drawn_;
  bool line_open_ = false;
};

}  // namespace fedarena
