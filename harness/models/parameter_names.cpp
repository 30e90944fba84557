#include "harness/models/parameter_names.hpp"

#include <cstddef>
#include <variant>

#include <fmt/format.h>

#include "fedarena/base/overload.hpp"

namespace fedarena {
namespace {

using Parts = std::vector<std::string>;

Parts parts_of(const Layer& layer) {
  const Parts affine = {"weight", "bias"};
  return std::visit(Overload{[&](const Conv2d&) { return affine; }, [&](const GroupNorm&) { return affine; },
                             [&](const Linear&) { return affine; }, [&](const BatchNorm&) { return affine; },
                             [](const Embedding&) { return Parts{"weight"}; },
                             [](const Custom& custom) {
                               Parts parts;
                               for (std::size_t index = 0; index < custom.parameters.size(); ++index)
                                 parts.push_back(fmt::format("{}", index));
                               return parts.size() == 1 ? Parts{"weight"} : parts;
                             },
                             [](const auto&) { return Parts{}; }},
                    layer);
}

}  // namespace

std::vector<std::string> parameter_names(const Architecture& architecture) {
  std::vector<std::string> names;
  for (std::size_t index = 0; index < architecture.layers.size(); ++index) {
    for (const std::string& part : parts_of(architecture.layers[index]))
      names.push_back(fmt::format("{}.{}", index, part));
  }
  return names;
}

}  // namespace fedarena
