#pragma once

#include <cstdint>
#include <filesystem>

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

}  // namespace fedarena
