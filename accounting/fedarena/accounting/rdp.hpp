#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "fedarena/accounting/conversion.hpp"
#include "fedarena/accounting/event.hpp"
#include "fedarena/accounting/unproven.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// The orders of that name, ascending: "opacus" (1.1 to 10.9 by 0.1, then 12 to 63) or "default" (a superset
/// of it and of the sets of dp_accounting and TensorFlow Privacy, hence never worse). Throws Error with the
/// nearest name.
FEDARENA_API std::vector<double> rdp_orders(std::string_view name);

/// The Rényi divergence of that order, > 1 and finite, between the outputs of one event on the worst pair of
/// neighbours: the larger of the two directions, or a bound on it (docs/accounting.md says which). Infinity
/// for an exact access, for noise 0 and beyond the range of double. Throws Error for an event or an order
/// outside its documentation, Unproven for an event without a bound.
FEDARENA_API double rdp(const Event& event, double order);
/// The same for many orders, of which much of the work is shared.
FEDARENA_API std::vector<double> rdp(const Event& event, std::span<const double> orders);

/// Composes events that are chosen in any way, also after looking at earlier answers. A copy is cheap and
/// shares the curves, so that a privacy filter can ask what an event would cost; copies are not for two
/// threads at once.
class FEDARENA_API RdpAccountant {
 public:
  /// Orders, each > 1, at least one.
  explicit RdpAccountant(std::vector<double> orders);

  /// Adds an event `count` >= 0 times. Each distinct event's curve is computed once. Throws as `rdp` does,
  /// and the accountant is as before.
  void add(const Event& event, std::int64_t count = 1);

  /// The composed epsilon; the sum of the pure epsilons where all events have one and it is smaller.
  RdpEpsilon epsilon(double delta, Conversion conversion = Conversion::kBalle) const;
  const std::vector<double>& orders() const;
  /// The composed curve, one divergence per order.
  std::span<const double> rdp() const { return total_; }
  /// The curve of one event.
  std::span<const double> curve(const Event& event);

 private:
  struct Curves;
  std::shared_ptr<Curves> curves_;
  std::vector<double> total_;
  double pure_ = 0;
};

}  // namespace fedarena
