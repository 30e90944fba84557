#include "harness/runner/rank_worker.hpp"

#include <memory>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/config/syntax/document.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/cell_setup.hpp"
#include "harness/runner/plan/catalog.hpp"
#include "harness/runner/plan/device.hpp"
#include "harness/runner/record/environment.hpp"
#include "harness/wire/parts.hpp"

namespace fedarena {
namespace {

void check_same_here(const std::string& what, const std::string& on_rank_0, const std::string& here,
                     const std::string& host) {
  if (on_rank_0 == here) return;
  throw Error(Complaint{.found = fmt::format("the {} on {} are not those of rank 0", what, host),
                        .remedy = "Give all hosts the same files, in a folder that they share for instance"});
}

// With the name of a GPU.
std::string device_text(const std::string& setting) {
  const torch::Device device = device_of(setting);
  return device.is_cuda() ? fmt::format("{}, {}", device.str(), observe_gpu(device.index()).value("gpu", ""))
                          : device.str();
}

// Sums on two kinds of device round differently.
void check_same_device(const std::string& on_rank_0, const std::string& setting, const std::string& host) {
  const std::string here = device_text(setting);
  if (on_rank_0 == here) return;
  throw Error(Complaint{
      .found = fmt::format("the device \"{}\" is {} on {}, but {} on rank 0", setting, here, host, on_rank_0),
      .remedy = "Name one that all hosts have: --device cpu, for instance"});
}

// Clients go to whoever is through with others: where ranks round differently, no run could be repeated.
void check_same_arithmetic(const std::string& on_rank_0, const std::string& host) {
  const std::string here = arithmetic();
  if (on_rank_0 == here) return;
  throw Error(Complaint{
      .found = fmt::format("{} computes by other kernels than rank 0, so its sums round differently: {} "
                           "there, {} on rank 0",
                           host, here, on_rank_0),
      .remedy = "Give all ranks kernels that their processors share, for instance by mpirun -x "
                "OPENBLAS_CORETYPE=Haswell -x ATEN_CPU_CAPABILITY=avx2 (docs/cluster.md)"});
}

// A cell of rank 0's, made again from its description.
class ServedCell {
 public:
  ServedCell(const RunRequest& request, const Catalog& catalog, const CellResources& resources,
             const std::string& here) {
    SharedInputs& inputs = resources.inputs;
    Parts parts(std::as_bytes(std::span(request.run)));
    const PlannedCell cell =
        recorded_cell(config::parse_document(parts.next<std::string>(), "rank 0"), catalog);
    const Experiment& experiment = cell.point->experiment;
    check_same_device(parts.next<std::string>(), experiment.device, here);
    check_same_arithmetic(parts.next<std::string>(), here);
    if (request.hands_on) inputs.hand_on();
    inputs.take(experiment, request.from_host);
    check_same_here("examples", parts.next<std::string>(), inputs.data_hash(experiment), here);
    const auto dealt = inputs.dealt(experiment, cell.seed);
    check_same_here("clients' shares of the examples", parts.next<std::string>(),
                    dealt->card.statistics.index_hash, here);
    opened_.emplace(cell, resources);
    worker_ = opened_->simulation().worker();
    worker_.for_host = inputs.for_host(experiment);
  }
  const Worker& worker() const { return worker_; }

 private:
  std::optional<OpenedCell> opened_;
  Worker worker_;
};

}  // namespace

std::string describe_for_ranks(const PlannedCell& cell, SharedInputs& inputs) {
  const Experiment experiment = cell.experiment();
  const Bytes bytes =
      packed(to_toml(experiment), device_text(experiment.device), arithmetic(), inputs.data_hash(experiment),
             inputs.dealt(experiment, cell.seed)->card.statistics.index_hash);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void work_for_rank_0(Ranks& ranks, const PluginHost& host, int workers, const std::atomic<bool>& stop) {
  keep_freed_memory();
  use_one_torch_thread();
  const WorkPool pool(workers, use_one_torch_thread);
  const Catalog catalog = make_catalog(host);
  SharedInputs inputs;
  serve(ranks, pool, build_identity(host), [&](const RunRequest& request) {
    const CellResources resources{host, inputs, pool, stop};
    const auto cell = std::make_shared<const ServedCell>(request, catalog, resources, ranks.host());
    return std::shared_ptr<const Worker>(cell, &cell->worker());
  });
}

}  // namespace fedarena
