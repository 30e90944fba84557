#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fedarena/accounting/conversion.hpp"
#include "fedarena/accounting/event.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// What decides the epsilon of `steps` equal accesses by the sampled Gaussian mechanism.
struct FEDARENA_API Setting {
  double noise_multiplier = 0;
  double rate = 1;
  std::int64_t steps = 1;
  double delta = 0;
};

/// The epsilon of a setting, by any accountant: falls with the noise multiplier and with delta, rises with
/// rate and steps.
using EpsilonOf = std::function<double(const Setting&)>;

/// The quantities of a setting and its epsilon, of which exactly one is absent.
struct FEDARENA_API Knowns {
  std::optional<double> noise_multiplier = {};
  std::optional<double> rate = {};
  std::optional<std::int64_t> steps = {};
  std::optional<double> delta = {};
  std::optional<double> epsilon = {};
};

/// A setting and the epsilon that it has.
struct FEDARENA_API Solution {
  Setting setting;
  double epsilon = 0;
};

/// Finds what is absent: the least noise multiplier, the largest rate, the most steps or the least delta at
/// which the epsilon is at most the known one, or the epsilon itself. The result is on the safe side: its
/// epsilon, which comes with it, is at most the target; and within 1e-12 relative of the boundary (steps: the
/// last whole number). Throws Error where more or less than one is absent, a known value is outside its
/// range, no value reaches the target (with the least epsilon that can be had) or every value does.
FEDARENA_API Solution calibrate(const Knowns& knowns, const EpsilonOf& epsilon_of);

/// The epsilon by RDP at those orders, of Poisson sampling under add/remove.
FEDARENA_API EpsilonOf epsilon_by_rdp(std::vector<double> orders, Conversion conversion = Conversion::kBalle);

}  // namespace fedarena
