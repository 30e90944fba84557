#include "accounting/pld/refine.hpp"

#include <algorithm>
#include <cmath>

#include "fedarena/base/error.hpp"

#include "accounting/pld/saddle.hpp"

namespace fedarena::pld {
namespace {

constexpr std::size_t kLeastGrid = std::size_t{1} << 10;
constexpr std::size_t kLargestGrid = std::size_t{1} << 22;  // 32 MiB an array
constexpr double kLargestTail = 37.5;  // of a normal variable; beyond it probabilities are below 1e-307
constexpr double kRoughResolution = 0.05;
constexpr double kFinestResolution = 1e-4;
constexpr double kFirstLook = 0.125;  // of the points, where a coarse bound may do
constexpr int kMostPasses = 10;
constexpr double kShape = 0.03;  // measured: what of the law's slope coarsening leaves

struct Pure {
  double epsilon = 0;
  double count = 0;
};

// What rounding down all losses of pure mechanisms costs at most.
double loss_of_rounding(const std::vector<Pure>& pure, double step) {
  double loss = 0;
  for (const auto& [epsilon, count] : pure) {
    const double index = epsilon / step;
    const double rest = index - std::floor(index + 8 * kRounding * index);
    loss += count * step * std::max(0.0, rest);
  }
  return loss;
}

// A distance of grid points, not much above `length` / `size` where a law is continuous, so that few or no
// losses of pure mechanisms lie between two points: those cannot be rounded down but by a whole step.
double step_for(std::span<const Term> terms, double length, std::size_t size) {
  const double least = length / static_cast<double>(size - 2);
  std::vector<Pure> pure;
  bool continuous = false;
  for (const Term& term : terms) {
    const auto* response = std::get_if<ResponsePair>(&term.pair);
    const auto* laplace = std::get_if<LaplacePair>(&term.pair);
    if (response != nullptr) pure.push_back({response->epsilon, term.count});
    if (laplace != nullptr) pure.push_back({laplace->epsilon, term.count});
    continuous = continuous || response == nullptr;
  }
  if (pure.empty()) return least;
  const double epsilon = pure.front().epsilon;
  const double most = std::floor(epsilon / least);
  if (most < 1) return least;
  // Among many divisors of one epsilon, that which fits the others best; the coarsest of equals.
  constexpr double kTries = 4096;
  const double fewest = std::max(1.0, continuous ? std::ceil(0.75 * most) : 1.0);
  const double stride = std::max(1.0, std::floor((most - fewest) / kTries));
  double best = epsilon / most;
  double least_loss = loss_of_rounding(pure, best);
  const auto tries = static_cast<std::int64_t>(std::ceil((most - fewest) / stride));
  for (std::int64_t index = 0; index < tries; ++index) {
    const double step = epsilon / (fewest + stride * static_cast<double>(index));
    const double loss = loss_of_rounding(pure, step);
    if (loss < least_loss || (loss == least_loss && !continuous && step > best)) {
      best = step;
      least_loss = loss;
    }
  }
  return best;
}

// All terms on one grid.
struct Grid {
  double step = 0;
  std::vector<Discretised> laws;
  std::vector<Copies> upper, lower;
  double offset = 0;  // of the sum of all copies
  double infinite = 0;
  double slip = 0;
};

struct Curves {
  Curve upper, lower;
};

class Refinement {
 public:
  Refinement(const Query& query, double log_delta) : query_(query) {
    double steps = 0;
    for (const Term& term : query.terms) steps += term.count;
    // What is cut off is a millionth of delta at most: 1 - Phi(x) <= e^(-x^2 / 2) / 2.
    const double tail = std::sqrt(2 * std::max(1.0, std::log(steps) + 14 - log_delta));
    for (const Term& term : query.terms) {
      laws_.push_back(law_of(term, query.direction, std::min(tail, kLargestTail)));
    }
    double span = 0;
    for (const Law& law : laws_) {
      for (const auto& segment : law.segments) {
        span = std::max({span, std::abs(segment->lowest()), std::abs(segment->highest())});
      }
      for (const Atom& atom : law.atoms) span = std::max(span, std::abs(atom.loss));
    }
    // Points at so fine a step that the resolution alone decides how many there are.
    rough_ = on_grid(span * 0x1p-40, std::vector(laws_.size(), kRoughResolution));
  }

