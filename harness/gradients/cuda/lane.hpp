#pragma once

#include <functional>

#include <torch/types.h>

namespace fedarena::cuda {

/// Does work that a GPU may do beside that of other threads: in a stream of this thread's own, after what is
/// queued in the stream that the thread has now, and done on return, also by an exception. Loops of the work
/// stay on this thread. On the CPU the work is only called.
///
/// Memory that LibTorch frees in a lane is given to later work of that stream, so what the work frees must be
/// its own: tensors that others made have to outlive it, as all that threads share does. And tensors that the
/// work made are freed in it, or when the device has done all that was asked of them elsewhere.
void in_a_lane(torch::Device device, const std::function<void()>& work);

/// Returns when the device has done all that this thread has asked of it; at once on the CPU. For clocks.
void wait_for(torch::Device device);

}  // namespace fedarena::cuda
