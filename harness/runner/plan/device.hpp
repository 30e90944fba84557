#pragma once

#include <string>

#include <torch/types.h>

namespace fedarena {

/// The device that `experiment.device` means on this machine: the CPU, or a GPU with its number. "auto" is
/// the GPU 0 where LibTorch sees one, else the CPU. A GPU is made ready first: see make_gpus_repeatable().
/// Throws Error where there is no such GPU.
torch::Device device_of(const std::string& setting);

/// Lets LibTorch give the same bits each time on one kind of GPU: algorithms without races, and sums of
/// products in full precision instead of TF32. An operation that cannot is an error when it is called. Must
/// come before anything is computed on a GPU; later calls change nothing.
void make_gpus_repeatable();

}  // namespace fedarena
