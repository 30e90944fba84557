#include "harness/gradients/cuda/lane.hpp"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "fedarena/base/pool.hpp"

namespace fedarena::cuda {

// By LibTorch's interface for any device, whose builds without CUDA have it, too.
void in_a_lane(torch::Device device, const std::function<void()>& work) {
  if (device.is_cpu()) return work();
  const c10::impl::VirtualGuardImpl streams(device.type());
  const c10::Stream stream = streams.getStreamFromGlobalPool(device);
  c10::Event queued(device.type());
  queued.record(streams.getStream(device));
  queued.block(stream);
  const WorkPool::Alone alone;
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

}  // namespace fedarena::cuda
