#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace fedarena {

/// Hands out cells to whoever has time, no more at once than fit into memory. Safe to call from several
/// threads.
class CellQueue {
 public:
  /// `needs`: bytes of each cell; `budget`: bytes of all that run at once.
  CellQueue(std::vector<std::int64_t> needs, std::int64_t budget);

  /// The first waiting cell that fits beside those that run; one that never fits, when it is the first and
  /// nothing else runs. Waits while none fits; nothing when none is left, or the queue is closed.
  std::optional<std::size_t> take();
  /// The cell ended, whatever came of it.
  void give_back(std::size_t cell);
  /// No cell is handed out any more.
  void close();

 private:
  std::optional<std::size_t> next();

  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::int64_t> needs_;
  std::vector<std::size_t> waiting_;  // last first
  std::int64_t budget_, in_use_ = 0;
  std::size_t running_ = 0;
  bool closed_ = false;
};

}  // namespace fedarena
