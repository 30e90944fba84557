#include "accounting/pld/compose.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "accounting/pld/fourier.hpp"

namespace fedarena::pld {
namespace {

// |frequency| below e^-100 of the whole is nothing, and is counted as error.
constexpr double kNegligible = -100;

std::size_t wrapped(std::int64_t index, std::size_t size) {
  return static_cast<std::size_t>(index) & (size - 1);
}

// A frequency of the composition as it grows over the terms.
struct Frequency {
  double log_modulus = 0;
  double log_bound = 0;  // of the exact modulus
  double phase = 0;      // in turns, without its integer part
  double error = 0;      // bounds the relative error
};

class Composer {
 public:
  Composer(double tilt, const Window& window) : window_(window), fourier_(window.size) {
    sum_.window = window;
    sum_.tilt = tilt;
    product_.resize(window.size / 2 + 1);
  }

  void multiply(const Copies& copies) {
    const double normal = log_moment(*copies.lattice, window_.step, sum_.tilt);
    const std::span values = fourier_.values();
    std::fill(values.begin(), values.end(), 0.0);
    const auto points = static_cast<double>(copies.lattice->points.size());
    double total = 0;
    double largest = 0;
    for (const auto& [index, mass] : copies.lattice->points) {
      const double exponent =
          sum_.tilt * (copies.lattice->offset + window_.step * static_cast<double>(index));
      const double tilted = mass * std::exp(exponent - normal);
      values[wrapped(index, window_.size)] += tilted;
      total += tilted;
      if (tilted > 0) largest = std::max(largest, std::abs(exponent));
    }
    sum_.log_scale += copies.count * normal;
    // Of every tilted mass: its exponent, the exponential, sums into one value.
    sum_.log_error += copies.count * kRounding * (8 * (largest + std::abs(normal)) + 32 + points);
    fourier_.forward();
    raise(copies.count, fourier_.error() * total * (1 + 1e-6));
  }

  TiltedSum finish() {
    const std::span frequencies = fourier_.frequencies();
    double errors = 0;
    double moduli = 0;
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const Frequency& frequency = product_[i];
      const double twice = i == 0 || 2 * i == window_.size ? 1 : 2;
      const double bound = std::exp(frequency.log_bound);
      const double modulus = frequency.log_bound < kNegligible ? 0 : std::exp(frequency.log_modulus);
      if (modulus == 0) {
        frequencies[i] = 0;
        errors += twice * bound;
        continue;
      }
      frequencies[i] = std::polar(modulus, 2 * M_PI * frequency.phase);
      moduli += twice * modulus;
      // Two bounds, either of which may be the better one.
      const double relative = std::expm1(std::min(frequency.error, 700.0));
      errors += twice * std::min(modulus * relative, modulus + bound);
    }
    fourier_.inverse();
    const auto size = static_cast<double>(window_.size);
    sum_.error = (errors + moduli * (fourier_.error() + 16 * kRounding)) / size * (1 + 1e-6);
    sum_.values.resize(window_.size);
    const std::span values = fourier_.values();
    for (std::size_t i = 0; i < window_.size; ++i) {
      sum_.values[i] = values[wrapped(window_.first + static_cast<std::int64_t>(i), window_.size)] / size;
    }
    return std::move(sum_);
  }

 private:
  // The frequencies to the power `count`, multiplied into the product; `error` bounds that of each.
  void raise(double count, double error) {
    const std::span frequencies = fourier_.frequencies();
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      Frequency& product = product_[i];
      if (product.log_bound < kNegligible) continue;
      const double modulus = std::abs(frequencies[i]);
      const double log_bound = std::log(modulus + error);
      product.log_bound += count * (log_bound + kRounding * (4 * std::abs(log_bound) + 4));
      if (product.log_bound < kNegligible) continue;
      if (modulus == 0) {
        product.log_modulus = -std::numeric_limits<double>::infinity();
        continue;
      }
      const double log_modulus = std::log(modulus);
      const double turns = std::arg(frequencies[i]) / (2 * M_PI);
      const double whole = count * turns;
      product.log_modulus += count * log_modulus;
      product.phase += whole - std::round(whole);
      product.phase -= std::round(product.phase);
      // e^x - 1 bounds |1 + error / modulus|^count - 1 at x = count * error / modulus; then the rounding of
      // log, arg and their multiples.
      product.error +=
          count * (error / modulus + kRounding * (4 * std::abs(log_modulus) + 32 * std::abs(turns) + 4));
    }
  }

  Window window_;
  Fourier fourier_;
  TiltedSum sum_;
  std::vector<Frequency> product_;
};

}  // namespace

double log_moment(const Lattice& lattice, double step, double tilt) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const auto& [index, mass] : lattice.points) {
    if (mass > 0) largest = std::max(largest, tilt * (lattice.offset + step * static_cast<double>(index)));
  }
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (const auto& [index, mass] : lattice.points) {
    sum += mass * std::exp(tilt * (lattice.offset + step * static_cast<double>(index)) - largest);
  }
  return largest + std::log(sum);
}

double log_moment(std::span<const Copies> copies, double step, double tilt) {
  double sum = 0;
  for (const auto& [lattice, count] : copies) sum += count * log_moment(*lattice, step, tilt);
  return sum;
}

double offset_of(std::span<const Copies> copies) {
  double sum = 0;
  for (const auto& [lattice, count] : copies) sum += count * lattice->offset;
  return sum;
}

double tilted_tail(std::span<const Copies> copies, double step, double tilt, double slope, double edge) {
  double exponent = -slope * edge;
  double magnitude = std::abs(slope * edge);
  for (const auto& [lattice, count] : copies) {
    const double tilted = log_moment(*lattice, step, tilt + slope);
    const double plain = log_moment(*lattice, step, tilt);
    exponent += count * (tilted - plain);
    // A sum of n terms has an error of n roundings at most.
    magnitude += count * (std::abs(tilted) + std::abs(plain) + static_cast<double>(lattice->points.size()));
  }
  return std::min(1.0, std::exp(exponent + 16 * kRounding * magnitude));
}

TiltedSum compose(std::span<const Copies> copies, double tilt, const Window& window) {
  Composer composer(tilt, window);
  for (const Copies& term : copies) composer.multiply(term);
  return composer.finish();
}

}  // namespace fedarena::pld
