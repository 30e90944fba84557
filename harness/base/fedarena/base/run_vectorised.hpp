#pragma once

namespace fedarena {

#if defined(__x86_64__) && defined(__GNUC__)
inline bool has_avx2() {
  static const bool kHas = __builtin_cpu_supports("avx2") != 0;
  return kHas;
}
inline bool has_avx512() {
  static const bool kHas = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return kHas;
}

template <typename Body>
[[gnu::target("avx2"), gnu::flatten]] void run_with_avx2(const Body& body) {
  body();
}
template <typename Body>
[[gnu::target("avx512f,avx512vl"), gnu::flatten]] void run_with_avx512(const Body& body) {
  body();
}
#endif

/// Runs body(), compiled again for AVX2 and for AVX-512 where the processor has them. Wider registers change
/// no bit: contraction to fused multiply-adds is off, and sums have lanes of their own. `body` is a loop over
/// raw pointers; what it calls should be inline.
template <typename Body>
void run_vectorised(const Body& body) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_avx512()) return run_with_avx512(body);
  if (has_avx2()) return run_with_avx2(body);
#endif
  body();
}

}  // namespace fedarena
