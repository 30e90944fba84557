#include "harness/runner/plan/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>
#include <variant>

#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/cell_setup.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The one number in the file; `otherwise` where there is none, as in "max".
std::int64_t number_in(const char* file, std::int64_t otherwise) {
  std::int64_t number = 0;
  return std::ifstream(file) >> number ? number : otherwise;
}

std::int64_t free_in_system() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::int64_t kib = 0; file >> name >> kib; std::getline(file, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::int64_t free_in_group() {
  const std::int64_t most = number_in("/sys/fs/cgroup/memory.max", kNoLimit);
  if (most == kNoLimit) return kNoLimit;
  return std::max<std::int64_t>(0, most - number_in("/sys/fs/cgroup/memory.current", 0));
}

}  // namespace

std::int64_t estimate_memory(const CellSize& size) {
  // The model, its copy for a round that may fail, the broadcast encoded and decoded, the mean, a checkpoint.
  constexpr std::int64_t kServerCopies = 8;
  // Decoded, encoded, remembered.
  constexpr std::int64_t kClientCopies = 3;
  // Start, model, momentum and gradient of a client in the works.
  constexpr std::int64_t kWorkerCopies = 4;
  // Forward, backward and what convolutions unfold.
  constexpr std::int64_t kActivationCopies = 4;
  std::int64_t models = kServerCopies + kClientCopies * size.cohort + kWorkerCopies * size.workers;
  if (size.per_example) models += size.workers * size.micro_batch;
  const std::int64_t activations = kActivationCopies * size.workers * size.micro_batch * size.activations;
  constexpr std::int64_t kStateCopies = 2;  // a checkpoint has them, too
  return size.number_bytes * (models * size.parameters + activations) + kStateCopies * size.states;
}

std::int64_t free_memory() { return std::min(free_in_system(), free_in_group()); }

CellSize cell_size(const Experiment& experiment, const AlgorithmEntry& algorithm, const Model& model,
                   std::int64_t clients, const WorkPool& pool, std::int64_t state_memory) {
  const PrivacyPolicy policy = policy_of(algorithm);
  const std::int64_t parameters = model.layout()->numel();
  const std::int64_t number_bytes = experiment.dtype == "float64" ? 8 : 4;
  const bool on_gpu =
      model.options().device().is_cuda();  // micro-batches then lie there, not in the host's memory
  return {.parameters = parameters,
          .activations = on_gpu ? 0 : model.activations(),
          .micro_batch = GradientEngine(model, pool).micro_batch(),
          .cohort = experiment.cohort_size(clients),
          .number_bytes = number_bytes,
          .workers = pool.workers(),
          .per_example = !on_gpu && std::holds_alternative<RecordPolicy>(policy),
          .states = std::min(state_memory, clients * parameters * number_bytes)};
}

}  // namespace fedarena
