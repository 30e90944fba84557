#include "fedarena/matching.hpp"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "fedarena/algorithm.hpp"

#include "harness/sdk/matching_rows.hpp"

namespace fedarena {
namespace {

double rounding(const Params& gradient) {
  return std::max(kLeastLength, relative_rounding(gradient) * norm(gradient));
}

struct Rows {
  torch::Tensor matched, target;  // [rows, the rest], in double
};

Rows rows_of(const torch::Tensor& matched, const torch::Tensor& target) {
  const std::int64_t rows = matched.dim() > 1 ? matched.size(0) : 1;
  return {matched.to(torch::kFloat64).reshape({rows, -1}), target.to(torch::kFloat64).reshape({rows, -1})};
}

// Sum over rows of 1 - cos; adds `weight` times its derivative in the matched rows to `slope`.
double add_cosine(const Rows& rows, double least, double least_target, double weight, torch::Tensor& slope) {
  const torch::Tensor lengths = rows.matched.norm(2, /*dim=*/1, /*keepdim=*/true);
  const torch::Tensor target_lengths = rows.target.norm(2, /*dim=*/1, /*keepdim=*/true);
  const torch::Tensor directed =
      lengths.gt(least).logical_and(target_lengths.gt(least_target)).to(torch::kFloat64);
  const torch::Tensor from = rows.matched / lengths.clamp_min(least);
  const torch::Tensor to = rows.target / target_lengths.clamp_min(least_target);
  const torch::Tensor cosines = (from * to).sum(1, /*keepdim=*/true) * directed;
  // d cos / d matched = (to - cos * from) / |matched|
  slope -= weight * directed * (to - cosines * from) / lengths.clamp_min(least);
  return weight * (static_cast<double>(cosines.size(0)) - cosines.sum().item<double>());
}

}  // namespace

Schema<GradientMatching> GradientMatching::schema() {
  return {
      {"criterion", &GradientMatching::criterion,
       "distance between gradients: cosine of rows, their squared distance, or the one plus squared_weight "
       "times the other",
       Constraint::one_of({"cosine+squared", "cosine", "squared"})},
      {"squared_weight", &GradientMatching::squared_weight,
       "weight of the squared distance in the criterion \"cosine+squared\"", Constraint::at_least(0)},
      {"cosine_rows", &GradientMatching::cosine_rows,
       "how a tensor's cosine distances are put together: the sum over its rows (the paper) or their mean "
       "(its code)",
       Constraint::one_of({"sum", "mean"})},
  };
}

MatchingDistance matching_distance(const Params& matched, const Params& target, const GradientMatching& how) {
  if (!matched.flat().is_cpu()) return matching_distance_by_rows(matched, target, how);
  MatchingDistance distance{.slope = zeros_like(matched)};
  const double least = rounding(matched), least_target = rounding(target);
  for (std::size_t i = 0; i < matched.size(); ++i) {
    const Rows rows = rows_of(matched[i], target[i]);
    torch::Tensor slope = torch::zeros_like(rows.matched);
    if (how.criterion != "squared") {
      const double weight = how.cosine_rows == "mean" ? 1 / static_cast<double>(rows.matched.size(0)) : 1;
      distance.value += add_cosine(rows, least, least_target, weight, slope);
    }
    if (how.criterion != "cosine") {
      const double weight = how.criterion == "squared" ? 1 : how.squared_weight;
      const torch::Tensor difference = rows.matched - rows.target;
      slope += 2 * weight * difference;
      distance.value += weight * difference.square().sum().item<double>();
    }
    distance.slope[i].copy_(slope.reshape(matched[i].sizes()));
  }
  return distance;
}

torch::Tensor matching_slope(const GradientMatching& how, const Client& client, const Params& at,
                             const Batch& images, const Params& target) {
  return client.compute.input_gradient(at, images, [&](const Params& own) {
    MatchingDistance distance = matching_distance(own, target, how);
    client.observed.add("matching-loss", distance.value);
    return std::move(distance.slope);
  });
}

}  // namespace fedarena
