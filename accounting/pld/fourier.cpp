#include "accounting/pld/fourier.hpp"

#include <bit>
#include <fftw3.h>
#include <mutex>
#include <new>

#include "fedarena/base/error.hpp"

#include "accounting/pld/loss.hpp"

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

}  // namespace

struct Fourier::Plans {
  explicit Plans(std::size_t n)
      : size(n),
        values(allocated<double>(fftw_alloc_real(n))),
        frequencies(allocated<fftw_complex>(fftw_alloc_complex(n / 2 + 1))) {
    const std::lock_guard lock(planner());
    const int length = static_cast<int>(n);
    forward = fftw_plan_dft_r2c_1d(length, values.get(), frequencies.get(), FFTW_ESTIMATE);
    inverse = fftw_plan_dft_c2r_1d(length, frequencies.get(), values.get(), FFTW_ESTIMATE);
  }
  ~Plans() {
    const std::lock_guard lock(planner());
    fftw_destroy_plan(forward);
    fftw_destroy_plan(inverse);
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  std::size_t size;
  std::unique_ptr<double, Free> values;
  std::unique_ptr<fftw_complex, Free> frequencies;
  fftw_plan forward = nullptr;
  fftw_plan inverse = nullptr;
};

Fourier::Fourier(std::size_t size) {
  FEDARENA_CHECK(std::has_single_bit(size), ==, true);
  plans_ = std::make_unique<Plans>(size);
}
Fourier::~Fourier() = default;

std::span<double> Fourier::values() { return {plans_->values.get(), plans_->size}; }
std::span<std::complex<double>> Fourier::frequencies() {
  // std::complex and fftw_complex have one layout by their standards.
  return {reinterpret_cast<std::complex<double>*>(plans_->frequencies.get()), plans_->size / 2 + 1};
}
void Fourier::forward() { fftw_execute(plans_->forward); }
void Fourier::inverse() { fftw_execute(plans_->inverse); }
double Fourier::error() const { return 8 * kRounding * static_cast<double>(std::bit_width(plans_->size)); }

}  // namespace fedarena::pld
