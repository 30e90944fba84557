#include "harness/config/sections/devices.hpp"

#include <vector>

#include <fmt/format.h>

#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena {

std::optional<int> gpu_number(std::string_view device) {
  constexpr std::string_view kPrefix = "cuda:";
  if (device == "cuda") return 0;
  if (!device.starts_with(kPrefix)) return std::nullopt;
  const std::optional<int> number = parse_number<int>(device.substr(kPrefix.size()));
  // One spelling for each, because records of runs are compared as texts.
  if (!number || *number < 0 || device != fmt::format("{}{}", kPrefix, *number)) return std::nullopt;
  return number;
}

bool is_device(std::string_view text) { return text == "auto" || text == "cpu" || gpu_number(text); }

std::string nearest_device(std::string_view text) {
  static const std::vector<std::string> kExamples{"auto", "cpu", "cuda", "cuda:0"};
  return nearest_name(text, kExamples);
}

}  // namespace fedarena
