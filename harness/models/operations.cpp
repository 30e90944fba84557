#include "harness/models/operations.hpp"

#include <cstddef>
#include <variant>
#include <vector>

#include <c10/util/accumulate.h>

#include "fedarena/base/overload.hpp"

namespace fedarena {
namespace {

// Multiplications with parameters on one example.
std::int64_t products(const Layer& layer, const std::vector<std::int64_t>& outputs) {
  return std::visit(Overload{[&](const Conv2d& conv) {
                               return conv.kernel * conv.kernel * conv.in * c10::multiply_integers(outputs);
                             },
                             [](const Linear& linear) { return linear.in * linear.out; },
                             [](const Custom& custom) { return custom.products; },
                             [](const auto&) { return std::int64_t{0}; }},
                    layer);
}

bool is_learnt(const Layer& layer) {
  return std::visit(
      Overload{[](const Relu&) { return false; }, [](const AveragePool&) { return false; },
               [](const MaxPool&) { return false; }, [](const Flatten&) { return false; },
               [](const Fork&) { return false; }, [](const Shortcut&) { return false; },
               [](const Join&) { return false; },
               [](const Custom& custom) { return !custom.parameters.empty() || custom.products > 0; },
               [](const auto&) { return true; }},
      layer);
}

}  // namespace

Operations count_operations(const Model& model) {
  Operations total;
  const std::vector<Layer>& layers = model.architecture().layers;
  bool learnt_before = false;
  for (std::size_t index = 0; index < layers.size(); ++index) {
    const std::int64_t forward = 2 * products(layers[index], model.shapes()[index + 1]);
    total.forward += forward;
    total.gradient += (learnt_before ? 3 : 2) * forward;
    learnt_before = learnt_before || is_learnt(layers[index]);
  }
  // Twice what goes back; forward, twice where inputs move, which is where their gradient is taken.
  total.input_gradient = total.gradient + (total.gradient + total.forward);
  return total;
}

}  // namespace fedarena
