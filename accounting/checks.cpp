#include "accounting/checks.hpp"

#include "fedarena/base/error.hpp"

namespace fedarena {

void check_delta(double delta) {
  if (!(delta >= 0 && delta < 1)) throw Error::of("delta is {}; allowed: 0 <= delta < 1", delta);
}

void check_noise_multiplier(double noise_multiplier) {
  if (!(noise_multiplier >= 0 && noise_multiplier < kInfinity)) {
    throw Error::of("the noise multiplier is {}; allowed: a finite number >= 0", noise_multiplier);
  }
}

}  // namespace fedarena
