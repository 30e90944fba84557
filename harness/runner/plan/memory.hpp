#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include "fedarena/base/pool.hpp"
#include "fedarena/model.hpp"

#include "harness/config/sections/experiment.hpp"

namespace fedarena {

/// What the memory of a cell depends on.
struct CellSize {
  std::int64_t parameters = 0;   ///< of the model
  std::int64_t activations = 0;  ///< of an example
  std::int64_t micro_batch = 1;
  std::int64_t cohort = 1;
  std::int64_t number_bytes = 4;  ///< of the model's floating type
  int workers = 1;
  bool per_example = false;  ///< gradients are clipped one by one
  std::int64_t states = 0;   ///< bytes that all clients together may remember in memory
};

/// What the host's memory for a cell depends on; `clients` of the federation.
CellSize cell_size(const Experiment& experiment, const AlgorithmEntry& algorithm, const Model& model,
                   std::int64_t clients, const WorkPool& pool, std::int64_t state_memory);

/// Bytes that a cell takes beside data and program, an estimate: the server's copies of the model, what each
/// client of a cohort sends, encoded and decoded, and may remember, the memories of all clients, a checkpoint
/// of them, and a micro-batch in the works on each worker. Algorithms that keep more (a set of synthetic
/// images, several models) take more.
std::int64_t estimate_memory(const CellSize& size);

/// Bytes that this process may still take: what the system has free, and its control group allows.
std::int64_t free_memory();
/// What its control groups allow, of version 1 or 2; the largest integer without a limit. A job of Slurm's,
/// of systemd's or in a container has a group, and is killed beyond the group's limit. `root`: "/", below
/// which the system's files are.
std::int64_t free_in_groups(const std::filesystem::path& root);

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
