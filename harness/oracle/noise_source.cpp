#include "harness/oracle/noise_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "fedarena/base/box_muller.hpp"
#include "fedarena/base/error.hpp"

#include "harness/oracle/system_bits.hpp"

namespace fedarena {
namespace {

class StreamNoise final : public NoiseSource {
 public:
  explicit StreamNoise(Stream stream) : stream_(std::move(stream)) {}
  void fill_normal(std::span<double> values) override { stream_.fill_normal(values); }
  double gamma(double shape) override { return stream_.gamma(shape); }
  double uniform() override { return stream_.uniform(); }

 private:
  Stream stream_;
};

// Box-Muller on 53 random bits each. The results are doubles: their gaps are an attack surface of their own
// (Mironov, CCS 2012), which the source of the bits does not change.
class SystemNoise final : public NoiseSource {
 public:
  void fill_normal(std::span<double> values) override {
    while (!values.empty()) {
      std::array<double, 1024> made{};
      const std::span<const std::uint64_t> words =
          bits_.pairs(std::min((values.size() + 1) / 2 * 2, made.size()));
      box_muller(words.data(), words.size() / 2, made.data());
      const std::size_t count = std::min(words.size(), values.size());
      std::copy_n(made.begin(), count, values.begin());
      values = values.subspan(count);
    }
  }

  // Marsaglia and Tsang, ACM TOMS 26(3), 2000.
  double gamma(double shape) override {
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      double normal = 0;
      fill_normal({&normal, 1});
      const double v = std::pow(1 + c * normal, 3);
      if (v > 0 && std::log1p(-uniform()) < normal * normal / 2 + d * (1 - v + std::log(v))) return d * v;
    }
  }

  double uniform() override { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

 private:
  SystemBits bits_;
};

}  // namespace

std::unique_ptr<NoiseSource> make_noise_source(const std::string& name, const Streams& streams,
                                               std::uint64_t index) {
  if (name == kSystemNoise) return std::make_unique<SystemNoise>();
  FEDARENA_CHECK(name, ==, kStreamNoise);
  return std::make_unique<StreamNoise>(streams(Purpose::kNoise, index));
}

}  // namespace fedarena
