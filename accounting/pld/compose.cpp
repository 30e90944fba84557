#include "accounting/pld/compose.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <fftw3.h>
#include <memory>
#include <mutex>
#include <new>

#include "fedarena/base/error.hpp"

namespace fedarena::pld {
namespace {

// FFTW's planner is not thread-safe; its transforms are.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

struct Free {
  void operator()(void* memory) const { fftw_free(memory); }
};

template <typename T>
std::unique_ptr<T, Free> allocated(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T, Free>(static_cast<T*>(memory));
}

// Real discrete Fourier transforms of a size that is a power of two, in memory of their own. Bit-identical
// on repetition; any number of threads may have their own.
class Fourier {
 public:
  explicit Fourier(std::size_t size)
      : size_(size),
        values_(allocated<double>(fftw_alloc_real(size))),
        frequencies_(allocated<fftw_complex>(fftw_alloc_complex(size / 2 + 1))) {
    FEDARENA_CHECK(std::has_single_bit(size), ==, true);
    const std::lock_guard lock(planner());
    const int length = static_cast<int>(size);
    forward_ = fftw_plan_dft_r2c_1d(length, values_.get(), frequencies_.get(), FFTW_ESTIMATE);
    inverse_ = fftw_plan_dft_c2r_1d(length, frequencies_.get(), values_.get(), FFTW_ESTIMATE);
  }
  ~Fourier() {
    const std::lock_guard lock(planner());
    fftw_destroy_plan(forward_);
    fftw_destroy_plan(inverse_);
  }
  Fourier(const Fourier&) = delete;
  Fourier& operator=(const Fourier&) = delete;

  std::span<double> values() { return {values_.get(), size_}; }
  // size / 2 + 1; std::complex and fftw_complex have one layout by their standards.
  std::span<std::complex<double>> frequencies() {
    return {reinterpret_cast<std::complex<double>*>(frequencies_.get()), size_ / 2 + 1};
  }
  void forward() { fftw_execute(forward_); }  // frequencies from values; destroys the values
  void inverse() { fftw_execute(inverse_); }  // size * values from frequencies; destroys those

  // Bounds the error of every frequency over the sum of |values|, and of every value over the sum of
  // |frequencies|. Each path of a fast transform passes log2(size) stages of one addition and one complex
  // product whose factor has an error of its own, together under 8 roundings (Higham, Accuracy and
  // Stability, 2nd ed., Theorem 24.2: 7).
  double error() const { return 8 * kRounding * static_cast<double>(std::bit_width(size_)); }

 private:
  std::size_t size_;
  std::unique_ptr<double, Free> values_;
  std::unique_ptr<fftw_complex, Free> frequencies_;
  fftw_plan forward_ = nullptr;
  fftw_plan inverse_ = nullptr;
};

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
