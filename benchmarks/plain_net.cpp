#include "benchmarks/plain_net.hpp"

#include <algorithm>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"

#include "harness/gradients/engine/gradients.hpp"

namespace fedarena::benchmarks {
namespace {

Batch slice(const Batch& examples, std::int64_t begin, std::int64_t size) {
  const std::int64_t count = std::min(size, examples.size() - begin);
  return {examples.inputs.narrow(0, begin, count), examples.targets.narrow(0, begin, count)};
}

}  // namespace

torch::Tensor plain_convnet(const std::vector<torch::Tensor>& weights, torch::Tensor inputs) {
  std::size_t used = 0;
  while (used + 2 < weights.size()) {
    const torch::Tensor& kernel = weights[used++];
    const torch::Tensor& bias = weights[used++];
    const torch::Tensor& scale = weights[used++];
    const torch::Tensor& shift = weights[used++];
    inputs = torch::conv2d(inputs, kernel, bias, /*stride=*/1, /*padding=*/1);
    inputs = torch::group_norm(inputs, /*num_groups=*/inputs.size(1), scale, shift);
    inputs = torch::avg_pool2d(torch::relu(inputs), 2);
  }
  return torch::linear(inputs.flatten(1), weights[used], weights[used + 1]);
}

torch::Tensor plain_niid_cnn(const std::vector<torch::Tensor>& weights, torch::Tensor inputs) {
  FEDARENA_CHECK(weights.size(), ==, 10U);
  inputs = torch::max_pool2d(torch::relu(torch::conv2d(inputs, weights[0], weights[1])), 2);
  inputs = torch::max_pool2d(torch::relu(torch::conv2d(inputs, weights[2], weights[3])), 2);
  inputs = torch::relu(torch::linear(inputs.flatten(1), weights[4], weights[5]));
  inputs = torch::relu(torch::linear(inputs, weights[6], weights[7]));
  return torch::linear(inputs, weights[8], weights[9]);
}

PlainForward plain_forward(const std::string& model) {
  if (model == "convnet") return plain_convnet;
  FEDARENA_CHECK(model, ==, std::string("niid-cnn"));
  return plain_niid_cnn;
}

PlainNet::PlainNet(PlainForward forward, const Params& weights) : forward_(forward) {
  for (std::size_t index = 0; index < weights.size(); ++index) {
    weights_.push_back(weights[index].clone().requires_grad_());
  }
}

void PlainNet::step(const Batch& batch, double rate) {
  for (torch::Tensor& weight : weights_) weight.mutable_grad() = torch::Tensor();
  torch::cross_entropy_loss(forward(batch.inputs), batch.targets).backward();
  const torch::NoGradGuard update;
  for (torch::Tensor& weight : weights_) weight.sub_(weight.grad(), rate);
}

torch::Tensor PlainNet::flat_gradient() const {
  std::vector<torch::Tensor> slopes;
  for (const torch::Tensor& weight : weights_) slopes.push_back(weight.grad().flatten());
  return torch::cat(slopes);
}

void use_all_cores() { use_torch_threads(WorkPool::available_cores()); }

void plain_training(PlainNet& net, const Batch& examples, std::int64_t batch_size, double rate) {
  for (std::int64_t begin = 0; begin < examples.size(); begin += batch_size)
    net.step(slice(examples, begin, batch_size), rate);
}

void plain_evaluation(const PlainNet& net, const Batch& examples, std::int64_t batch_size) {
  const torch::NoGradGuard no_graph;
  double loss = 0;
  for (std::int64_t begin = 0; begin < examples.size(); begin += batch_size) {
    const Batch batch = slice(examples, begin, batch_size);
    loss += torch::cross_entropy_loss(net.forward(batch.inputs), batch.targets).item<double>();
  }
  FEDARENA_CHECK(loss, >, 0);
}

}  // namespace fedarena::benchmarks
