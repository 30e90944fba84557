#pragma once

#include <memory>
#include <vector>

#include "harness/wire/wire.hpp"

namespace fedarena {

inline std::shared_ptr<const Layout> small_layout() {
  Layout layout;
  layout.add("weight", {2, 3});
  layout.add("bias", {2});
  return std::make_shared<const Layout>(layout);
}

/// A tensor of every type that the wire carries, with numbers that any mistake in width or order would
/// change.
inline std::vector<torch::Tensor> tensors_of_every_type() {
  std::vector<torch::Tensor> tensors;
  for (const auto type :
       {torch::kFloat32, torch::kFloat64, torch::kInt64, torch::kInt32, torch::kUInt8, torch::kBool}) {
    const torch::Tensor numbers = torch::tensor({0.0, 1.0, 200.0, 3.0, 0.0, 255.0}, torch::kFloat64);
    tensors.push_back(numbers.to(type).view({2, 3}));
  }
  return tensors;
}

/// A message with every kind of entry.
inline Message rich_message(const std::shared_ptr<const Layout>& layout) {
  Message message{{Key<Params>{"model"}, Params(layout, torch::arange(8, torch::kFloat32))},
                  {Key<double>{"radius"}, 0.1},
                  {Key<std::int64_t>{"examples"}, std::int64_t{-5}},
                  {Key<torch::Tensor>{"scalar"}, torch::tensor(2.5, torch::kFloat64)},
                  {Key<torch::Tensor>{"empty"}, torch::empty({0, 3}, torch::kInt32)}};
  for (const torch::Tensor& tensor : tensors_of_every_type()) {
    message.put_entry({std::string("tensor ") + torch::toString(tensor.scalar_type()), tensor});
  }
  return message;
}

}  // namespace fedarena
