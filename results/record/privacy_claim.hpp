#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "fedarena/accounting/account.hpp"
#include "fedarena/base/schema.hpp"

namespace fedarena::results {

using Json = nlohmann::ordered_json;
class RecordForm;

/// Why a run ended before its planned rounds, as `PrivacyClaim::stopped` names it: the next round would have
/// overspent the budget.
inline constexpr const char* kStoppedByBudget = "budget";

/// What a run under a privacy policy may claim, as its summary and its tables state it. Everything but
/// `unit`, `settings` and `budget` is a result, which exists only once the run is finished.
struct PrivacyClaim {
  std::string unit = {};  ///< whose contribution is hidden: "record", "client", "local" or "label" (see Unit)
  /// By name; empty where nothing was privatised.
  std::string adjacency = {};
  AccountSettings settings = {};
  bool assumed = false;           ///< whether some access rests on what `settings.assume` says
  std::optional<Claim> rdp = {};  ///< present exactly when finished
  double order = 0;               ///< of the RDP epsilon; 0 where there is none
  std::optional<Claim> pld = {};  ///< present exactly when finished
  std::optional<Claim> as_if_rdp =
      {};  ///< of the larger population that rescaled noise simulates; none where it is not rescaled
  std::optional<Claim> as_if_pld = {};  ///< present together with `as_if_rdp`
  std::optional<Claim> made_rdp =
      {};  ///< of what was asked for alone, where the claim charges for more: see Ledger, ChargedBudget
  std::optional<Claim> made_pld = {};  ///< present together with `made_rdp`
  bool per_client = false;  ///< whether noise or budgets are lists, so that each client's epsilon is its own
  std::optional<Claim> least_rdp =
      {};  ///< then of the client with the least, of those who took part; present together with `rdp`
  std::optional<Claim> least_pld = {};  ///< of the same client
  /// Those whose own budgets are spent by what is charged, which is the plan's where a run ended early.
  std::int64_t spent_clients = 0;
  /// What distance 1 between messages costs, where that is all a mechanism claims; of the client that it
  /// costs most.
  std::optional<double> per_distance = {};
  /// What papers call their privacy, summed over accesses, and the largest of any client: no epsilon.
  std::vector<std::pair<std::string, double>> nominal = {};
  /// Whether accesses changed from round to round, or would have, without a plan: data may have decided that.
  bool varied = false;
  /// Whether noised answers about a client's examples stand in no plan, so that earlier answers may have
  /// decided how many there are, also in a run of one round or in the first of many.
  bool unplanned = false;
  std::string exact_access = {};  ///< the first access that nothing privatised, and whose it was; or empty
  /// What the claim takes as public beside sizes, in words, in alphabetical order: what the ledger declares
  /// for the run, and what accesses in it are declared to be.
  std::vector<std::string> public_data = {};
  std::int64_t units = 0;        ///< examples, or clients, that there are; 0 before the run is finished
  std::int64_t as_if_units = 0;  ///< clients of the population of `as_if_rdp`; 0 where there is none
  PerClient budget = 0;          ///< the epsilon that the run, or each client, must not exceed; 0 for none
  std::string stopped = {};      ///< kStoppedByBudget or empty

  bool operator==(const PrivacyClaim&) const = default;
};

/// What a number tells the sizes of, where they may be drawn at random. Who knows the batches knows cohorts;
/// the time that a round trains for tells its batches.
enum class DrawnSizes { kNone, kBatches, kCohorts };

/// Whether privacy keeps these sizes secret: where each unit was drawn on its own, and before the end of a
/// run, when nobody has looked yet; of batches also where clients are the unit, whose own work is secret. No
/// number of this kind is shown.
bool is_secret(DrawnSizes sizes, const std::optional<PrivacyClaim>& claim);

/// Whether epsilon is what a budget proves, because data decided how much of it was spent.
bool charges_budget(const PrivacyClaim& claim);
/// Whether only the whole run's epsilon is one, because data may have decided what was asked for in its
/// rounds.
bool hides_what_was_spent(const PrivacyClaim& claim);
/// Whether epsilon is proven only if data had no say in what was asked for from round to round.
bool assumes_data_had_no_say(const PrivacyClaim& claim);

/// Whether there is an epsilon, and a finite one.
bool is_finite(const std::optional<Claim>& claim);
/// Whether any accountant has one.
bool is_finite(const PrivacyClaim& claim);

/// The claim of a row over two finished runs with the same settings: the worse epsilon of each accountant,
/// and what is noteworthy in either.
PrivacyClaim joint(const PrivacyClaim& left, const PrivacyClaim& right);

/// An epsilon as JSON: a number, "inf", or "unproven"; null where there is none yet.
Json json_epsilon(const std::optional<Claim>& claim);

/// The fields of a claim. Values that contradict each other are an Error that names the field.
void form_privacy(RecordForm& form, PrivacyClaim& claim);

/// Appends them to an object.
void append_privacy(Json& json, const PrivacyClaim& claim);

}  // namespace fedarena::results