  const Grid& rough() const { return rough_; }
  void aim(const Saddle& saddle) {
    saddle_ = saddle;
    interval_ = interval_of(rough_.upper, rough_.step, saddle);
    // Of a length even where all losses are alike.
    const double margin = 1e-6 * std::abs(saddle.epsilon) + 1e-200;
    interval_.low -= margin;
    interval_.high += margin;
  }
  const Saddle& saddle() const { return saddle_; }

  // Looks henceforth where the upper lattices lie on a grid of this size, which may be far above the law.
  void adopt(std::size_t size) {
    const double step = step_for(query_.terms, length(), size);
    rough_ = on_grid(step, std::vector(laws_.size(), kRoughResolution));
  }

  // The number of points at which epsilon's error is about `tolerance`: per copy and squared step, a twelfth
  // of 1 + tilt, and of a little of the slope of the law's density. A first guess; the bounds are the
  // measure.
  double points_for(double tolerance) const {
    double factor = 0;
    for (const Copies& copies : rough_.upper) {
      factor += copies.count / 12 * (kShape / deviation_of(copies) + 1 + saddle_.tilt);
    }
    return length() / std::sqrt(tolerance / factor);
  }

  Curves curves(std::size_t size) const {
    const double step = step_for(query_.terms, length(), size);
    std::vector<double> resolutions;
    for (const Copies& copies : rough_.upper) {
      resolutions.push_back(
          std::clamp(0.5 * step / deviation_of(copies), kFinestResolution, kRoughResolution));
    }
    const Grid grid = on_grid(step, resolutions);
    Window window{step, grid.offset,
                  static_cast<std::int64_t>(std::floor((interval_.low - grid.offset) / step)), kLeastGrid};
    while (static_cast<double>(window.size) * step < length() + step) window.size *= 2;
    return {curve(grid, grid.upper, Bound::kUpper, window), curve(grid, grid.lower, Bound::kLower, window)};
  }

 private:
  Grid on_grid(double step, const std::vector<double>& resolutions) const {
    Grid grid;
    grid.step = step;
    grid.laws.reserve(laws_.size());  // copies point into it
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      const Discretised& law = grid.laws.emplace_back(discretise(laws_[i], step, resolutions[i]));
      const double count = query_.terms[i].count;
      grid.upper.push_back({&law.upper, count});
      grid.lower.push_back({&law.lower, count});
      grid.offset += count * law.upper.offset;
      grid.infinite += count * law.infinite;
      grid.slip += count * (law.slip + 4 * kRounding * std::abs(law.upper.offset));
    }
    return grid;
  }

  Curve curve(const Grid& grid, std::span<const Copies> copies, Bound bound, const Window& window) const {
    const auto position = [&](std::int64_t index) {
      return window.offset + window.step * static_cast<double>(window.first + index);
    };
    const double end = position(static_cast<std::int64_t>(window.size));
    const double begin = position(-1);
    const double tilt = saddle_.tilt;
    const Curve::Tails tails{tilted_tail(copies, window.step, tilt, interval_.slope_high, end),
                             tilted_tail(copies, window.step, tilt, -interval_.slope_low, begin),
                             interval_.slope_high};
    return {compose(copies, tilt, window), bound, tails, grid.infinite, grid.slip};
  }

  double length() const { return interval_.high - interval_.low; }
  double deviation_of(const Copies& copies) const {
    const Saddle one = saddle_at(std::span(&copies, 1), rough_.step, saddle_.tilt);
    return std::max(one.deviation / std::sqrt(copies.count), length() * 1e-9);
  }

