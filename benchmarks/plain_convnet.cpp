#include "benchmarks/plain_convnet.hpp"

#include <algorithm>
#include <dlfcn.h>

#include <ATen/Parallel.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"

namespace fedarena::benchmarks {
namespace {

Batch slice(const Batch& examples, std::int64_t begin, std::int64_t size) {
  const std::int64_t count = std::min(size, examples.size() - begin);
  return {examples.inputs.narrow(0, begin, count), examples.targets.narrow(0, begin, count)};
}

}  // namespace

PlainConvNet::PlainConvNet(const Params& weights) {
  for (std::size_t index = 0; index < weights.size(); ++index) {
    weights_.push_back(weights[index].clone().requires_grad_());
  }
}

torch::Tensor PlainConvNet::forward(const torch::Tensor& inputs) const {
  torch::Tensor value = inputs;
  std::size_t used = 0;
  while (used + 2 < weights_.size()) {
    const torch::Tensor& kernel = weights_[used++];
    const torch::Tensor& bias = weights_[used++];
    const torch::Tensor& scale = weights_[used++];
    const torch::Tensor& shift = weights_[used++];
    value = torch::conv2d(value, kernel, bias, /*stride=*/1, /*padding=*/1);
    value = torch::group_norm(value, /*num_groups=*/value.size(1), scale, shift);
    value = torch::avg_pool2d(torch::relu(value), 2);
  }
  return torch::linear(value.flatten(1), weights_[used], weights_[used + 1]);
}

void PlainConvNet::step(const Batch& batch, double rate) {
  for (torch::Tensor& weight : weights_) weight.mutable_grad() = torch::Tensor();
  torch::cross_entropy_loss(forward(batch.inputs), batch.targets).backward();
  const torch::NoGradGuard update;
  for (torch::Tensor& weight : weights_) weight.sub_(weight.grad(), rate);
}

torch::Tensor PlainConvNet::flat_gradient() const {
  std::vector<torch::Tensor> slopes;
  for (const torch::Tensor& weight : weights_) slopes.push_back(weight.grad().flatten());
  return torch::cat(slopes);
}

void use_all_cores() {
  const int cores = WorkPool::available_cores();
  at::set_num_threads(cores);
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(cores);
  }
}

void plain_training(PlainConvNet& net, const Batch& examples, std::int64_t batch_size, double rate) {
  for (std::int64_t begin = 0; begin < examples.size(); begin += batch_size)
    net.step(slice(examples, begin, batch_size), rate);
}

void plain_evaluation(const PlainConvNet& net, const Batch& examples, std::int64_t batch_size) {
  const torch::NoGradGuard no_graph;
  double loss = 0;
  for (std::int64_t begin = 0; begin < examples.size(); begin += batch_size) {
    const Batch batch = slice(examples, begin, batch_size);
    loss += torch::cross_entropy_loss(net.forward(batch.inputs), batch.targets).item<double>();
  }
  FEDARENA_CHECK(loss, >, 0);
}

}  // namespace fedarena::benchmarks
