#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

namespace fedarena {

/// fmt::print() for everything that a user sees, as printable() makes it: labels, names and messages of files
/// that somebody else wrote cannot move the cursor or write the title, the keyboard or the clipboard of a
/// terminal. The program's own sequences are written where they are. A stream that cannot be written, such as
/// that of a terminal that was closed, is no exception here: work goes on, and main() looks at stdout at the
/// end.
template <typename... Args>
void print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = printable(fmt::format(format, std::forward<Args>(args)...));
  std::fwrite(text.data(), 1, text.size(), stream);
}

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  fedarena::print(stdout, format, std::forward<Args>(args)...);
}

}  // namespace fedarena
