#include "harness/oracle/laplace_mechanism.hpp"

#include <cmath>
#include <utility>

#include "fedarena/base/error.hpp"

#include "harness/oracle/cache_pieces.hpp"

namespace fedarena {
namespace {

// What is written down of noise of that scale.
Event event_of(double scale, Event noised) { return scale > 0 ? std::move(noised) : ExactAccess{"messages"}; }

}  // namespace

LaplaceRelease LaplaceRelease::bounded(std::int64_t dimension, double scale, double distance,
                                       RoundAccesses& book) {
  book.add(event_of(scale, Laplace{dimension, distance / scale}));
  return {dimension, scale};
}

LaplaceRelease LaplaceRelease::metric(std::int64_t dimension, double scale, RoundAccesses& book) {
  book.add(event_of(scale, MetricLaplace{dimension, scale}));
  return {dimension, scale};
}

LaplaceRelease LaplaceRelease::relative(std::int64_t dimension, double factor, RoundAccesses& book) {
  book.add(ExactAccess{"messages, under noise scaled by their own norm"});
  if (factor > 0) book.add(Nominal{"n/nu", static_cast<double>(dimension) / factor});
  return {dimension, factor, true};
}

void LaplaceRelease::noise(const torch::Tensor& sum, RandomSource& source, double norm) const {
  FEDARENA_CHECK(sum.numel(), ==, dimension_);
  const double scale = relative_ ? scale_ * norm / static_cast<double>(dimension_) : scale_;
  if (scale == 0) return;
  const torch::Tensor values = torch::empty({dimension_}, torch::kFloat64);
  double squares = 0;
  for_each_piece(values, [&](const torch::Tensor& piece, std::int64_t) {
    source.fill_normal({piece.data_ptr<double>(), static_cast<std::size_t>(piece.numel())});
    squares += piece.square().sum().item<double>();
  });
  const double radius = scale * source.gamma(static_cast<double>(dimension_));
  const double factor = radius / std::sqrt(squares);
  for_each_piece(sum.view({-1}), [&](const torch::Tensor& piece, std::int64_t begin) {
    // Scaled in double: a float would round the radius before it is used.
    piece.add_((values.narrow(0, begin, piece.numel()) * factor).to(piece.options()));
  });
}

}  // namespace fedarena
