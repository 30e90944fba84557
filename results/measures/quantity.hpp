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

/// A number that a run has after its rounds: what tables, comparisons and curves are of.
struct Quantity {
  const CatalogueEntry* entry = nullptr;  ///< none for what an algorithm observes of itself
  std::int64_t label = 0;                 ///< of "class:K"
  std::string observed = {};              ///< what the algorithm calls it
  const AttackMeasure* attack = nullptr;  ///< of attacks on the finished run; rounds do not have it
  std::string score = {};                 ///< of the attack
  bool operator==(const Quantity&) const = default;
};

/// Which of two numbers is the better one.
enum class Better { kMore, kLess, kNeither };

/// The names of all quantities but what algorithms observe, for help; "class:K" stands for all classes.
std::vector<std::string> quantity_names();

/// The names among them of what the evaluation of a single round measures, classes left out.
std::vector<std::string> measure_names();

/// The quantity of that name; none where there is none. Observations are not looked for.
std::optional<Quantity> find_quantity(const std::string& name);

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

/// As users write it.
std::string name_of(const Quantity& quantity);

/// For the head of a column or an axis: "class 3 (%)".
std::string heading(const Quantity& quantity);

/// To begin a legend: "Accuracy on test examples of class 3".
std::string describe(const Quantity& quantity);

/// The setting of an experiment file with which rounds record it, "[evaluation] per_client = true"; empty
/// where no setting does.
std::string recorded_with(const Quantity& quantity);

/// Whether it tells sizes that the privacy of a run keeps secret.
bool is_secret(const Quantity& quantity, const std::optional<PrivacyClaim>& claim);

/// Whether it is an epsilon, which is rounded up wherever it is printed.
bool is_epsilon(const Quantity& quantity);

/// Whether it is a fraction.
bool is_share(const Quantity& quantity);

Better better(const Quantity& quantity);

/// Whether only evaluated rounds have it.
bool is_evaluated(const Quantity& quantity);

/// After each of the rounds of a run, which begin with its first; nan or infinite where a model diverged,
/// none where the round does not say, or privacy keeps it secret.
std::vector<std::optional<double>> values_of(const Quantity& quantity,
                                             const std::optional<PrivacyClaim>& claim,
                                             std::span<const RoundRecord> rounds);

}  // namespace fedarena::results
