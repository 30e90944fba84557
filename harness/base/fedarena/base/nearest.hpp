#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// The name that `found` was most likely meant to be: the one of least edit distance (insertions, deletions,
/// substitutions, swaps of neighbours; case ignored), or "" when none is nearer than a third of its length.
FEDARENA_API std::string nearest_name(std::string_view found, std::span<const std::string> names);

/// "a, b, c", for messages.
FEDARENA_API std::string join_names(std::span<const std::string> names);

/// The refusal of a name that is not among `names`: `found` says what was found and where, the rest follows.
FEDARENA_API Error unknown_name(std::string found, std::string_view name, std::span<const std::string> names);
template <typename Names>
Error unknown_name(std::string found, std::string_view name, const Names& names) {
  const std::vector<std::string> texts(names.begin(), names.end());
  return unknown_name(std::move(found), name, std::span<const std::string>(texts));
}

}  // namespace fedarena
