#include "accounting/checks.hpp"

#include "fedarena/base/error.hpp"

namespace fedarena {

void check_delta(double delta) {
  if (!(delta >= 0 && delta < 1)) throw Error::of("delta is {}; allowed: 0 <= delta < 1", delta);
}

void check_epsilon(double epsilon) {
  if (!(epsilon >= 0)) throw Error::of("epsilon is {}; allowed: a number >= 0", epsilon);
}

void check_order(double order) {
  if (!(order > 1 && order < kInfinity))
    throw Error::of("an order is {}; allowed: a finite number > 1", order);
}

void check_noise_multiplier(double noise_multiplier) {
  if (!(noise_multiplier >= 0 && noise_multiplier < kInfinity)) {
    throw Error::of("the noise multiplier is {}; allowed: a finite number >= 0", noise_multiplier);
  }
}

}  // namespace fedarena
