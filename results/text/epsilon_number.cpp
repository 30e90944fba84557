#include "results/text/epsilon_number.hpp"

#include <cmath>

#include <fmt/format.h>

namespace fedarena::results {

std::string epsilon_number(double number) {
  if (number == 0) return "0";
  const double size = std::abs(number);
  return size >= 0.1 && size < 1e12 ? fmt::format("{:.4f}", number) : fmt::format("{:.4g}", number);
}

}  // namespace fedarena::results
