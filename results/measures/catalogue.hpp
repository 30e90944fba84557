#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "results/record/record.hpp"
#include "results/statistics/separation.hpp"

namespace fedarena::results {

/// What a number is, which says how it is written and which of two is the better one.
enum class NumberUnit { kShare, kError, kEpsilon, kBytes, kCount, kSeconds };

/// How the number that a run has after a round follows from its rounds so far.
enum class OverRounds { kLast, kSum, kLargest };

/// Whole numbers keep all their digits.
using RecordedNumber = std::variant<std::int64_t, double>;

/// A number that rounds have: what it is called, and where a record has it.
struct CatalogueEntry {
  std::string_view name = {};     ///< as the command line has it; empty where nothing may ask for it
  std::string_view heading = {};  ///< for the head of a column or an axis, with its unit
  std::string_view words = {};    ///< to begin a legend
  std::string_view field = {};    ///< as rounds.jsonl and exports have it; empty: not exported
  std::string_view group = {};    ///< of fields that belong together, in exports
  std::string_view column = {};   ///< of tables for programs; empty: no column of its own
  NumberUnit unit = NumberUnit::kShare;
  OverRounds over_rounds = OverRounds::kLast;
  DrawnSizes draws = DrawnSizes::kNone;  ///< whose sizes it tells
  bool axis = false;                     ///< whether it may be the horizontal axis: what a run has spent
  std::string_view recorded_with = {};   ///< the setting with which rounds record it; empty where none does
  /// Of one round; none where the record lacks it; nan or infinite where a model diverged.
  std::optional<RecordedNumber> (*of_round)(const RoundRecord&) = nullptr;
  /// In its place for what has a number for each class or word: the classes and words that have one.
  std::vector<std::pair<std::string, double>> (*each_of_round)(const RoundRecord&) = nullptr;
  /// What the run claims at its end, for what is known there alone, or is another number there.
  std::optional<Claim> PrivacyClaim::*claim = nullptr;
  /// Of a finished run, for a column; none where its summary lacks it.
  std::optional<double> (*of_summary)(const Summary&) = nullptr;
  /// Of an attack on the finished run, which rounds do not have.
  double Separation::*of_attack = nullptr;
};

/// All but those of attacks, in the order in which help and exports list them. A number that rounds record is
/// one entry.
std::span<const CatalogueEntry> catalogue();

/// The entry that may be asked for under that name; nullptr without any.
const CatalogueEntry* find_entry(std::string_view name);

/// What is known of each attack on the membership of a run's examples, once for each score, which follows
/// name and field: "attack-auc:loss", "attack_auc_loss".
using AttackMeasure = CatalogueEntry;
std::span<const AttackMeasure> attack_measures();

/// What may be the horizontal axis. Names that quantities have as well mean the same.
using CurveAxis = CatalogueEntry;
std::span<const CurveAxis> curve_axes();

/// What a round of a run of that claim says of it; none where it does not. An epsilon is the whole run's
/// where data may have decided how much of a budget was spent by then.
std::optional<RecordedNumber> number_of(const CatalogueEntry& entry, const std::optional<PrivacyClaim>& claim,
                                        const RoundRecord& round);

/// The numbers of a run of that claim after each of its rounds. Sums end where a round does not say; what
/// privacy keeps secret has none.
std::vector<std::optional<double>> values_of(const CatalogueEntry& entry,
                                             const std::optional<PrivacyClaim>& claim,
                                             std::span<const RoundRecord> rounds);

/// Why there are none.
inline constexpr const char* kSecretSizes = "drawn samples, whose sizes privacy keeps secret";

}  // namespace fedarena::results
