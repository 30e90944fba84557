#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "fedarena/base/host_device.hpp"

/// One pair of box_muller. Free of branches, so that compilers put several pairs into one register.
namespace fedarena::normal_pair {

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;

// A whole number below 2^52 as a double: the mantissa of a number that is 2^52 larger.
FEDARENA_HOST_DEVICE inline double small_whole(std::uint64_t number) {
  return std::bit_cast<double>(number | 0x4330'0000'0000'0000U) - 0x1p52;
}

// The upper 53 bits as a multiple of 2^-53, in two parts of which each has a mantissa to itself.
FEDARENA_HOST_DEVICE inline double unit_interval(std::uint64_t word) {
  const double high = small_whole(word >> 32), low = small_whole((word >> 11) & 0x1F'FFFF);
  return high * 0x1p-32 + low * 0x1p-53;
}

// Where `mask` is all ones the first, where it is zero the second.
FEDARENA_HOST_DEVICE inline double choose(std::uint64_t mask, double first, double second) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(first) & mask) |
                               (std::bit_cast<std::uint64_t>(second) & ~mask));
}

// The natural logarithm of a normal number in (0, 1]: x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m - 1, s
// = f / (2 + f), log m = 2 artanh(s) = f - f^2/2 + s (f^2/2 + 2 s^2 (1/3 + s^2/5 + ...)). |s| < 0.1716, so
// that ten terms leave less than 2^-59 of the result.
FEDARENA_HOST_DEVICE inline double logarithm(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  // Where the mantissa is above sqrt(2) this carries into the exponent.
  const std::uint64_t shifted = bits + 0x0009'5F61'9980'C433U;  // 2^52 (2 - sqrt(2)), rounded down
  const double exponent = small_whole(shifted >> 52) - 1023;
  const double m = std::bit_cast<double>((bits - (shifted & ~kMantissa)) + 0x3FF0'0000'0000'0000U);
  const double f = m - 1, s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
  double series = 2.0 / 21;
  series = series * z + 2.0 / 19;
  series = series * z + 2.0 / 17;
  series = series * z + 2.0 / 15;
  series = series * z + 2.0 / 13;
  series = series * z + 2.0 / 11;
  series = series * z + 2.0 / 9;
  series = series * z + 2.0 / 7;
  series = series * z + 2.0 / 5;
  series = series * z + 2.0 / 3;
  // log 2 in two parts, the first of which has no bits for an exponent to spill.
  constexpr double kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33;
  return exponent * kLog2High + (f - (half_square - (s * (half_square + z * series) + exponent * kLog2Low)));
}

// The sine and the cosine on [-pi/4, pi/4] by their Taylor series, which leave less than 2^-60.
FEDARENA_HOST_DEVICE inline double sine_near_zero(double r, double z) {
  double series = 1.0 / 355687428096000;
  series = series * z - 1.0 / 1307674368000;
  series = series * z + 1.0 / 6227020800;
  series = series * z - 1.0 / 39916800;
  series = series * z + 1.0 / 362880;
  series = series * z - 1.0 / 5040;
  series = series * z + 1.0 / 120;
  series = series * z - 1.0 / 6;
  return r + r * z * series;
}

FEDARENA_HOST_DEVICE inline double cosine_near_zero(double z) {
  double series = 1.0 / 20922789888000;
  series = series * z - 1.0 / 87178291200;
  series = series * z + 1.0 / 479001600;
  series = series * z - 1.0 / 3628800;
  series = series * z + 1.0 / 40320;
  series = series * z - 1.0 / 720;
  series = series * z + 1.0 / 24;
  return (1 - 0.5 * z) + z * z * series;
}

/// Two standard normals from two uniform words. The angle, once rounded, is reduced to [-pi/4, pi/4] with
/// pi/2 in three parts, of which the first two have 33 bits, so that up to four of them are doubles.
FEDARENA_HOST_DEVICE inline void make(std::uint64_t first, std::uint64_t second, double* normals) {
  const double radius = std::sqrt(0.0 - 2 * logarithm(1 - unit_interval(first)));
  const double angle = 2 * std::numbers::pi * unit_interval(second);
  constexpr double kRound = 0x1.8p52;  // adding it rounds to a whole number, which stands in the last bits
  const double rounded = angle * (2 / std::numbers::pi) + kRound;
  const std::uint64_t quadrant = std::bit_cast<std::uint64_t>(rounded);
  const double turns = rounded - kRound;
  constexpr double kHalfPiHigh = 0x1.921fb54400000p+0, kHalfPiMiddle = 0x1.0b4611a600000p-34,
                   kHalfPiLow = 0x1.3198a2e037073p-69;
  const double r = ((angle - turns * kHalfPiHigh) - turns * kHalfPiMiddle) - turns * kHalfPiLow, z = r * r;
  const double sine = sine_near_zero(r, z), cosine = cosine_near_zero(z);
  const std::uint64_t odd = 0 - (quadrant & 1);
  // Negative: the cosine in the quadrants 1 and 2, the sine in 2 and 3.
  const std::uint64_t cosine_sign = ((quadrant + 1) << 62) & kSignBit,
                      sine_sign = (quadrant << 62) & kSignBit;
  normals[0] =
      radius * std::bit_cast<double>(std::bit_cast<std::uint64_t>(choose(odd, sine, cosine)) ^ cosine_sign);
  normals[1] =
      radius * std::bit_cast<double>(std::bit_cast<std::uint64_t>(choose(odd, cosine, sine)) ^ sine_sign);
}

}  // namespace fedarena::normal_pair
