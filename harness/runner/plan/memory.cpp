#include "harness/runner/plan/memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>
#include <variant>

#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/cell_setup.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The one number in the file; `otherwise` where there is none, as in "max".
std::int64_t number_in(const fs::path& file, std::int64_t otherwise) {
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

// Of a control group and of those around it, up to the root.
std::int64_t free_in_groups(const fs::path& root, const std::string& group, const char* limit,
                            const char* used) {
  std::int64_t least = kNoLimit;
  for (fs::path at = root.string() + group; at.string().size() >= root.string().size();
       at = at.parent_path()) {
    const std::int64_t most = number_in(at / limit, kNoLimit);
    if (most != kNoLimit) least = std::min(least, std::max<std::int64_t>(0, most - number_in(at / used, 0)));
  }
  return least;
}

// A job of Slurm's or of systemd's has a group of its own, and is killed beyond the group's limit.
std::int64_t free_in_groups() {
  std::ifstream file("/proc/self/cgroup");
  std::int64_t least = kNoLimit;
  for (std::string line; std::getline(file, line);) {
    const std::string controllers = line.substr(line.find(':') + 1);
    if (controllers.starts_with(":/")) {
      least = std::min(
          least, free_in_groups("/sys/fs/cgroup", controllers.substr(1), "memory.max", "memory.current"));
    } else if (controllers.starts_with("memory:/")) {  // version 1
      least = std::min(least, free_in_groups("/sys/fs/cgroup/memory", controllers.substr(7),
                                             "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return least;
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

std::int64_t free_memory() { return std::min(free_in_system(), free_in_groups()); }

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
