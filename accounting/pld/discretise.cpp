#include "accounting/pld/discretise.hpp"

#include <algorithm>
#include <cmath>

#include "accounting/pld/coarsen.hpp"

namespace fedarena::pld {
namespace {

constexpr double kLargestSpan = 600;  // of losses: e^600 is finite
constexpr double kHopeless = 1e300;   // a deficit that no gain covers

// The lattices of one law as they fill.
class Builder {
 public:
  Builder(double step, double resolution, double offset) : step_(step), resolution_(resolution) {
    result_.upper.offset = offset;
    result_.lower.offset = offset;
  }

  void add(const Segment& segment) {
    result_.infinite += segment.above();
    if (segment.below() > 0) {
      raise(static_cast<std::int64_t>(std::ceil((segment.lowest() - offset()) / step_)), segment.below());
    }
    std::vector<Quarters> cells;
    double from = segment.lowest();
    auto node = static_cast<std::int64_t>(std::floor((from - offset()) / step_));
    while (from < segment.highest()) {
      const std::int64_t next = node + cell_length(segment, from, node);
      const double to = std::min(segment.highest(), position(next));
      if (to > from) cells.push_back(split(segment, from, to, node, next));
      node = next;
      from = std::max(from, position(next));
    }
    const Lattice lower = coarsen(cells);
    result_.lower.points.insert(result_.lower.points.end(), lower.points.begin(), lower.points.end());
  }

  void add(const Atom& atom) {
    const double index = (atom.loss - offset()) / step_;
    const double nearest = std::round(index);
    const double snap = 8 * kRounding * std::abs(atom.loss);
    result_.slip = std::max(result_.slip, snap);
    constexpr double kError = 64 * kRounding;
    if (std::abs(index - nearest) * step_ <= snap) {
      raise(static_cast<std::int64_t>(nearest), atom.mass * (1 + kError));
      lower(static_cast<std::int64_t>(nearest), atom.mass * (1 - kError));
      return;
    }
    const auto node = static_cast<std::int64_t>(std::floor(index));
    const double part = std::expm1(position(node) - atom.loss) / std::expm1(-step_);
    const double up = std::min(atom.mass, atom.mass * part * (1 + kError) + atom.mass * snap / step_);
    raise(node + 1, up * (1 + kError));
    raise(node, (atom.mass - up) * (1 + kError));
    lower(node, atom.mass * (1 - kError));
  }

  Discretised finish() { return std::move(result_); }

 private:
  double position(std::int64_t index) const { return offset() + static_cast<double>(index) * step_; }
  double offset() const { return result_.upper.offset; }
  void raise(std::int64_t node, double mass) { result_.upper.points.push_back({node, mass}); }
  void lower(std::int64_t node, double mass) {
    if (mass > 0) result_.lower.points.push_back({node, mass});
  }

  std::int64_t cell_length(const Segment& segment, double from, std::int64_t node) const {
    const double wanted = segment.stride(from, resolution_) / step_;
    const double left = std::ceil((segment.highest() - position(node)) / step_);
    std::int64_t length = 1;
    while (static_cast<double>(2 * length) <= std::min(wanted, left)) length *= 2;
    return length;
  }

  // The losses [from, to], which lie between two lattice points: shared out between these for the upper
  // lattice so that their probabilities under P and under Q, mass and the integral of e^-Y, stay; returned in
  // quarters.
  Quarters split(const Segment& segment, double from, double to, std::int64_t node, std::int64_t next) {
    result_.slip = std::max(result_.slip, segment.slip(from) + segment.slip(to));
    const double low = position(node);
    const double high = position(next);
    Quarters cell{.node = node, .next = next, .quarters = {}};
    double mass = 0;
    double excess = 0;
    double error = 0;
    double begin = from;
    for (int i = 0; i < 4; ++i) {
      const double end = i == 3 ? to : std::clamp(low + (high - low) * (i + 1) / 4, from, to);
      if (end <= begin) continue;
      const Part part = segment.between(begin, end);
      // Seen from either end instead of from the part's begin.
      const double gain = part.mass * -std::expm1(low - begin) + std::exp(low - begin) * part.excess;
      const double rounding = part.error + 8 * kRounding;
      double deficit = kHopeless;
      if (high - begin < kLargestSpan) {
        const double most = part.mass * std::expm1(high - begin);
        deficit = std::max(0.0, most - std::exp(high - begin) * part.excess) + 4 * rounding * most;
      }
      cell.quarters[i] = {part.mass * (1 - rounding), gain * (1 - 2 * rounding), deficit};
      mass += part.mass;
      excess += gain;
      error = std::max(error, rounding);
      begin = end;
    }
    const double up = std::min(mass, excess * (1 + 2 * error) / -std::expm1(low - high));
    raise(next, up * (1 + error));
    raise(node, (mass - up) * (1 + error));
    return cell;
  }

  double step_, resolution_;
  Discretised result_;
};

}  // namespace

Discretised discretise(const Law& law, double step, double resolution) {
  double offset = 0;
  if (law.segments.size() == 1 && law.atoms.empty()) {
    offset = std::remainder(law.segments.front()->anchor(step), step);
  }
  Builder builder(step, resolution, offset);
  for (const auto& segment : law.segments) builder.add(*segment);
  for (const Atom& atom : law.atoms) builder.add(atom);
  return builder.finish();
}

}  // namespace fedarena::pld
