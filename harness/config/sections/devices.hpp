#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fedarena {

/// What `experiment.device` can be, for messages; N stands for the number of a GPU, from 0.
inline constexpr const char* kDeviceNames = R"("auto", "cpu", "cuda", "cuda:N")";

/// The number of the GPU that a device names: 1 of "cuda:1", 0 of "cuda"; nothing of any other text.
std::optional<int> gpu_number(std::string_view device);

/// Whether a text can be `experiment.device`.
bool is_device(std::string_view text);

/// The device that a text was most likely meant to name; empty where none is near.
std::string nearest_device(std::string_view text);

}  // namespace fedarena
