#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>

namespace fedarena::pld {

/// Real discrete Fourier transforms of a size that is a power of two, in memory of their own. Bit-identical
/// on repetition; any number of threads may have their own.
class Fourier {
 public:
  explicit Fourier(std::size_t size);
  ~Fourier();
  Fourier(const Fourier&) = delete;
  Fourier& operator=(const Fourier&) = delete;

  std::span<double> values();                     ///< size
  std::span<std::complex<double>> frequencies();  ///< size / 2 + 1
  void forward();                                 ///< frequencies from values; destroys the values
  void inverse();                                 ///< size * values from frequencies; destroys those

  /// Bounds the error of every frequency over the sum of |values|, and of every value over the sum of
  /// |frequencies|. Each path of a fast transform passes log2(size) stages of one addition and one complex
  /// product whose factor has an error of its own, together under 8 roundings (Higham, Accuracy and
  /// Stability, 2nd ed., Theorem 24.2: 7).
  double error() const;

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace fedarena::pld
