#include "fedarena/adam.hpp"

#include <cmath>

#include <ATen/ATen.h>

namespace fedarena {

void Adam::step(const torch::Tensor& values, const torch::Tensor& gradient, double rate) {
  const torch::NoGradGuard no_graph;
  if (steps_ == 0) {
    mean_ = torch::zeros_like(values);
    square_ = torch::zeros_like(values);
  }
  const auto step = static_cast<double>(++steps_);
  mean_.mul_(settings_.beta1).add_(gradient, 1 - settings_.beta1);
  square_.mul_(settings_.beta2).addcmul_(gradient, gradient, 1 - settings_.beta2);
  const double unbiased_rate = rate / (1 - std::pow(settings_.beta1, step));
  const double root_of_bias = std::sqrt(1 - std::pow(settings_.beta2, step));
  values.addcdiv_(mean_, square_.sqrt().div_(root_of_bias).add_(settings_.epsilon), -unbiased_rate);
}

}  // namespace fedarena
