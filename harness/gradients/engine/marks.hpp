#pragma once

#include <utility>
#include <variant>
#include <vector>

#include <torch/types.h>

#include "fedarena/layers.hpp"

namespace fedarena {

/// What residual connections put aside, one within the other.
using Aside = std::vector<torch::Tensor>;

/// Whether a layer is one of the marks of a residual connection, which have no rules: passes go through them
/// by pass_mark.
inline bool is_mark(const Layer& layer) {
  return std::holds_alternative<Fork>(layer) || std::holds_alternative<Shortcut>(layer) ||
         std::holds_alternative<Join>(layer);
}

/// The value after a mark, going forward: Begin is Fork, which puts it aside, and End is Join, which adds
/// what is there. Going back, gradients are put aside at the Join and added at the Fork. An undefined value
/// counts as zeros.
template <typename Begin, typename End>
torch::Tensor pass_mark(const Layer& mark, torch::Tensor value, Aside& aside) {
  if (std::holds_alternative<Begin>(mark)) {
    aside.push_back(value);
  } else if (std::holds_alternative<End>(mark)) {
    const torch::Tensor other = std::move(aside.back());
    aside.pop_back();
    value = !value.defined() ? other : !other.defined() ? value : value + other;
  } else {
    std::swap(value, aside.back());
  }
  return value;
}

}  // namespace fedarena
