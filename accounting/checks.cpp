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

void check_not_negative(double value, std::string_view what) {
  if (!(value >= 0 && value < kInfinity)) {
    throw Error::of("{} is {}; allowed: a finite number >= 0", what, value);
  }
}

}  // namespace fedarena
