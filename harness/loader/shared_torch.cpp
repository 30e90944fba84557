#include "harness/loader/shared_torch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/cuda.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

SharedGenerators::Place SharedGenerators::now() {
  auto* generator = at::check_generator<at::CPUGeneratorImpl>(at::detail::getDefaultCPUGenerator());
  const std::lock_guard lock(generator->mutex_);
  const at::mt19937_data_pod data = generator->engine().data();
  return {data.state_[0], data.left_};
}

std::vector<std::string> SharedGenerators::now_on_gpus() {
  std::vector<std::string> states;
  if (!at::hasCUDA()) return states;
  const auto count = static_cast<c10::DeviceIndex>(torch::cuda::device_count());
  for (c10::DeviceIndex index = 0; index < count; ++index) {
    std::string& state = states.emplace_back();
    // To ask for the generator would begin a context on a GPU that nobody works on.
    if (!at::detail::getCUDAHooks().hasPrimaryContext(index)) continue;
    at::Generator generator = at::globalContext().defaultGenerator({at::kCUDA, index});
    const std::lock_guard lock(generator.mutex());
    const at::Tensor bytes = generator.get_state();  // on the CPU; asks the GPU for nothing
    state.assign(static_cast<const char*>(bytes.data_ptr()), bytes.nbytes());
  }
  return states;
}

void SharedGenerators::check() const {
  // A GPU that nobody worked on before has an empty one there.
  const auto same = [](const std::string& before, const std::string& after) {
    return before.empty() || before == after;
  };
  if (now() == before_ && std::ranges::equal(before_on_gpus_, now_on_gpus(), same)) return;
  throw Error(Complaint{
      .found = "LibTorch's own generator of random numbers was used, which all clients and cells share",
      .remedy = "Draw from client.streams or server.streams, with normal() and uniform() of "
                "<fedarena/random.hpp>: results are the same for any number of workers. Where cells run at "
                "once (--jobs), another one's algorithm may have used it"});
}

SharedSettings::~SharedSettings() {
  if (Values() == before_) return;
  torch::set_default_dtype(before_.type);
  torch::autograd::AnomalyMode::set_enabled(before_.anomaly);
  at::globalContext().setDeterministicAlgorithms(before_.deterministic, before_.warn_only);
  at::set_num_threads(before_.threads);
  if (!before_.observers) at::clearGlobalCallbacks();
  at::globalContext().setUserEnabledMkldnn(before_.mkldnn);
  at::globalContext().setUserEnabledCuDNN(before_.cudnn);
  at::globalContext().setBenchmarkCuDNN(before_.cudnn_trials);
  at::globalContext().setAllowTF32CuDNN(before_.cudnn_tf32);
  // By name: LibTorch 2 takes no number.
  constexpr std::array kPrecisions = {"highest", "high", "medium"};
  at::globalContext().setFloat32MatmulPrecision(kPrecisions.at(static_cast<std::size_t>(before_.products)));
}

void SharedSettings::check() const {
  if (Values() == before_) return;
  throw Error(Complaint{
      .found = "a setting of LibTorch was changed that all clients and cells share (the default type, the "
               "mode that looks for anomalies, deterministic algorithms, how products and convolutions are "
               "computed, observers of operations, or the number of threads)",
      .remedy = "Name the type where a tensor is made; leave the others"});
}

}  // namespace fedarena
