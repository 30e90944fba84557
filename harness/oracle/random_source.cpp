#include "harness/oracle/random_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <sys/random.h>
#include <utility>

#include "fedarena/base/box_muller.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/uniform_integers.hpp"

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/oracle/cache_pieces.hpp"

namespace fedarena {
namespace {

class StreamSource final : public RandomSource {
 public:
  explicit StreamSource(Stream stream) : stream_(std::move(stream)) {}
  void fill_normal(std::span<double> values) override { stream_.fill_normal(values); }
  void add_normals(const torch::Tensor& values, double deviation) override {
    if (!cuda::takes(values)) return RandomSource::add_normals(values, deviation);
    // A kernel makes pairs; one that an earlier call has left over comes first, and half of one may be left
    // at the end.
    const std::int64_t begin = stream_.has_spare() ? std::min<std::int64_t>(1, values.numel()) : 0;
    const std::int64_t paired = (values.numel() - begin) / 2 * 2, end = begin + paired;
    RandomSource::add_normals(values.narrow(0, 0, begin), deviation);
    cuda::add_normals(stream_.skip_pairs(static_cast<std::uint64_t>(paired / 2)), deviation,
                      values.narrow(0, begin, paired));
    RandomSource::add_normals(values.narrow(0, end, values.numel() - end), deviation);
  }
  double gamma(double shape) override { return stream_.gamma(shape); }
  double uniform() override { return stream_.uniform(); }
  std::vector<std::int64_t> sample_without_replacement(std::int64_t size, std::int64_t count) override {
    return stream_.sample_without_replacement(size, count);
  }

 private:
  Stream stream_;
};

// Uniform bits of the operating system's cryptographic generator: never the same twice, and nobody can tell
// them from a seed. An Error where the system has none.
class SystemBits {
 public:
  std::uint64_t operator()() {
    if (used_ == bits_.size()) refill();
    return bits_[used_++];
  }

  // Several words at once: 2 at least, `most` at most, which is 2 or more; an even number of them. Valid
  // until the next call.
  std::span<const std::uint64_t> pairs(std::size_t most) {
    if (bits_.size() - used_ < 2) refill();
    const std::size_t count = std::min(most, bits_.size() - used_) / 2 * 2;
    const std::span<const std::uint64_t> words(&bits_[used_], count);
    used_ += count;
    return words;
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

// Box-Muller on 53 random bits each. The results are doubles: their gaps are an attack surface of their own
// (Mironov, CCS 2012), which the source of the bits does not change.
class SystemSource final : public RandomSource {
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

  std::vector<std::int64_t> sample_without_replacement(std::int64_t size, std::int64_t count) override {
    return uniform_subset(bits_, size, count);
  }

 private:
  SystemBits bits_;
};

}  // namespace

std::vector<std::int64_t> RandomSource::poisson_sample(std::int64_t size, double rate) {
  std::vector<std::int64_t> chosen;
  for (std::int64_t index = 0; index < size; ++index) {
    if (uniform() < rate) chosen.push_back(index);
  }
  return chosen;
}

void RandomSource::add_normals(const torch::Tensor& values, double deviation) {
  const torch::Tensor normals = torch::empty({std::min(values.numel(), kCachePiece)}, torch::kFloat64);
  for_each_piece(values, [&](const torch::Tensor& piece, std::int64_t) {
    const torch::Tensor noise = normals.narrow(0, 0, piece.numel());
    fill_normal({noise.data_ptr<double>(), static_cast<std::size_t>(piece.numel())});
    torch::Tensor(piece).add_(noise.mul_(deviation).to(piece.options()));
  });
}

std::unique_ptr<RandomSource> make_random_source(const std::string& name, Stream stream) {
  if (name == kSystemNoise) return std::make_unique<SystemSource>();
  FEDARENA_CHECK(name, ==, kStreamNoise);
  return std::make_unique<StreamSource>(std::move(stream));
}

std::unique_ptr<RandomSource> make_noise_source(const std::string& name, const Streams& streams,
                                                std::uint64_t index) {
  return make_random_source(name, streams(Purpose::kNoise, index));
}

}  // namespace fedarena
