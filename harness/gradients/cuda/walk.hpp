#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "harness/gradients/cuda/blocks.hpp"

namespace fedarena::cuda {

/// The order in which blocks, and the threads of a phase, come. A kernel that is right has the same bits in
/// each.
enum class Order { kForward, kBackward };

/// A block whose threads the host runs one after the other, phase by phase.
template <typename Kernel>
class WalkedBlock {
 public:
  using Shared = typename Kernel::Shared;

  explicit WalkedBlock(Order order) : order_(order), shared_(std::make_unique<Shared>()) {}

  /// A GPU clears nothing: what a block has not written reads as NaN, or as a huge number.
  void begin(std::int64_t index) {
    index_ = index;
    constexpr int kGarbage = 0xFF;
    if constexpr (!std::is_empty_v<Shared>) std::memset(shared_.get(), kGarbage, sizeof(Shared));
  }

  std::int64_t index() const { return index_; }
  Shared& shared() { return *shared_; }
  template <typename Phase>
  void threads(const Phase& phase) {
    for (int i = 0; i < Kernel::kThreads; ++i) {
      phase(order_ == Order::kForward ? i : Kernel::kThreads - 1 - i);
    }
  }

 private:
  static_assert(std::is_trivially_copyable_v<Shared>);

  Order order_;
  std::int64_t index_ = 0;
  std::unique_ptr<Shared> shared_;
};

/// Runs blocks [first, first + count) on the host, on this thread.
template <typename Kernel>
void walk(const Kernel& kernel, std::int64_t first, std::int64_t count, Order order) {
  WalkedBlock<Kernel> block(order);
  for (std::int64_t i = 0; i < count; ++i) {
    block.begin(first + (order == Order::kForward ? i : count - 1 - i));
    kernel(block);
  }
}

}  // namespace fedarena::cuda
