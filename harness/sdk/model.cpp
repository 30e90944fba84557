#include "fedarena/model.hpp"

#include <cmath>
#include <utility>

#include <c10/util/accumulate.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"
#include "fedarena/random.hpp"

#include "harness/sdk/sendable.hpp"

namespace fedarena {
namespace {

// Follows the shape of one example through the layers and collects the parameters on the way.
class Tracer {
 public:
  explicit Tracer(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {}

  void operator()(const Conv2d& layer) {
    FEDARENA_CHECK(shape_.size(), ==, 3U);
    FEDARENA_CHECK(shape_[0], ==, layer.in);
    add_weight_and_bias({layer.out, layer.in, layer.kernel, layer.kernel});
    FEDARENA_CHECK(layer.stride, >=, 1);
    shape_ = {layer.out, layer.side(shape_[1]), layer.side(shape_[2])};
  }
  void operator()(const GroupNorm& layer) {
    FEDARENA_CHECK(layer.groups, >=, 1);
    FEDARENA_CHECK(shape_[0], ==, layer.channels);
    FEDARENA_CHECK(layer.channels % layer.groups, ==, 0);
    add_weight_and_bias({layer.channels});
  }
  void operator()(const Relu&) {}
  void operator()(const AveragePool& layer) { pool(layer.size); }
  void operator()(const MaxPool& layer) { pool(layer.size); }
  void operator()(const Flatten&) { shape_ = {c10::multiply_integers(shape_)}; }
  void operator()(const Linear& layer) {
    FEDARENA_CHECK(shape_.size(), ==, 1U);
    FEDARENA_CHECK(shape_[0], ==, layer.in);
    add_weight_and_bias({layer.out, layer.in});
    shape_ = {layer.out};
  }
  void operator()(const Embedding& layer) {
    constexpr std::int64_t kExactInSinglePrecision = 1 << 24;
    FEDARENA_CHECK(first_, ==, true);  // data has whole numbers, not what layers compute
    FEDARENA_CHECK(layer.count, >=, 1);
    FEDARENA_CHECK(layer.count, <=, kExactInSinglePrecision);
    layout.add({layer.count, layer.dimension});
    shape_.push_back(layer.dimension);
  }
  void operator()(const BatchNorm& layer) {
    FEDARENA_CHECK(shape_[0], ==, layer.channels);
    add_weight_and_bias({layer.channels});
  }
  void operator()(const Fork&) { aside_.push_back(shape_); }
  void operator()(const Shortcut&) {
    FEDARENA_CHECK(open_forks(), >=, 1U);
    std::swap(shape_, aside_.back());
  }
  void operator()(const Join&) {
    FEDARENA_CHECK(open_forks(), >=, 1U);
    const bool same_shape = shape_ == aside_.back();
    FEDARENA_CHECK(same_shape, ==, true);
    aside_.pop_back();
  }
  void operator()(const Custom& layer) {
    for (const Custom::Shape& extents : layer.parameters) layout.add(extents);
    shape_ = layer.output_shape(shape_);
  }

  void step(const Layer& layer) {
    std::visit(*this, layer);
    first_ = false;
  }

  Layout layout;
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::size_t open_forks() const { return aside_.size(); }

 private:
  void pool(std::int64_t size) {
    FEDARENA_CHECK(shape_.size(), ==, 3U);
    FEDARENA_CHECK(size, >=, 1);
    shape_ = {shape_[0], shape_[1] / size, shape_[2] / size};
  }

  // A number of the bias for each output, the weight's first dimension.
  void add_weight_and_bias(const std::vector<std::int64_t>& weight) {
    layout.add(weight);
    layout.add({weight[0]});
  }

  bool first_ = true;
  std::vector<std::int64_t> shape_;
  std::vector<std::vector<std::int64_t>> aside_;  // of the other summand of each connection
};

// Applies the layers in turn; `next` hands out the parameter tensors in the order of the layout.
class Applier {
 public:
  Applier(const std::vector<torch::Tensor>& at, torch::Tensor inputs) : at_(at), value(std::move(inputs)) {}

  void operator()(const Conv2d& layer) {
    const torch::Tensor& weight = next();
    value = torch::conv2d(value, weight, next(), layer.stride, layer.padding);
  }
  void operator()(const GroupNorm& layer) {
    const torch::Tensor& weight = next();
    value = torch::group_norm(value, layer.groups, weight, next(), layer.epsilon);
  }
  void operator()(const Relu&) { value = torch::relu(value); }
  void operator()(const AveragePool& layer) { value = torch::avg_pool2d(value, layer.size); }
  void operator()(const MaxPool& layer) { value = torch::max_pool2d(value, layer.size); }
  void operator()(const Flatten&) { value = value.flatten(1); }
  void operator()(const Linear&) {
    const torch::Tensor& weight = next();
    value = torch::addmm(next(), value, weight.t());
  }
  void operator()(const Embedding& layer) {
    value = torch::embedding(next(), embedding_indices(layer, value));
  }
  void operator()(const BatchNorm& layer) {
    const torch::Tensor& weight = next();
    value = torch::batch_norm(value, weight, next(), /*running_mean=*/{}, /*running_var=*/{},
                              /*training=*/true, /*momentum=*/0, layer.epsilon, /*cudnn_enabled=*/true);
  }
  void operator()(const Fork&) { aside_.push_back(value); }
  void operator()(const Shortcut&) { std::swap(value, aside_.back()); }
  void operator()(const Join&) {
    value = value + aside_.back();
    aside_.pop_back();
  }
  void operator()(const Custom& layer) {
    std::vector<torch::Tensor> parameters;
    for (std::size_t index = 0; index < layer.parameters.size(); ++index) parameters.push_back(next());
    value = layer.forward(parameters, value);
  }

