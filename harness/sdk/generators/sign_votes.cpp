#include "harness/sdk/generators/sign_votes.hpp"

#include <tuple>

#include <ATen/ATen.h>

namespace fedarena::generators {

torch::Tensor top_signs(const torch::Tensor& slopes, double scale, const torch::Tensor& draws) {
  const auto [sizes, places] = slopes.abs().topk(draws.size(1), /*dim=*/1);
  // All slopes may be zero, and their signs are coins then.
  const torch::Tensor most = sizes.narrow(1, 0, 1).clamp(1e-30, scale);
  const torch::Tensor positive = slopes.gather(1, places) / (2 * most) + 0.5;
  const torch::Tensor signs = draws.lt(positive).to(slopes.options()) * 2 - 1;
  return torch::zeros_like(slopes).scatter_(1, places, signs);
}

torch::Tensor crossings(const torch::Tensor& votes, std::int64_t voters, double share) {
  const double least = share * static_cast<double>(voters);
  return votes.gt(least).to(votes.options()) - votes.lt(-least).to(votes.options());
}

}  // namespace fedarena::generators
