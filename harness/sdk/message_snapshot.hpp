#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fedarena/message.hpp"

namespace fedarena {

/// How often LibTorch was told to write to the tensor or another view of its memory: the same twice where
/// nobody did between. 0 for undefined tensors and those of inference mode, which do not count.
FEDARENA_API std::int64_t writes_to(const torch::Tensor& tensor);

/// What stands in a message at one time: the tensors themselves, not what they hold. Who writes through plain
/// pointers is not seen.
class FEDARENA_API MessageSnapshot {
 public:
  explicit MessageSnapshot(const Message& message);

  /// The first entry that was put, dropped or written to in place since; empty: none.
  std::string changed(const Message& now) const;

 private:
  // A tensor with its writes, or the bits of a number.
  using Value = std::variant<std::pair<torch::Tensor, std::int64_t>, std::uint64_t>;
  static Value value_of(const Message::Entry& entry);
  static bool same(const Value& left, const Value& right);

  std::vector<std::pair<std::string, Value>> entries_;
};

}  // namespace fedarena
