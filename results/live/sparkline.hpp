#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fedarena::results {

/// What a terminal can show.
enum class Letters { kAscii, kUnicode };

/// Values as one line of at most `width` letters, eight heights from the smallest to the largest finite one:
/// "▁▃▅█", or ".:-=+*#@" in ASCII. More values than letters are cut into pieces of equal length, each of
/// which shows its last one. A value that is no finite number is "!"; equal ones stand in the middle.
std::string sparkline(std::span<const double> values, std::size_t width, Letters letters);

}  // namespace fedarena::results
