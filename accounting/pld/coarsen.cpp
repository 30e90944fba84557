#include "accounting/pld/coarsen.hpp"

#include <algorithm>

namespace fedarena::pld {
namespace {

using Quarter = Quarters::Quarter;

// Bin i gathers what lies around the lower end of cell i: the upper half of cell i - 1 and the lower half of
// cell i. Seen only as "in this bin", its loss is at least that point when its gain covers its deficit.
// Halves alone leave every bin with a surplus where the density rises and a shortage where it falls. So a
// share of the quarter next to the middle of a cell goes to the other end, by a coin that nobody sees.
class Bins {
 public:
  explicit Bins(const std::vector<Quarters>& cells) : cells_(cells), down_(cells.size()), up_(cells.size()) {}

  // What a quarter counts for at its far end exceeds what it counted for at its near end; hence this
  // direction, in which the corrections fade, and the other one in the next.
  void mend_shortages() {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double shortage = deficit(i) - gain(i);
      const Quarter& quarter = cells_[i].quarters[2];
      if (shortage > 0 && quarter.gain > 0) down_[i] = std::min(1.0, shortage / quarter.gain);
    }
  }
  void use_surpluses() {
    for (std::size_t i = cells_.size(); i-- > 1;) {
      if (down_[i - 1] > 0) continue;
      const double surplus = gain(i) - deficit(i);
      const double spare = gain(i - 1) - deficit(i - 1);
      const Quarter& quarter = cells_[i - 1].quarters[1];
      if (surplus <= 0 || spare <= 0 || quarter.mass == 0) continue;
      up_[i - 1] = std::min({1.0, surplus / quarter.deficit, spare / quarter.gain});
    }
  }

  Lattice lattice() const {
    Lattice result;
    const auto add = [&](std::int64_t index, double mass) {
      if (mass > 0) result.points.push_back({index, mass});
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
    return result;
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

}  // namespace

Lattice coarsen(const std::vector<Quarters>& cells) {
  if (cells.empty()) return {};
  Bins bins(cells);
  bins.mend_shortages();
  bins.use_surpluses();
  return bins.lattice();
}

}  // namespace fedarena::pld
