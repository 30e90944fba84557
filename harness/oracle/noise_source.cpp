#include "harness/oracle/noise_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sys/random.h>
#include <utility>

#include "fedarena/base/box_muller.hpp"
#include "fedarena/base/error.hpp"

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
      if (bits_.size() - used_ < 2) refill();
      const std::size_t pairs = std::min((values.size() + 1) / 2, (bits_.size() - used_) / 2);
      std::array<double, std::tuple_size_v<decltype(bits_)>> made{};
      box_muller(&bits_[used_], pairs, made.data());
      used_ += 2 * pairs;
      const std::size_t count = std::min(2 * pairs, values.size());
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

  double uniform() override {
    if (used_ == bits_.size()) refill();
    return static_cast<double>(bits_[used_++] >> 11) * 0x1p-53;
  }

 private:
  void refill() {
    auto* bytes = reinterpret_cast<unsigned char*>(bits_.data());
    std::size_t filled = 0;
    while (filled < sizeof(bits_)) {
      const ssize_t got = getrandom(bytes + filled, sizeof(bits_) - filled, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Error::of("the system's random generator failed: {}", std::strerror(errno));
      filled += static_cast<std::size_t>(got);
    }
    used_ = 0;
  }

  std::array<std::uint64_t, 1024> bits_{};
  std::size_t used_ = bits_.size();
};

}  // namespace

std::unique_ptr<NoiseSource> make_noise_source(const std::string& name, const Streams& streams,
                                               std::uint64_t index) {
  if (name == kSystemNoise) return std::make_unique<SystemNoise>();
  FEDARENA_CHECK(name, ==, kStreamNoise);
  return std::make_unique<StreamNoise>(streams(Purpose::kNoise, index));
}

}  // namespace fedarena
