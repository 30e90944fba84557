#pragma once

#include <cstdint>

#include "harness/gradients/kernels/vectorised.hpp"

/// Loops that keep many sums in registers and add to them by fused multiply-adds, where processors have
/// these. For files that are compiled to contract expressions (CMakeLists.txt).
namespace fedarena::kernels {

/// What a processor with AVX2 has, and any other gets.
struct SixteenRegisters {
  static constexpr int kCount = 16;
  static constexpr std::int64_t kBytes = 32;
  static constexpr int kRows = 6;  ///< of a product, whose sums with two registers of columns are kept
};
struct ThirtyTwoRegisters {
  static constexpr int kCount = 32;
  static constexpr std::int64_t kBytes = 64;
  static constexpr int kRows = 8;
};

#if defined(__x86_64__) && defined(__GNUC__)
template <typename Body>
[[gnu::target("avx2,fma"), gnu::flatten]] void run_in_avx2_registers(const Body& body) {
  body(SixteenRegisters());
}
template <typename Body>
[[gnu::target("avx512f,avx512vl,fma"), gnu::flatten]] void run_in_avx512_registers(const Body& body) {
  body(ThirtyTwoRegisters());
}
#endif

/// Runs body(registers), compiled again for processors with fused multiply-adds; with them, registers of any
/// width give the same bits. What `body` calls should be inline.
template <typename Body>
void run_in_registers(const Body& body) {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool kHasFma = has_avx2() && __builtin_cpu_supports("fma") != 0;
  if (kHasFma && has_avx512()) return run_in_avx512_registers(body);
  if (kHasFma) return run_in_avx2_registers(body);
#endif
  body(SixteenRegisters());
}

}  // namespace fedarena::kernels
