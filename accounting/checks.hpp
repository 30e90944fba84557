#pragma once

namespace fedarena {

/// Error unless 0 <= delta < 1.
void check_delta(double delta);

/// Error unless it is finite and not negative.
void check_noise_multiplier(double noise_multiplier);

}  // namespace fedarena
