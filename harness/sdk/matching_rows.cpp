#include "harness/sdk/matching_rows.hpp"

#include <vector>

#include <ATen/ATen.h>

namespace fedarena {
namespace {

template <typename T>
torch::Tensor moved(const std::vector<T>& numbers, const torch::Tensor& beside) {
  constexpr torch::ScalarType kType = c10::CppTypeToScalarType<T>::value;  // not the default one
  return torch::tensor(numbers, kType).to(beside.device(), kType, /*non_blocking=*/true);
}

}  // namespace

MatchingDistance matching_distance_by_rows(const Params& matched, const Params& target,
                                           const GradientMatching& how) {
  const torch::Tensor m = matched.flat().to(torch::kFloat64), t = target.flat().to(torch::kFloat64);
  const torch::Tensor products = at::stack({m * m, t * t, m * t, (m - t).square()});
  std::vector<std::int64_t> ends;      // of each row, among all numbers
  std::vector<double> cosine_weights;  // of each row's cosine distance
  std::vector<torch::Tensor> sums;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < matched.size(); ++i) {
    const std::int64_t count = matched[i].dim() > 1 ? matched[i].size(0) : 1,
                       size = matched[i].numel() / count;
    sums.push_back(products.narrow(1, begin, count * size).view({products.size(0), count, size}).sum(2));
    const double weight = how.criterion == "squared"  ? 0
                          : how.cosine_rows == "mean" ? 1 / static_cast<double>(count)
                                                      : 1;
    for (std::int64_t row = 0; row < count; ++row) ends.push_back(begin += size);
    cosine_weights.insert(cosine_weights.end(), static_cast<std::size_t>(count), weight);
  }
  const torch::Tensor of_rows = at::cat(sums, 1);  // [4, rows]
  const torch::Tensor lengths = of_rows.narrow(0, 0, 2).sqrt();
  const torch::Tensor least = (relative_rounding(matched) * of_rows.narrow(0, 0, 2).sum(1, true).sqrt())
                                  .clamp_min(kLeastLength);  // [2, 1]
  const torch::Tensor bounded = at::maximum(lengths, least);
  const torch::Tensor weights = moved(cosine_weights, m);
  const torch::Tensor directed = weights * lengths.gt(least).all(0);
  const torch::Tensor scale = directed / (bounded[0] * bounded[1]);
  const torch::Tensor cosines = scale * of_rows[2];  // times their weights
  // d (1 - cos) / d m = cos * m / |m|^2 - t / (|m| |t|)
  torch::Tensor along = cosines / bounded[0].square(), toward = scale;
  torch::Tensor value = (weights - cosines).sum();
  if (how.criterion != "cosine") {
    const double weight = how.criterion == "squared" ? 1 : how.squared_weight;
    along = along + 2 * weight;
    toward = toward + 2 * weight;
    value = value + weight * of_rows[3].sum();
  }
  const torch::Tensor row_of = at::bucketize(at::arange(m.numel(), m.options().dtype(torch::kInt64)),
                                             moved(ends, m), /*out_int32=*/false, /*right=*/true);
  const torch::Tensor slope = along.index_select(0, row_of) * m - toward.index_select(0, row_of) * t;
  return {value.item<double>(), Params(matched.layout(), slope.to(matched.flat().scalar_type()))};
}

}  // namespace fedarena
