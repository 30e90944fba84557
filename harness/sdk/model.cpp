#include "fedarena/model.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <torch/csrc/autograd/autograd.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"
#include "fedarena/random.hpp"

namespace fedarena {
namespace {

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Follows the shape of one example through the layers and collects the parameters on the way.
class Tracer {
 public:
  explicit Tracer(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {}

  void operator()(const Conv2d& layer) {
    FEDARENA_CHECK(shape_.size(), ==, 3U);
    FEDARENA_CHECK(shape_[0], ==, layer.in);
    name("conv");
    add("weight", {layer.out, layer.in, layer.kernel, layer.kernel});
    add("bias", {layer.out});
    shape_ = {layer.out, shape_[1] + 2 * layer.padding - layer.kernel + 1,
              shape_[2] + 2 * layer.padding - layer.kernel + 1};
  }
  void operator()(const GroupNorm& layer) {
    FEDARENA_CHECK(shape_[0], ==, layer.channels);
    FEDARENA_CHECK(layer.channels % layer.groups, ==, 0);
    name("norm");
    add("weight", {layer.channels});
    add("bias", {layer.channels});
  }
  void operator()(const Relu&) {}
  void operator()(const AveragePool& layer) {
    FEDARENA_CHECK(shape_.size(), ==, 3U);
    shape_ = {shape_[0], shape_[1] / layer.size, shape_[2] / layer.size};
  }
  void operator()(const Flatten&) { shape_ = {product(shape_)}; }
  void operator()(const Linear& layer) {
    FEDARENA_CHECK(shape_.size(), ==, 1U);
    FEDARENA_CHECK(shape_[0], ==, layer.in);
    name("linear");
    add("weight", {layer.out, layer.in});
    add("bias", {layer.out});
    shape_ = {layer.out};
  }

  Layout layout;
  const std::vector<std::int64_t>& shape() const { return shape_; }

 private:
  void name(const char* kind) { name_ = fmt::format("{}{}", kind, ++layers_); }
  void add(const char* part, std::vector<std::int64_t> extents) {
    layout.add(name_ + "." + part, std::move(extents));
  }

  std::vector<std::int64_t> shape_;
  std::string name_;
  int layers_ = 0;
};

// Applies the layers in turn; `next` hands out the parameter tensors in the order of the layout.
class Applier {
 public:
  Applier(const std::vector<torch::Tensor>& at, torch::Tensor inputs) : at_(at), value(std::move(inputs)) {}

  void operator()(const Conv2d& layer) {
    const torch::Tensor& weight = next();
    value = torch::conv2d(value, weight, next(), /*stride=*/1, layer.padding);
  }
  void operator()(const GroupNorm& layer) {
    const torch::Tensor& weight = next();
    value = torch::group_norm(value, layer.groups, weight, next(), layer.epsilon);
  }
  void operator()(const Relu&) { value = torch::relu(value); }
  void operator()(const AveragePool& layer) { value = torch::avg_pool2d(value, layer.size); }
  void operator()(const Flatten&) { value = value.flatten(1); }
  void operator()(const Linear&) {
    const torch::Tensor& weight = next();
    value = torch::addmm(next(), value, weight.t());
  }

 private:
  const torch::Tensor& next() { return at_[used_++]; }

  const std::vector<torch::Tensor>& at_;
  std::size_t used_ = 0;

 public:
  torch::Tensor value;
};

}  // namespace

Batch Batch::select(const torch::Tensor& positions) const {
  return {inputs.index_select(0, positions), targets.index_select(0, positions)};
}

Model::Model(Architecture architecture, torch::TensorOptions options)
    : architecture_(std::move(architecture)), options_(std::move(options)) {
  Tracer tracer(architecture_.input_shape);
  activations_ = product(architecture_.input_shape);
  for (const Layer& layer : architecture_.layers) {
    std::visit(tracer, layer);
    activations_ += product(tracer.shape());
  }
  FEDARENA_CHECK(tracer.shape().size(), ==, 1U);
  FEDARENA_CHECK(tracer.shape()[0], ==, architecture_.outputs);
  layout_ = std::make_shared<const Layout>(std::move(tracer.layout));
}

std::vector<std::int64_t> Model::input_shape(std::int64_t batch) const {
  std::vector<std::int64_t> shape{batch};
  shape.insert(shape.end(), architecture_.input_shape.begin(), architecture_.input_shape.end());
  return shape;
}

Params Model::initial(Stream& stream) const {
  Params params = Params::zeros(layout_, torch::kFloat64);
  std::size_t index = 0;
  const auto fill = [&](std::int64_t fan_in) {
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    for (const std::size_t end = index + 2; index < end; ++index) {
      params[index].copy_(uniform(stream, params[index].sizes().vec(), -bound, bound));
    }
  };
  for (const Layer& layer : architecture_.layers) {
    std::visit(Overload{[&](const Conv2d& conv) { fill(conv.in * conv.kernel * conv.kernel); },
                        [&](const Linear& linear) { fill(linear.in); },
                        [&](const GroupNorm&) {
                          params[index].fill_(1);
                          index += 2;
                        },
                        [](const auto&) {}},
               layer);
  }
  return {layout_, params.flat().to(options_)};
}

torch::Tensor Model::forward(const Tensors& at, torch::Tensor inputs) const {
  Applier applier(at, std::move(inputs));
  for (const Layer& layer : architecture_.layers) std::visit(applier, layer);
  return applier.value;
}

torch::Tensor Model::forward(const Params& at, const torch::Tensor& inputs) const {
  Tensors tensors;
  for (std::size_t index = 0; index < at.size(); ++index) tensors.push_back(at[index]);
  return forward(tensors, inputs);
}

torch::Tensor Model::losses(const torch::Tensor& outputs, const torch::Tensor& targets) const {
  if (architecture_.loss == Loss::kCrossEntropy) {
    return -torch::log_softmax(outputs, 1).gather(1, targets.unsqueeze(1)).squeeze(1);
  }
  const bool labels = !targets.is_floating_point();
  const torch::Tensor wanted =
      labels ? torch::one_hot(targets, architecture_.outputs).to(outputs.dtype()) : targets;
  return 0.5 * (outputs - wanted).square().sum(1);
}

torch::Tensor Model::loss(const Params& at, const Batch& batch) const {
  return losses(forward(at, batch.inputs), batch.targets).mean();
}

Params Model::gradient(const Params& at, const Batch& batch, Graph graph) const {
  const bool keep = graph == Graph::kKeep;
  torch::AutoGradMode enabled(true);
  Tensors leaves;
  for (std::size_t index = 0; index < at.size(); ++index) {
    leaves.push_back(at[index].detach().requires_grad_());
  }
  const torch::Tensor mean = losses(forward(leaves, batch.inputs), batch.targets).mean();
  Tensors slopes = torch::autograd::grad({mean}, leaves, {}, keep, keep);
  for (torch::Tensor& slope : slopes) slope = slope.flatten();
  torch::Tensor flat = torch::cat(slopes);
  return {layout_, keep ? flat : flat.detach()};
}

}  // namespace fedarena
