#include "harness/runner/plan/memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <variant>

#include "fedarena/base/error.hpp"

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

// The number behind that name, in lines of names and numbers.
std::optional<std::int64_t> number_of(const fs::path& file, std::string_view wanted) {
  std::ifstream lines(file);
  std::string name, rest;
  for (std::int64_t number = 0; lines >> name >> number; std::getline(lines, rest)) {
    if (name == wanted) return number;
  }
  return std::nullopt;
}

std::int64_t free_in_system() {
  if (const auto kib = number_of("/proc/meminfo", "MemAvailable:")) return *kib * 1024;
  return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

// What the files of a version of control groups are called.
struct GroupFiles {
  const char *root, *limit, *used;
  const char* droppable;  // in memory.stat: pages of files, which are dropped before anybody is killed
};
constexpr GroupFiles kFirstVersion = {"sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                      "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kSecondVersion = {"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

// Of a control group and of those around it, up to the first.
std::int64_t free_in_group(const fs::path& root, const std::string& group, const GroupFiles& files) {
  const std::string first = (root / files.root).string();
  std::int64_t least = kNoLimit;
  for (fs::path at = first + group; at.string().size() >= first.size(); at = at.parent_path()) {
    const std::int64_t most = number_in(at / files.limit, kNoLimit);
    if (most == kNoLimit) continue;
    const std::int64_t held =
        number_in(at / files.used, 0) - number_of(at / "memory.stat", files.droppable).value_or(0);
    least = std::min(least, std::max<std::int64_t>(0, most - std::max<std::int64_t>(0, held)));
  }
  return least;
}

}  // namespace

std::int64_t free_in_groups(const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  std::int64_t least = kNoLimit;
  for (std::string line; std::getline(file, line);) {
    const std::string controllers = line.substr(line.find(':') + 1);
    if (controllers.starts_with(":/"))
      least = std::min(least, free_in_group(root, controllers.substr(1), kSecondVersion));
    else if (controllers.starts_with("memory:/"))
      least = std::min(least, free_in_group(root, controllers.substr(7), kFirstVersion));
  }
  return least;
}

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

std::int64_t free_memory() { return std::min(free_in_system(), free_in_groups("/")); }

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

CellQueue::CellQueue(std::vector<std::int64_t> needs, std::int64_t budget)
    : needs_(std::move(needs)), budget_(budget) {
  for (std::size_t cell = needs_.size(); cell-- > 0;) waiting_.push_back(cell);
}

std::optional<std::size_t> CellQueue::next() {
  for (auto cell = waiting_.rbegin(); cell != waiting_.rend(); ++cell) {
    if (running_ > 0 && in_use_ + needs_[*cell] > budget_) continue;
    const std::size_t taken = *cell;
    waiting_.erase(std::next(cell).base());
    return taken;
  }
  return std::nullopt;
}

std::optional<std::size_t> CellQueue::take() {
  std::unique_lock lock(mutex_);
  while (!closed_ && !waiting_.empty()) {
    if (const auto cell = next()) {
      in_use_ += needs_[*cell];
      ++running_;
      return cell;
    }
    freed_.wait(lock);
  }
  return std::nullopt;
}

void CellQueue::give_back(std::size_t cell) {
  const std::lock_guard lock(mutex_);
  FEDARENA_CHECK(running_, >, 0U);
  in_use_ -= needs_[cell];
  --running_;
  freed_.notify_all();
}

void CellQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  freed_.notify_all();
}

}  // namespace fedarena
