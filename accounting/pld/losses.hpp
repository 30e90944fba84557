#pragma once

#include <memory>

#include "accounting/pld/loss.hpp"

namespace fedarena::pld {

/// A normal variable and its shifted self: N = N(0, sigma^2), S = N(1, sigma^2), sampled at `rate` in (0, 1].
struct SampledNormal {
  double rate = 1;
  double sigma = 1;
  bool operator==(const SampledNormal&) const = default;
};

/// The loss of ((1 - rate) N + rate S, N): what a record's removal shows. Part of it only: that above 0, or
/// all. Normal tails beyond `tail` standard deviations are cut off.
std::unique_ptr<Segment> removal_loss(const SampledNormal& normal, double tail, bool above_zero_only);
/// The loss of (N, (1 - rate) N + rate S): what a record's addition shows. That below 0, or all.
std::unique_ptr<Segment> addition_loss(const SampledNormal& normal, double tail, bool below_zero_only);

/// The loss of ((1 - rate) N + rate S, (1 - rate) N + rate S'), S' = N(-1, sigma^2), rate < 1: what the
/// exchange of a record for its opposite shows.
std::unique_ptr<Segment> exchange_loss(const SampledNormal& normal, double tail);

}  // namespace fedarena::pld
