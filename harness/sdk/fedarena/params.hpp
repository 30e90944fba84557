#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/fnv.hpp"

namespace fedarena {

/// Shapes of a model's parameter tensors, which lie one behind the other in a flat vector.
class FEDARENA_API Layout {
 public:
  struct Entry {
    std::vector<std::int64_t> shape;
    std::int64_t offset = 0;
    std::int64_t numel = 0;
    bool operator==(const Entry&) const = default;
  };

  Layout() = default;
  void add(std::vector<std::int64_t> shape);

  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](std::size_t index) const { return entries_[index]; }
  /// The number of parameters, all tensors together.
  std::int64_t numel() const { return numel_; }
  /// A number that differs, but for chance, between layouts of different shapes; checked when a message is
  /// decoded.
  std::uint64_t fingerprint() const { return fingerprint_.value(); }
  bool operator==(const Layout& other) const { return entries_ == other.entries_; }

 private:
  std::vector<Entry> entries_;
  std::int64_t numel_ = 0;
  Fnv1a fingerprint_;
};

/// That layout for the rest of the process, by a pointer that counts nobody: how many parameters there are
/// elsewhere (of a cohort, or on other workers) is nothing that an algorithm may learn from its own.
FEDARENA_API std::shared_ptr<const Layout> uncounted(const Layout& layout);

/// A model's parameters, or anything of their shape (gradient, update, control variate): a vector space, so
/// that an algorithm reads like its paper. A value: copies share no memory. One contiguous floating tensor on
/// one device. Operands of different layouts are a Bug.
class FEDARENA_API Params {
 public:
  /// Empty; assign before use.
  Params() = default;
  /// Takes `flat`, a contiguous floating tensor of layout->numel() elements, as it is, without a copy; and of
  /// the layout the `uncounted` one.
  Params(std::shared_ptr<const Layout> layout, torch::Tensor flat);
  static Params zeros(std::shared_ptr<const Layout> layout, const torch::TensorOptions& options);

  Params(const Params& other);
  Params& operator=(const Params& other);
  Params(Params&&) noexcept = default;
  Params& operator=(Params&&) noexcept = default;
  ~Params() = default;

  bool empty() const { return !layout_; }
  /// The number of tensors.
  std::size_t size() const { return empty() ? 0 : layout_->size(); }
  /// The tensor of that position, in its own shape; a view of the flat vector.
  torch::Tensor operator[](std::size_t index) const;
  /// All parameters as one vector; not a copy.
  const torch::Tensor& flat() const { return flat_; }
  const std::shared_ptr<const Layout>& layout() const { return layout_; }

  Params& operator+=(const Params& other) { return add_scaled(1, other); }
  Params& operator-=(const Params& other) { return add_scaled(-1, other); }
  Params& operator*=(double factor);
  /// *this += factor * other, in one pass.
  Params& add_scaled(double factor, const Params& other);

 private:
  std::shared_ptr<const Layout> layout_;
  torch::Tensor flat_;
};

FEDARENA_API Params operator+(Params left, const Params& right);
FEDARENA_API Params operator-(Params left, const Params& right);
FEDARENA_API Params operator*(double factor, Params params);
FEDARENA_API Params zeros_like(const Params& params);
/// Inner product, summed in double.
FEDARENA_API double dot(const Params& left, const Params& right);
/// Euclidean norm of all parameters together.
FEDARENA_API double norm(const Params& params);

}  // namespace fedarena