  Query query_;
  std::vector<Law> laws_;
  Grid rough_;
  Saddle saddle_;
  Interval interval_;
};

std::size_t power_of_two(double points) {
  std::size_t size = kLeastGrid;
  while (size < kLargestGrid && static_cast<double>(size) < points) size *= 2;
  return size;
}

// Refines until the gap is at most what `tolerated` says of the lower bound. The gap falls with the squared
// step.
template <typename Read, typename Tolerated>
Bracket refined(Refinement& refinement, double points, double enough, Bracket best, const Read& read,
                const Tolerated& tolerated) {
  std::size_t size = power_of_two(points);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const Bracket now = read(refinement.curves(size));
    best.upper = std::min(best.upper, now.upper);
    best.lower = std::max(best.lower, now.lower);
    const double excess = (best.upper - best.lower) / tolerated(best.lower);
    if (excess <= 1 || best.upper <= enough || size == kLargestGrid) break;
    size = power_of_two(static_cast<double>(size) * std::clamp(1.1 * std::sqrt(excess), 1.5, 4.0));
  }
  return best;
}

}  // namespace

Bracket bracket_epsilon(const Query& query, double delta, double enough) {
  Refinement refinement(query, std::log(delta));
  const Grid& rough = refinement.rough();
  refinement.aim(saddle_of_delta(rough.upper, rough.step, std::log(delta)));
  const double guess = std::max(refinement.saddle().epsilon, refinement.saddle().deviation * 1e-3);
  const auto read = [&](const Curves& curves) {
    Bracket bracket;
    const double epsilon = curves.upper.epsilon(delta, 0);
    const bool zero = epsilon <= 0 || (curves.upper.lowest() <= 0 && curves.upper.delta(0) <= delta);
    bracket.upper = zero ? 0 : epsilon;
    bracket.lower = std::max(0.0, curves.lower.epsilon(delta, bracket.upper));
    FEDARENA_CHECK(std::isnan(bracket.upper), ==, false);
    // The saddle-point guess was poor: the window goes where the answer is.
    const double found = std::isinf(bracket.upper) ? curves.upper.highest() : bracket.upper;
    if (std::abs(found - refinement.saddle().epsilon) > 2 * refinement.saddle().deviation) {
      refinement.aim(saddle_of_epsilon(rough.upper, rough.step, found));
    }
    return bracket;
  };
  const auto tolerated = [&](double lower) { return query.relative_error * lower + kEpsilonFloor; };
  const double points = refinement.points_for(0.5 * query.relative_error * guess);
  const double inf = std::numeric_limits<double>::infinity();
  Bracket best =
      refined(refinement, enough > 0 ? points * kFirstLook : points, enough, {0, inf}, read, tolerated);
  if (std::isinf(best.upper)) {
    refinement.adopt(kLargestGrid);
    refinement.aim(saddle_of_delta(rough.upper, rough.step, std::log(delta)));
    best.upper = read(refinement.curves(kLargestGrid)).upper;
  }
  return best;
}

Bracket bracket_delta(const Query& query, double epsilon, double enough) {
  // How much of the tails is needed depends on delta itself.
  double log_delta = -60;
  {
    const Refinement guess(query, log_delta);
    log_delta = std::min(0.0, saddle_of_epsilon(guess.rough().upper, guess.rough().step, epsilon).log_delta);
  }
  Refinement refinement(query, log_delta);
  const Grid& rough = refinement.rough();
  refinement.aim(saddle_of_epsilon(rough.upper, rough.step, epsilon));
  const auto read = [&](const Curves& curves) {
    const auto at = [&](const Curve& curve, double outside) {
      return epsilon > curve.highest() ? outside : curve.delta(std::max(epsilon, curve.lowest()));
    };
    Bracket bracket{at(curves.lower, 0), at(curves.upper, curves.upper.delta(curves.upper.highest()))};
    if (epsilon < curves.upper.lowest()) bracket.upper = 1;
    return bracket;
  };
  const auto tolerated = [&](double lower) { return query.relative_error * lower + 1e-250; };
  const double slope = refinement.saddle().tilt + 1 / std::max(refinement.saddle().deviation, 1e-300);
  return refined(refinement, refinement.points_for(0.5 * query.relative_error / slope), enough, {0, 1}, read,
                 tolerated);
}

}  // namespace fedarena::pld
