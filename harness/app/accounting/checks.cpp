#include "harness/app/accounting/checks.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "results/text/text.hpp"

namespace fedarena {
namespace {

[[noreturn]] void refuse_number(const std::string& option, const std::string& text, std::string allowed) {
  throw Error(Complaint{.found = results::one_line(fmt::format("{} is \"{}\"", option, text)),
                        .allowed = std::move(allowed)});
}

// The whole numbers of seven digits, times a power of ten, are the candidates. Callers allow for the rounding
// of that product, lest a number that has seven digits already be moved on to the next.
double rounded(double number, double (*round)(double)) {
  if (number == 0 || !std::isfinite(number)) return number;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(number))) - 6);
  return round(number / unit) * unit;
}

}  // namespace

void check_name(const std::string& option, const std::string& text, const std::vector<std::string>& names) {
  if (contains(names, text)) return;
  throw unknown_name(results::one_line(fmt::format("{}: \"{}\" is unknown", option, text)), text, names);
}

double read_number(const std::string& option, const std::string& text, const Constraint& constraint) {
  const std::optional<double> number = parse_number<double>(text);
  if (!number || !constraint.holds(Value(*number)))
    refuse_number(option, text, constraint.allowed(Value(0.0)));
  return *number;
}

std::int64_t read_count(const std::string& option, const std::string& text, std::int64_t least) {
  // As many accesses as a ledger may hold.
  constexpr std::int64_t kMost = 1'000'000'000'000;
  std::optional<std::int64_t> count = parse_number<std::int64_t>(text);
  if (!count) {
    const std::optional<double> number = parse_number<double>(text);
    if (number && std::abs(*number) <= static_cast<double>(kMost) && *number == std::floor(*number)) {
      count = static_cast<std::int64_t>(*number);
    }
  }
  if (!count || *count < least || *count > kMost) {
    refuse_number(option, text, fmt::format("a whole number from {} to {}", least, kMost));
  }
  return *count;
}

std::string shown_at_least(double number) {
  return fmt::format("{:.7g}", rounded(number * (1 - 1e-13), std::ceil));
}

std::string shown_at_most(double number) {
  return fmt::format("{:.7g}", rounded(number * (1 + 1e-13), std::floor));
}

}  // namespace fedarena
