#include "harness/oracle/sample_source.hpp"

#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/uniform_integers.hpp"

#include "harness/oracle/noise_source.hpp"
#include "harness/oracle/system_bits.hpp"

namespace fedarena {
namespace {

class StreamSamples final : public SampleSource {
 public:
  explicit StreamSamples(Stream stream) : stream_(std::move(stream)) {}
  double uniform() override { return stream_.uniform(); }
  std::vector<std::int64_t> sample_without_replacement(std::int64_t size, std::int64_t count) override {
    return stream_.sample_without_replacement(size, count);
  }

 private:
  Stream stream_;
};

class SystemSamples final : public SampleSource {
 public:
  double uniform() override { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  std::vector<std::int64_t> sample_without_replacement(std::int64_t size, std::int64_t count) override {
    return uniform_subset(bits_, size, count);
  }

 private:
  SystemBits bits_;
};

}  // namespace

std::unique_ptr<SampleSource> make_sample_source(const std::string& noise_source, Stream stream) {
  if (noise_source == kSystemNoise) return std::make_unique<SystemSamples>();
  FEDARENA_CHECK(noise_source, ==, kStreamNoise);
  return std::make_unique<StreamSamples>(std::move(stream));
}

}  // namespace fedarena
