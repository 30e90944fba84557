#include "fedarena/adam.hpp"

#include <cmath>

#include <ATen/ATen.h>

#include "harness/sdk/factor.hpp"

namespace fedarena {

void Adam::step(const torch::Tensor& values, const torch::Tensor& gradient, double rate) {
  if (steps_ == 0) moments_ = {torch::zeros_like(values), torch::zeros_like(values)};
  step(settings_, moments_, ++steps_, values, gradient, rate);
}

void Adam::step(const Settings& settings, const Moments& moments, std::int64_t step,
                const torch::Tensor& values, const torch::Tensor& gradient, double rate) {
  const torch::NoGradGuard no_graph;
  const auto number = static_cast<double>(step);
  moments.mean.mul_(settings.beta1).add_(gradient, 1 - settings.beta1);
  moments.square.mul_(settings.beta2).addcmul_(gradient, gradient, 1 - settings.beta2);
  const double unbiased_rate = rate / (1 - std::pow(settings.beta1, number));
  const double root_of_bias = std::sqrt(1 - std::pow(settings.beta2, number));
  values.addcdiv_(moments.mean, moments.square.sqrt().div_(root_of_bias).add_(settings.epsilon),
                  within(-unbiased_rate, values));
}

}  // namespace fedarena
