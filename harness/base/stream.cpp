#include "fedarena/base/stream.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedarena/base/box_muller.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/philox.hpp"
#include "fedarena/base/uniform_integers.hpp"

namespace fedarena {
namespace {

// Normals are made so many pairs at a time, in memory that caches hold.
constexpr std::size_t kPairs = 256;

}  // namespace

// The name is packed into key and counter without hashing, so different names can never collide; the first
// counter word numbers the blocks of one stream.
Stream::Stream(const StreamName& name)
    : key_{name.seed, static_cast<std::uint64_t>(name.purpose)},
      counter_{0, static_cast<std::uint64_t>(name.round), static_cast<std::uint64_t>(name.client),
               name.index} {}

Stream::result_type Stream::operator()() {
  if (used_ == block_.size()) {
    block_ = philox4x64(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

double Stream::uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

std::uint64_t Stream::below(std::uint64_t bound) { return uniform_below(*this, bound); }

double Stream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const std::array<std::uint64_t, 2> words = {(*this)(), (*this)()};
  std::array<double, 2> pair{};
  box_muller(words.data(), 1, pair.data());
  spare_normal_ = pair[1];
  has_spare_ = true;
  return pair[0];
}

double Stream::gamma(double shape) {
  FEDARENA_CHECK(shape, >, 0.0);
  FEDARENA_CHECK(shape, <, std::numeric_limits<double>::infinity());
  if (shape < 1) {
    // Gamma(shape) = Gamma(shape + 1) * U^(1/shape). Two statements, because operands have no order of
    // evaluation.
    const double larger = gamma(shape + 1);
    return larger * std::pow(1 - uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log1p(-uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

std::vector<double> Stream::dirichlet(double alpha, std::size_t size) {
  FEDARENA_CHECK(alpha, >, 0.0);
  FEDARENA_CHECK(size, >=, 1U);
  // In logarithms: for tiny alpha every gamma variate underflows, their ratios do not. Below 1e-300 the
  // quotient would overflow; one category has everything there, as it has at 1e-300.
  const double divisor = std::max(alpha, 1e-300);
  std::vector<double> logs(size);
  for (double& value : logs) {
    const double larger = std::log(gamma(alpha + 1));
    value = larger + std::log1p(-uniform()) / divisor;
  }
  const double largest = *std::max_element(logs.begin(), logs.end());
  for (double& value : logs) value = std::exp(value - largest);
  const double sum = std::accumulate(logs.begin(), logs.end(), 0.0);
  for (double& value : logs) value /= sum;
  return logs;
}

std::vector<std::int64_t> Stream::permutation(std::int64_t size) {
  FEDARENA_CHECK(size, >=, 0);
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  // Fisher-Yates; std::shuffle is not the same on every standard library.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

std::vector<std::int64_t> Stream::sample_without_replacement(std::int64_t size, std::int64_t count) {
  return uniform_subset(*this, size, count);
}

void Stream::fill_normal(std::span<double> values) {
  if (has_spare_ && !values.empty()) {
    values.front() = normal();
    values = values.subspan(1);
  }
  std::array<std::uint64_t, 2 * kPairs> words{};
  while (values.size() >= 2) {
    const std::size_t pairs = std::min(kPairs, values.size() / 2), count = 2 * pairs;
    std::size_t filled = 0;
    while (used_ < block_.size() && filled < count) words[filled++] = (*this)();
    const std::size_t blocks = (count - filled) / block_.size();
    philox4x64(counter_, key_, {words.data() + filled, blocks * block_.size()});
    counter_[0] += blocks;
    for (filled += blocks * block_.size(); filled < count; ++filled) words[filled] = (*this)();
    box_muller(words.data(), pairs, values.data());
    values = values.subspan(2 * pairs);
  }
  if (!values.empty()) values.front() = normal();
}

Stream::Place Stream::skip_pairs(std::uint64_t pairs) {
  Place place{key_, counter_, 0};
  std::uint64_t words = 2 * pairs;
  const std::uint64_t left = block_.size() - used_;
  if (left > 0) {
    --place.counter[0];
    place.word = used_;
  }
  if (words <= left) {
    used_ += static_cast<unsigned>(words);
    return place;
  }
  words -= left;
  counter_[0] += words / block_.size();
  used_ = static_cast<unsigned>(block_.size());
  for (words %= block_.size(); words > 0; --words) (*this)();
  return place;
}

}  // namespace fedarena
