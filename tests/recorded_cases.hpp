#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/paths.hpp"

namespace fedarena::test {

/// A line of a file of recorded cases: the sign before its first blank, and what follows; an empty line has
/// none.
struct CaseLine {
  std::string sign, text;
};

/// A text in which "\n" stands for a line break, "\\" for a backslash and "\xHH" for a byte.
inline std::string unescaped(const std::string& line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\') {
      text += line[at];
    } else if (line.at(++at) == 'x') {
      text += static_cast<char>(std::stoi(line.substr(at + 1, 2), nullptr, 16));
      at += 2;
    } else {
      text += line[at] == 'n' ? '\n' : line[at];
    }
  }
  return text;
}

/// The lines of a file of the checkout, their texts unescaped; comments, which begin with '#', are left out.
inline std::vector<CaseLine> case_lines(const std::string& file) {
  std::vector<CaseLine> lines;
  std::ifstream stream(source_folder() / file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t blank = std::min(line.find(' '), line.size());
    lines.push_back({line.substr(0, blank), unescaped(line.substr(std::min(blank + 1, line.size())))});
  }
  return lines;
}

}  // namespace fedarena::test
