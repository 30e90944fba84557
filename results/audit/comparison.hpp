#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "results/audit/verify.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"

namespace fedarena::results {

/// What differences say of a text that a record lacks.
inline constexpr const char* kMissing = "missing";

/// Compares the fields of one file with what they should be and writes down what differs.
class Comparison {
 public:
  Comparison(Verification& verification, std::filesystem::path file)
      : verification_(verification), file_(std::move(file)) {}

  void text(const std::string& field, const std::string& recorded, const std::string& recomputed);
  /// Of numbers, and of what is true or false.
  template <typename Value>
  void same(const std::string& field, const Value& recorded, const std::type_identity_t<Value>& recomputed) {
    result(recorded == recomputed, field, recorded, recomputed);
  }
  /// Equal but for the rounding of another processor.
  void close(const std::string& field, std::optional<double> recorded, std::optional<double> recomputed);
  /// The same of a deviation among numbers that are about `mean`, whose rounding it has.
  void close_among(double mean, const std::string& field, std::optional<double> recorded,
                   std::optional<double> recomputed);
  void claim(const std::string& field, const std::optional<Claim>& recorded,
             const std::optional<Claim>& recomputed);
  /// Every field of two objects, those that one of them lacks too: numbers to the last bit, or but for the
  /// rounding of another processor. `where` precedes their names.
  void fields(const Json& recorded, const Json& recomputed, bool exact, const std::string& where = {});
  /// Counts a value that was compared otherwise; where it is not equal, texts and numbers, to their last
  /// digit, say what it is and what it should be.
  void result(bool equal, const std::string& field, const auto& recorded, const auto& recomputed) {
    ++verification_.values;
    if (equal) return;
    verification_.differences.push_back(
        {file_, field, one_line(fmt::format("{}", recorded)), one_line(fmt::format("{}", recomputed))});
  }

 private:
  Verification& verification_;
  std::filesystem::path file_;
};

/// Counts comparisons by what they are about, and tells the first that fails of each: thousands of clients
/// fail alike.
class Kinds {
 public:
  explicit Kinds(Comparison compare) : compare_(std::move(compare)) {}

  void result(bool same, const std::string& kind, const std::string& whose, const auto& recorded,
              const auto& recomputed) {
    Kind& known = kinds_[kind];
    if (same || known.failures++ > 0) return;
    known.whose = whose;
    known.recorded = fmt::format("{}", recorded);
    known.recomputed = fmt::format("{}", recomputed);
  }
  /// Writes down what differs; to be called once.
  void conclude();

 private:
  struct Kind {
    std::int64_t failures = 0;
    std::string whose, recorded, recomputed;
  };
  Comparison compare_;
  std::map<std::string, Kind> kinds_;
};

/// " of client 3".
std::string client_text(std::int64_t client);

}  // namespace fedarena::results
