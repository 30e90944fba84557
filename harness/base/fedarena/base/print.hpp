#pragma once

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

namespace fedarena {

/// fmt::print() for everything that a user sees, as printable() makes it: labels, names and messages of files
/// that somebody else wrote cannot move the cursor or write the title, the keyboard or the clipboard of a
/// terminal. The program's own sequences are written by fmt::print() where they are.
template <typename... Args>
void print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stream, "{}", printable(fmt::format(format, std::forward<Args>(args)...)));
}

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  fedarena::print(stdout, format, std::forward<Args>(args)...);
}

}  // namespace fedarena
