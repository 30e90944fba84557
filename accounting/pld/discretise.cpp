#include "accounting/pld/discretise.hpp"

#include <algorithm>
#include <cmath>

namespace fedarena::pld {
namespace {

constexpr double kLargestSpan = 600;  // of losses: e^600 is finite
constexpr double kHopeless = 1e300;   // a deficit that no gain covers

// The four quarters of the losses between two lattice points, for coarsening. Bounds that err on the safe
// side.
struct Quarters {
  struct Quarter {
    double mass = 0;     // at most its probability
    double gain = 0;     // at most the integral of 1 - e^(node - Y)
    double deficit = 0;  // at least the integral of e^(next - Y) - 1
  };
  std::int64_t node = 0, next = 0;
  Quarter quarters[4];
};

// Bin i gathers what lies around the lower end of cell i: the upper half of cell i - 1 and the lower half of
// cell i. Seen only as "in this bin", its loss is at least that point when its gain covers its deficit.
// Halves alone leave every bin with a surplus where the density rises and a shortage where it falls. So a
// share of the quarter next to the middle of a cell goes to the other end, by a coin that nobody sees.
//
// Of the points delta is at most that of the law, for any composition: losses are told apart only up to the
// lattice point that they are assigned to, which can only hide something, and what is left of a loss above
// its point is rounded away. Cells follow one another from below.
class Bins {
 public:
  explicit Bins(const std::vector<Quarters>& cells) : cells_(cells), down_(cells.size()), up_(cells.size()) {
    // What a quarter counts for at its far end exceeds what it counted for at its near end; hence this
    // direction, in which the corrections fade, for shortages, and the other one for surpluses.
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double shortage = deficit(i) - gain(i);
      const Quarters::Quarter& quarter = cells_[i].quarters[2];
      if (shortage > 0 && quarter.gain > 0) down_[i] = std::min(1.0, shortage / quarter.gain);
    }
    for (std::size_t i = cells_.size(); i-- > 1;) {
      if (down_[i - 1] > 0) continue;
      const double surplus = gain(i) - deficit(i);
      const double spare = gain(i - 1) - deficit(i - 1);
      const Quarters::Quarter& quarter = cells_[i - 1].quarters[1];
      if (surplus <= 0 || spare <= 0 || quarter.mass == 0) continue;
      up_[i - 1] = std::min({1.0, surplus / quarter.deficit, spare / quarter.gain});
    }
  }

  // At least one cell.
  void append_to(std::vector<Lattice::Point>& points) const {
    const auto add = [&](std::int64_t index, double mass) {
      if (mass > 0) points.push_back({index, mass});
    };
    for (std::size_t i = 0; i <= cells_.size(); ++i) {
      double mass = 0;
      if (i < cells_.size()) {
        const auto& quarters = cells_[i].quarters;
        mass = quarters[0].mass + (1 - up_[i]) * quarters[1].mass + down_[i] * quarters[2].mass;
      }
      if (i > 0) {
        const auto& quarters = cells_[i - 1].quarters;
        const double below =
            quarters[3].mass + (1 - down_[i - 1]) * quarters[2].mass + up_[i - 1] * quarters[1].mass;
        // What no gain covers is told apart and rounded down.
        const double shortage = deficit(i) - gain(i);
        const double kept = shortage > 0 ? gain(i) / deficit(i) : 1;
        mass += kept * below;
        add(cells_[i - 1].node, (1 - kept) * below);
      }
      add(i < cells_.size() ? cells_[i].node : cells_.back().next, mass);
    }
  }

 private:
  double gain(std::size_t bin) const {
    if (bin == cells_.size()) return 0;
    const auto& quarters = cells_[bin].quarters;
    return quarters[0].gain + (1 - up_[bin]) * quarters[1].gain + down_[bin] * quarters[2].gain;
  }
  double deficit(std::size_t bin) const {
    if (bin == 0) return 0;
    const auto& quarters = cells_[bin - 1].quarters;
    return quarters[3].deficit + (1 - down_[bin - 1]) * quarters[2].deficit +
           up_[bin - 1] * quarters[1].deficit;
  }

  const std::vector<Quarters>& cells_;
  std::vector<double> down_, up_;  // shares of each cell's third and second quarter
};

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
    if (!cells.empty()) Bins(cells).append_to(result_.lower.points);
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
