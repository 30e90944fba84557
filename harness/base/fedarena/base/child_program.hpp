#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// How another program ended.
struct ChildOutcome {
  int exit_code = -1;  ///< -1: a signal ended it, or it ran past its limit
  std::string out = {};
  std::string err = {};
};

/// What differs from one start of a program to another.
struct ChildStart {
  std::string_view input = {};           ///< its stdin
  std::string_view without = {};         ///< variables whose names begin so are kept from it; empty: none
  std::chrono::milliseconds limit = {};  ///< then it is killed; 0: never
};

/// Starts the program words[0], found in PATH, and waits for its end. Its arguments are the words as they
/// are: no shell reads them. Nothing where there is no such program; Error where it cannot be started.
FEDARENA_API std::optional<ChildOutcome> call_program(std::vector<std::string> words,
                                                      const ChildStart& start = {});

}  // namespace fedarena
