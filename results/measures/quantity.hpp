#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/measures/curve_axis.hpp"
#include "results/record/find_runs.hpp"
#include "results/measures/measure.hpp"

namespace fedarena::results {

/// Accuracy on the test examples of one class: "class:3".
struct OfClass {
  std::int64_t label = 0;
  bool operator==(const OfClass&) const = default;
};

/// The largest value of a measure of clients in any evaluated round so far (PPPFL: BMTA and BMT-F1). It is
/// chosen on test examples, which its words say; nothing else here is.
struct BestSoFar {
  Measure of;
  bool operator==(const BestSoFar&) const = default;
};

/// What a run has spent from its first round on: an axis that sums.
struct Spent {
  const CurveAxis* axis;
  bool operator==(const Spent&) const = default;
};

/// What an algorithm observes of itself, by its name.
struct Observed {
  std::string name;
  bool operator==(const Observed&) const = default;
};

/// A number that a run has after its rounds: what tables, comparisons and curves are of.
using Quantity = std::variant<Measure, OfClass, BestSoFar, Spent, Observed>;

/// Which of two numbers is the better one.
enum class Better { kMore, kLess, kNeither };

/// The names of all quantities but what algorithms observe, for help; "class:K" stands for all classes.
std::vector<std::string> quantity_names();

/// The quantity of that name; none where there is none. Observations are not looked for.
std::optional<Quantity> find_quantity(const std::string& name);

/// The quantity of that name, or what some round of a finished run observes under it. Otherwise an Error that
/// begins with the option and lists both.
Quantity parse_quantity(std::string_view option, const std::string& name, std::span<const FoundRun> runs);

/// All names that these rounds observe, ascending.
std::vector<std::string> observed_names(std::span<const RoundRecord> rounds);

/// The same of all rounds of the finished runs.
std::vector<std::string> observed_names(std::span<const FoundRun> runs);

/// As users write it.
std::string name_of(const Quantity& quantity);

/// For the head of a column or an axis: "class 3 (%)".
std::string heading(const Quantity& quantity);

/// To begin a legend: "Accuracy on test examples of class 3".
std::string describe(const Quantity& quantity);

/// The setting of an experiment file with which rounds record it, as for measures.
std::string recorded_with(const Quantity& quantity);

/// Whether it is a fraction, of which more is better.
bool is_share(const Quantity& quantity);

Better better(const Quantity& quantity);

/// Whether only evaluated rounds have it.
bool is_evaluated(const Quantity& quantity);

/// After each of the rounds of a run, which begin with its first; nan or infinite where a model diverged,
/// none where the round does not say.
std::vector<std::optional<double>> values_of(const Quantity& quantity, std::span<const RoundRecord> rounds);

}  // namespace fedarena::results
