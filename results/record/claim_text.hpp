#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/record/privacy_claim.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {

/// How an epsilon is written: `epsilon_text`, `epsilon_number` or `exact_number`.
using EpsilonText = std::string (*)(double);

/// What one accountant claims: "2.79", or "unproven"; "none" without a claim.
std::string claim_text(const std::optional<Claim>& claim, EpsilonText number = epsilon_text);

/// Marks an epsilon that rests on an assumption nobody has proven; explained by a note.
inline constexpr const char* kAssumedMark = "†";

/// The mark where this epsilon of the claim rests on such an assumption, otherwise empty: none is needed for
/// an infinite or unproven one.
const char* assumption_mark(const PrivacyClaim& claim, const std::optional<Claim>& epsilon);

/// What both claim, marked: "2.79 (RDP), 2.50 (PLD)", and of the population that rescaled noise simulates;
/// "none" without privacy.
std::string claims_text(const std::optional<PrivacyClaim>& claim, EpsilonText number = epsilon_text);

/// What is said wherever a nominal number stands.
inline constexpr const char* kNominalNote =
    "a paper's own count over all rounds; it is not an epsilon and bounds nothing here";

/// What a reader must know of the unit "label".
inline constexpr const char* kLabelNeighbours =
    "one example's label exchanged for another; inputs, and who holds them, are public";

/// What a reader must know of sizes under the policy "local", where many algorithms send them.
inline constexpr const char* kSentSizes = "messages may tell how many examples their client has";

/// What is said of an epsilon of accesses that nobody planned.
inline constexpr const char* kUnplannedNote =
    "it does not say beforehand what it asks for (access_plan, docs/adding-an-algorithm.md), so epsilon is "
    "proven only if no answer had a say in that";
/// What is said of epsilons of single clients where those of others are infinite by exact accesses.
inline constexpr const char* kOthersExactNote =
    "proven only if no answer had a say in who was looked at exactly";
/// What is said beside the nominal epsilon of synthetic labels.
inline constexpr const char* kSyntheticLabelsNote =
    "synthetic images are made from raw examples: randomised labels beside them hide neither these examples "
    "nor their labels";

/// A budget, or the list of the clients'.
std::string budget_text(const PerClient& budget);

/// A warning where delta is not below one over the units, since then it allows to publish one of them as it
/// is; or empty.
std::string delta_warning(const PrivacyClaim& claim);
/// The same of so many units of one kind ("example").
std::string delta_warning(double delta, std::int64_t units, const char* unit);

/// What is charged in place of what was asked for, such as "epsilon is the budget"; empty where nothing is.
std::string charge_text(const PrivacyClaim& claim);

/// What the claim takes as public beside sizes: "each client's classes, the server's proxy data"; or empty.
std::string public_text(const PrivacyClaim& claim);

/// The order of the RDP epsilon: "8.5", "pure", or "-" where there is none.
std::string order_text(double order);

/// What a run claims, as (head, sentence); the head is empty where a line goes on. `claim` is a finished
/// run's.
std::vector<std::pair<std::string, std::string>> claim_lines(const PrivacyClaim& claim);

}  // namespace fedarena::results