 private:
  const torch::Tensor& next() { return at_[used_++]; }

  const std::vector<torch::Tensor>& at_;
  std::size_t used_ = 0;
  std::vector<torch::Tensor> aside_;  // the other summand of each connection

 public:
  torch::Tensor value;
};

}  // namespace

torch::Tensor embedding_indices(const Embedding& layer, const torch::Tensor& inputs) {
  const torch::Tensor indices = inputs.to(torch::kInt64);
  const torch::Tensor valid =
      indices.eq(inputs).logical_and(indices.ge(0)).logical_and(indices.lt(layer.count));
  if (!valid.all().item<bool>()) {
    throw Error(Complaint{.found = fmt::format("an example holds {} where an embedding looks up an index",
                                               inputs.masked_select(valid.logical_not())[0].item<double>()),
                          .allowed = fmt::format("whole numbers from 0 to {}", layer.count - 1)});
  }
  return indices;
}

Batch Batch::select(const torch::Tensor& positions) const {
  return {inputs.index_select(0, positions.to(inputs.device())),
          targets.index_select(0, positions.to(targets.device()))};
}

Batch Batch::to(const torch::TensorOptions& options) const {
  return {inputs.to(options),
          targets.is_floating_point() ? targets.to(options) : targets.to(options.device())};
}

Model::Model(Architecture architecture, torch::TensorOptions options)
    : architecture_(std::move(architecture)), options_(std::move(options)) {
  Tracer tracer(architecture_.input_shape);
  shapes_.push_back(tracer.shape());
  for (const Layer& layer : architecture_.layers) {
    tracer.step(layer);
    shapes_.push_back(tracer.shape());
  }
  FEDARENA_CHECK(tracer.open_forks(), ==, 0U);
  FEDARENA_CHECK(tracer.shape().size(), ==, 1U);
  FEDARENA_CHECK(tracer.shape()[0], ==, architecture_.outputs);
  layout_ = uncounted(tracer.layout);
}

std::vector<std::int64_t> Model::input_shape(std::int64_t batch) const {
  std::vector<std::int64_t> shape{batch};
  shape.insert(shape.end(), architecture_.input_shape.begin(), architecture_.input_shape.end());
  return shape;
}

std::int64_t Model::activations() const {
  std::int64_t count = 0;
  for (const std::vector<std::int64_t>& shape : shapes_) count += c10::multiply_integers(shape);
  return count;
}

Params Model::initial(Stream& stream) const {
  Params params = Params::zeros(layout_, torch::kFloat64);
  std::size_t index = 0;
  const auto fill = [&](std::int64_t fan_in, std::size_t tensors) {
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    for (const std::size_t end = index + tensors; index < end; ++index) {
      params[index].copy_(uniform(stream, params[index].sizes().vec(), -bound, bound));
    }
  };
  const auto fill_scale = [&] {  // the shift stays zero
    params[index].fill_(1);
    index += 2;
  };
  for (const Layer& layer : architecture_.layers) {
    std::visit(Overload{[&](const Conv2d& conv) { fill(conv.in * conv.kernel * conv.kernel, 2); },
                        [&](const Linear& linear) { fill(linear.in, 2); },
                        [&](const GroupNorm&) { fill_scale(); }, [&](const BatchNorm&) { fill_scale(); },
                        [&](const Embedding&) {
                          params[index].copy_(normal(stream, params[index].sizes().vec()));
                          ++index;
                        },
                        [&](const Custom& custom) {
                          for (const Custom::Shape& shape : custom.parameters) {
                            if (shape.size() >= 2)
                              fill(c10::multiply_integers(shape) / shape[0], 1);
                            else
                              ++index;
                          }
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

void Model::check(const Params& at) const {
  const std::string allowed = fmt::format("parameters of the model's layout ({} numbers)", layout_->numel());
  if (at.empty())
    throw Error(
        Complaint{.found = "the model is asked to compute with empty parameters", .allowed = allowed});
  if (at.layout()->fingerprint() != layout_->fingerprint()) {
    throw Error(Complaint{
        .found = fmt::format("the model is asked to compute with parameters of another layout ({} numbers)",
                             at.layout()->numel()),
        .allowed = allowed});
  }
  std::string why = unlike_parameters(at.flat(), layout_->numel());
  if (why.empty() && at.flat().device().type() != options().device().type())
    why = fmt::format("lies on {}, and the model on {}", at.flat().device().str(), options().device().str());
  if (!why.empty())
    throw Error(Complaint{
        .found = fmt::format("the model is asked to compute with parameters whose flat() {}", why)});
  const auto type = torch::typeMetaToScalarType(options().dtype());
  if (at.flat().scalar_type() == type) return;
  throw Error(Complaint{.found = fmt::format("the model is asked to compute with parameters of type {}",
                                             torch::toString(at.flat().scalar_type())),
                        .allowed = fmt::format("{}, as the model", torch::toString(type))});
}

torch::Tensor Model::forward(const Params& at, const torch::Tensor& inputs) const {
  check(at);
  Tensors tensors;
  for (std::size_t index = 0; index < at.size(); ++index) tensors.push_back(at[index]);
  return forward(tensors, inputs);
}

torch::Tensor Model::losses(const torch::Tensor& outputs, const torch::Tensor& targets) const {
  if (architecture_.loss == Loss::kCrossEntropy) {
    const torch::Tensor log_shares = torch::log_softmax(outputs, 1);
    if (targets.is_floating_point()) return -(targets * log_shares).sum(1);
    return -log_shares.gather(1, targets.unsqueeze(1)).squeeze(1);
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
  check(at);
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
