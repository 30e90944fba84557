#pragma once

#include <string>

#include <torch/types.h>

namespace fedarena {

/// The device that `experiment.device` means on this machine: the CPU, or a GPU with its number. "auto" is
/// the GPU 0 where LibTorch sees one, else the CPU. A GPU is first told to repeat itself. Throws Error where
/// there is no such GPU.
torch::Device device_of(const std::string& setting);

}  // namespace fedarena
