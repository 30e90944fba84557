#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/measures/catalogue.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// Which of two numbers is the better one.
enum class Better { kMore, kLess, kNeither };

/// A number that a run has after its rounds: what tables, comparisons and curves are of.
struct Quantity {
  const CatalogueEntry* entry;  ///< never nullptr
  std::string name = {};        ///< as users write it: "class:3", "attack-auc:loss"
  std::string heading = {};     ///< for the head of a column or an axis: "class 3 (%)"
  std::string words = {};       ///< to begin a legend: "Accuracy on test examples of class 3"
  Better better = Better::kNeither;
  bool evaluated = false;  ///< whether only evaluated rounds have it
  std::int64_t label = 0;  ///< of "class:K"
  std::string part = {};   ///< what the record has it under: a class, the algorithm's word, a score

  /// Whether it is a fraction.
  bool is_share() const { return entry->unit == NumberUnit::kShare; }
  /// Whether it is an epsilon, which is rounded up wherever it is printed.
  bool is_epsilon() const { return entry->unit == NumberUnit::kEpsilon; }
  /// Whether it is of attacks on the finished run; rounds do not have it.
  bool is_of_attacks() const { return entry->of_attack != nullptr; }
  bool operator==(const Quantity&) const = default;
};

/// The names of all quantities but what algorithms observe, for help; "class:K" stands for all classes.
std::vector<std::string> quantity_names();

/// The names among them of what the evaluation of a single round measures, classes left out.
std::vector<std::string> measure_names();

/// The quantity of that name; none where there is none. Observations are not looked for.
std::optional<Quantity> find_quantity(const std::string& name);

/// The number of an entry; `label`: the class, where it has one for each.
Quantity quantity_of(const CatalogueEntry& entry, std::int64_t label = 0);

/// What an algorithm observes of itself under that name.
Quantity observed_quantity(const std::string& name);

/// What may be asked of attacks, for help, the score left open: "attack-auc:SCORE".
std::vector<std::string> attack_quantity_names();

/// The quantity of an attack with any score: "attack-auc:loss"; none for other names.
std::optional<Quantity> find_attack_quantity(const std::string& name);

/// One that exists; otherwise a Bug.
Quantity known_quantity(const std::string& name);

/// The quantity of that name, or what some round of a finished run observes under it. Otherwise an Error that
/// begins with the option and lists both, and `others`.
Quantity parse_quantity(std::string_view option, const std::string& name, std::span<const FoundRun> runs,
                        const std::vector<std::string>& others = {});

/// All names that these rounds observe, ascending.
std::vector<std::string> observed_names(std::span<const RoundRecord> rounds);

/// The same of all rounds of the finished runs.
std::vector<std::string> observed_names(std::span<const FoundRun> runs);

/// After each of the rounds of a run, which begin with its first; nan or infinite where a model diverged,
/// none where the round does not say, or privacy keeps it secret.
std::vector<std::optional<double>> values_of(const Quantity& quantity,
                                             const std::optional<PrivacyClaim>& claim,
                                             std::span<const RoundRecord> rounds);

}  // namespace fedarena::results
