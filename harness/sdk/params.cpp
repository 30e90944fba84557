#include "fedarena/params.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "fedarena/base/error.hpp"

#include "harness/sdk/factor.hpp"

namespace fedarena {
namespace {

void require_same_layout(const Params& left, const Params& right) {
  FEDARENA_CHECK(left.empty() || right.empty(), ==, false);
  FEDARENA_CHECK(left.layout()->fingerprint(), ==, right.layout()->fingerprint());
}

}  // namespace

void Layout::add(std::vector<std::int64_t> shape) {
  std::int64_t numel = 1;
  fingerprint_.add(std::uint64_t{shape.size()});
  for (const std::int64_t extent : shape) {
    fingerprint_.add(static_cast<std::uint64_t>(extent));
    numel *= extent;
  }
  entries_.push_back({std::move(shape), numel_, numel});
  numel_ += numel;
}

std::shared_ptr<const Layout> uncounted(const Layout& layout) {
  // A process sees few: of its models, and of what plugins make beside them.
  static std::mutex mutex;
  static std::multimap<std::uint64_t, const Layout> kept;
  const std::lock_guard lock(mutex);
  auto [place, end] = kept.equal_range(layout.fingerprint());
  while (place != end && place->second != layout) ++place;
  if (place == end) place = kept.emplace(layout.fingerprint(), layout);
  return {std::shared_ptr<const void>(), &place->second};
}

Params::Params(std::shared_ptr<const Layout> layout, torch::Tensor flat)
    : layout_(std::move(layout)), flat_(std::move(flat)) {
  FEDARENA_CHECK(layout_ == nullptr, ==, false);
  if (layout_.use_count() > 0) layout_ = uncounted(*layout_);
  FEDARENA_CHECK(flat_.defined(), ==, true);
  FEDARENA_CHECK(flat_.dim(), ==, 1);
  FEDARENA_CHECK(flat_.numel(), ==, layout_->numel());
  flat_ = flat_.contiguous();  // rules read numbers that lie side by side
}

Params Params::zeros(std::shared_ptr<const Layout> layout, const torch::TensorOptions& options) {
  FEDARENA_CHECK(layout == nullptr, ==, false);
  torch::Tensor flat = torch::zeros({layout->numel()}, options);
  return {std::move(layout), std::move(flat)};
}

Params::Params(const Params& other)
    : layout_(other.layout_), flat_(other.flat_.defined() ? other.flat_.clone() : torch::Tensor()) {}

Params& Params::operator=(const Params& other) {
  if (this != &other) *this = Params(other);
  return *this;
}

torch::Tensor Params::operator[](std::size_t index) const {
  FEDARENA_CHECK(index, <, size());
  const Layout::Entry& entry = (*layout_)[index];
  return flat_.narrow(0, entry.offset, entry.numel).view(entry.shape);
}

Params& Params::operator*=(double factor) {
  FEDARENA_CHECK(empty(), ==, false);
  flat_.mul_(within(factor, flat_));
  return *this;
}

Params& Params::add_scaled(double factor, const Params& other) {
  require_same_layout(*this, other);
  flat_.add_(other.flat_, within(factor, flat_));
  return *this;
}

Params operator+(Params left, const Params& right) {
  left += right;
  return left;
}

Params operator-(Params left, const Params& right) {
  left -= right;
  return left;
}

Params operator*(double factor, Params params) {
  params *= factor;
  return params;
}

Params zeros_like(const Params& params) {
  FEDARENA_CHECK(params.empty(), ==, false);
  return {params.layout(), torch::zeros_like(params.flat())};
}

double dot(const Params& left, const Params& right) {
  require_same_layout(left, right);
  return left.flat().to(torch::kFloat64).dot(right.flat().to(torch::kFloat64)).item<double>();
}

double norm(const Params& params) { return std::sqrt(dot(params, params)); }

}  // namespace fedarena
