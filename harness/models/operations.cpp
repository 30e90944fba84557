#include "harness/models/operations.hpp"

#include <variant>
#include <vector>

#include <c10/util/accumulate.h>

namespace fedarena {
namespace {

// Follows one example through the layers.
class Counter {
 public:
  explicit Counter(const std::vector<std::int64_t>& shape) : shape_(shape) {}

  void operator()(const Conv2d& layer) {
    const std::int64_t grown = 2 * layer.padding - layer.kernel + 1;
    shape_ = {layer.out, shape_[1] + grown, shape_[2] + grown};
    count(layer.kernel * layer.kernel * layer.in * layer.out * shape_[1] * shape_[2]);
  }
  void operator()(const Linear& layer) {
    shape_ = {layer.out};
    count(layer.in * layer.out);
  }
  void operator()(const AveragePool& layer) { pool(layer.size); }
  void operator()(const MaxPool& layer) { pool(layer.size); }
  void operator()(const Relu&) {}
  void operator()(const Flatten&) { shape_ = {c10::multiply_integers(shape_)}; }
  void operator()(const GroupNorm&) { learnt_before_ = true; }
  void operator()(const BatchNorm&) { learnt_before_ = true; }
  void operator()(const Embedding& layer) {
    shape_.push_back(layer.dimension);
    learnt_before_ = true;
  }
  void operator()(const Custom& layer) {
    shape_ = layer.output_shape(shape_);
    if (layer.products > 0) count(layer.products);
    learnt_before_ = learnt_before_ || !layer.parameters.empty();
  }

  Operations total;

 private:
  void count(std::int64_t products) {
    const std::int64_t forward = 2 * products;
    total.forward += forward;
    total.gradient += (learnt_before_ ? 3 : 2) * forward;
    learnt_before_ = true;
  }
  void pool(std::int64_t size) { shape_ = {shape_[0], shape_[1] / size, shape_[2] / size}; }

  std::vector<std::int64_t> shape_;
  bool learnt_before_ = false;
};

}  // namespace

Operations count_operations(const Architecture& architecture) {
  Counter counter(architecture.input_shape);
  for (const Layer& layer : architecture.layers) std::visit(counter, layer);
  Operations& total = counter.total;
  // Twice what goes back; forward, twice where inputs move, which is where their gradient is taken.
  total.input_gradient = total.gradient + (total.gradient + total.forward);
  return total;
}

}  // namespace fedarena
