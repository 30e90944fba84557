#include "harness/gradients/cuda/lane.hpp"

#include <map>

#include <c10/core/AutogradState.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include "fedarena/base/pool.hpp"

namespace fedarena::cuda {
namespace {

// One for each thread: cuBLAS has 32 MiB of workspace for each pair of them.
c10::Stream stream_of_this_thread(const c10::impl::VirtualGuardImpl& streams, torch::Device device) {
  thread_local std::map<torch::DeviceIndex, c10::Stream> all;
  const auto known = all.find(device.index());
  if (known != all.end()) return known->second;
  return all.emplace(device.index(), streams.getStreamFromGlobalPool(device)).first->second;
}

// While it is there, LibTorch's autograd does its backward passes in this thread. On a GPU it has one thread
// for all passes else, for which lanes would queue.
class OwnBackward {
#if TORCH_VERSION_MAJOR >= 2
 public:
  OwnBackward() { set(false); }
  ~OwnBackward() { set(before_); }
  OwnBackward(const OwnBackward&) = delete;
  OwnBackward& operator=(const OwnBackward&) = delete;

 private:
  static void set(bool several) { c10::AutogradState::get_tls_state().set_multithreading_enabled(several); }
  const bool before_ = c10::AutogradState::get_tls_state().get_multithreading_enabled();
#endif
};

}  // namespace

// By LibTorch's interface for any device, which its builds without CUDA have, too.
void in_a_lane(torch::Device device, const std::function<void()>& work) {
  if (device.is_cpu()) return work();
  const c10::impl::VirtualGuardImpl streams(device.type());
  const c10::Stream stream = stream_of_this_thread(streams, device);
  c10::Event queued(device.type());
  queued.record(streams.getStream(device));
  queued.block(stream);
  const WorkPool::Alone alone;
  [[maybe_unused]] const OwnBackward backward;
  const c10::StreamGuard in_it(stream);
  try {
    work();
  } catch (...) {
    // The error on its way says more than one of the GPU's would.
    try {
      stream.synchronize();
    } catch (...) {
    }
    throw;
  }
  stream.synchronize();
}

void wait_for(torch::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

}  // namespace fedarena::cuda
