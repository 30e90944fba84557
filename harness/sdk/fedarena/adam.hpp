#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/params.hpp"

namespace fedarena {

/// Adam (Kingma and Ba, ICLR 2015, Algorithm 1) on one tensor, with the operations of PyTorch's: images, or
/// all parameters of a model.
class FEDARENA_API Adam {
 public:
  /// Decay of the two moments, in [0, 1), and what is added to the root of the second.
  struct Settings {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  };

  Adam() = default;
  explicit Adam(Settings settings) : settings_(settings) {}

  /// One step against `gradient`, in place; always on the same `values`, in their shape.
  void step(const torch::Tensor& values, const torch::Tensor& gradient, double rate);
  void step(Params& params, const Params& gradient, double rate) {
    step(params.flat(), gradient.flat(), rate);
  }

  /// What it remembers of the gradients before, each in the shape of the values; zero at first.
  struct Moments {
    torch::Tensor mean, square;
  };
  /// Step number `step`, from 1, of whoever keeps the moments: they change in place as the values do.
  static void step(const Settings& settings, const Moments& moments, std::int64_t step,
                   const torch::Tensor& values, const torch::Tensor& gradient, double rate);

 private:
  Settings settings_;
  std::int64_t steps_ = 0;
  Moments moments_;
};

}  // namespace fedarena
