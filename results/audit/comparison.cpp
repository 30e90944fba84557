#include "results/audit/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// Far below what any table prints, far above what libraries and processors disagree by.
constexpr double kClose = 1e-9;
// What is left of numbers of size one when they are equal: thousands of their roundings.
constexpr double kRounding = 1e-12;

bool are_close(double left, double right) {
  if (left == right || (std::isnan(left) && std::isnan(right))) return true;
  return std::abs(left - right) <= kClose * std::max(std::abs(left), std::abs(right));
}

std::string shown(std::optional<double> number) { return number ? exact_number(*number) : "none"; }

// Texts in quotes, but for those that stand for a number.
std::string shown(const Json& value) {
  constexpr std::array<std::string_view, 5> kNumbers = {"nan", "inf", "-inf", "unproven", "absent"};
  constexpr std::size_t kLongest = 500;
  if (value.is_null()) return "none";
  if (value.is_number_float()) return exact_number(value.get<double>());
  const bool plain = value.is_string() && contains(kNumbers, value.get_ref<const std::string&>());
  return plain ? value.get<std::string>() : json_text(value, -1).substr(0, kLongest);
}

std::string shown(const std::optional<Claim>& claim) {
  if (!claim) return "none";
  return claim->epsilon ? exact_number(*claim->epsilon) : fmt::format("unproven ({})", claim->unproven);
}

}  // namespace

void Comparison::text(const std::string& field, const std::string& recorded, const std::string& recomputed) {
  result(recorded == recomputed, field, fmt::format("\"{}\"", recorded), fmt::format("\"{}\"", recomputed));
}

void Comparison::close(const std::string& field, std::optional<double> recorded,
                       std::optional<double> recomputed) {
  const bool both = recorded && recomputed;
  result(both ? are_close(*recorded, *recomputed) : recorded == recomputed, field, shown(recorded),
         shown(recomputed));
}

void Comparison::close_among(double mean, const std::string& field, std::optional<double> recorded,
                             std::optional<double> recomputed) {
  const double rounding = kRounding * std::abs(mean);
  if (recorded && recomputed && std::abs(*recorded - *recomputed) <= rounding) recomputed = recorded;
  close(field, recorded, recomputed);
}

void Comparison::fields(const Json& recorded, const Json& recomputed, bool exact, const std::string& where) {
  const Json absent = "absent";
  Json names = recorded;
  names.update(recomputed);
  for (const auto& [name, unused] : names.items()) {
    const Json left = recorded.value(name, absent), right = recomputed.value(name, absent);
    if (left.is_object() && right.is_object()) {
      fields(left, right, exact, fmt::format("{}{} ", where, name));
      continue;
    }
    const bool numbers = !exact && left.is_number_float() && right.is_number_float();
    result(numbers ? are_close(left.get<double>(), right.get<double>()) : left == right, where + name,
           shown(left), shown(right));
  }
}

void Comparison::claim(const std::string& field, const std::optional<Claim>& recorded,
                       const std::optional<Claim>& recomputed) {
  const bool both = recorded && recomputed;
  const bool numbers = both && recorded->epsilon && recomputed->epsilon;
  const bool equal = numbers ? are_close(*recorded->epsilon, *recomputed->epsilon) : recorded == recomputed;
  result(equal, field, shown(recorded), shown(recomputed));
}

void Kinds::conclude() {
  for (const auto& [name, kind] : kinds_) {
    std::string field = name + kind.whose;
    if (kind.failures > 1) field += fmt::format(" and {} more", kind.failures - 1);
    compare_.result(kind.failures == 0, field, kind.recorded, kind.recomputed);
  }
}

std::string client_text(std::int64_t client) { return fmt::format(" of client {}", client); }

}  // namespace fedarena::results
