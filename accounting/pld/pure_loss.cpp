#include <cmath>

#include "accounting/pld/losses.hpp"

namespace fedarena::pld {
namespace {

// Between the two centres the loss y has the density e^((y - epsilon)/2) / 4 on (-epsilon, epsilon).
class BetweenCentres final : public Segment {
 public:
  explicit BetweenCentres(double epsilon) : epsilon_(epsilon) {}
  double lowest() const override { return -epsilon_; }
  double highest() const override { return epsilon_; }
  double below() const override { return 0; }
  double above() const override { return 0; }
  Part between(double from, double to) const override {
    const double height = 0.5 * std::exp((from - epsilon_) / 2);
    const double sinh = std::sinh((to - from) / 4);
    return {height * std::expm1((to - from) / 2), height * 4 * sinh * sinh, 16 * kRounding * (1 + epsilon_)};
  }
  double stride(double /*loss*/, double resolution) const override { return resolution * epsilon_; }
  double anchor(double /*step*/) const override { return 0; }
  double slip(double loss) const override { return 4 * kRounding * std::abs(loss); }

 private:
  double epsilon_;
};

}  // namespace

Law laplace_loss(double epsilon) {
  Law law;
  law.atoms = {{-epsilon, 0.5 * std::exp(-epsilon)}, {epsilon, 0.5}};
  law.segments.push_back(std::make_unique<BetweenCentres>(epsilon));
  return law;
}

Law response_loss(double epsilon, double categories) {
  const double other = std::exp(-epsilon);
  const double sum = 1 + (categories - 1) * other;
  Law law;
  law.atoms = {{-epsilon, other / sum}, {epsilon, 1 / sum}};
  if (categories > 2) law.atoms.push_back({0, (categories - 2) * other / sum});
  return law;
}

}  // namespace fedarena::pld
