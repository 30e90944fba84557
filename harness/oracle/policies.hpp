#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "fedarena/accounting/account.hpp"
#include "fedarena/accounting/event.hpp"
#include "fedarena/base/schema.hpp"

namespace fedarena {

/// Names of settings.
inline constexpr const char* kPoisson = "poisson";
inline constexpr const char* kWithoutReplacement = "without-replacement";

/// The least clip norm: in single precision, what is clipped to a norm near 1e-38 loses so many digits that
/// it may be twice as long.
inline constexpr double kLeastClipNorm = 1e-30;

/// What every private policy has: how its epsilon is computed, and what it may become.
struct Accounting : AccountSettings {
  PerClient budget = 0;
  /// Not 0: in place of a noise multiplier that is given, the least one with which the run, as planned, costs
  /// no more than this. It is found before anything runs; what runs, and what is recorded, has the noise.
  double noise_for_epsilon = 0;
  std::string noise_source = "stream";
  bool public_label_counts = false;

  static Schema<Accounting> schema();
  /// Throws Error when delta is not strictly between 0 and 1, when some clients of a list have no budget, and
  /// for a budget beside noise for an epsilon.
  void validate() const;
};

/// Nothing is clipped, nothing is noised, and nothing is accounted.
struct NoPolicy : Accounting {};

/// Records are protected: the oracle privatises every gradient.
struct RecordPolicy : Accounting {
  double clip_norm = 1;
  PerClient noise_multiplier = 1;
  std::string sampling = kPoisson;
  bool public_classes = false;

  static Schema<RecordPolicy> schema();
  void validate() const;
};

/// Clients are protected: the server sees clipped, noised sums of whole messages (central, user-level
/// privacy; McMahan et al., ICLR 2018).
struct ClientPolicy : Accounting {
  double clip_norm = 1;
  PerClient noise_multiplier = 1;  ///< no list: the noise is on the sum of the cohort
  std::string sampling = kPoisson;
  bool adaptive_clipping = false;
  double target_quantile = 0.5;
  double clip_rate = 0.2;
  double count_noise = 0;
  std::int64_t as_if_cohort = 0;
  std::int64_t as_if_population = 0;

  static Schema<ClientPolicy> schema();
  void validate() const;
};

inline constexpr const char* kLocalGaussian = "gaussian";
inline constexpr const char* kLocalLaplace = "laplace";
inline constexpr const char* kLocalRelative = "laplace-relative";

/// Clients are protected against the server, too: what each sends is clipped and noised before it leaves.
struct LocalPolicy : Accounting {
  std::string mechanism = kLocalGaussian;
  double clip_norm = 1;  ///< 0: none, which leaves Laplace noise a claim per unit of distance alone
  /// Of the Gaussian: deviation over clip norm. Laplace: scale over clip norm, or the scale where nothing is
  /// clipped. Relative: the expected norm of the noise over that of the message.
  PerClient noise_multiplier = 1;
  bool by_tensor = false;  ///< each tensor of the layout is clipped and noised by itself

  static Schema<LocalPolicy> schema();
  void validate() const;
};

/// Labels are protected: inputs, and who holds them, are public. Every training example's label is replaced
/// once by a randomised response, and algorithms see nothing else of it (LP-1ST; with two stages LP-2ST:
/// Ghazi et al., "Deep Learning with Label Differential Privacy", NeurIPS 2021, Algorithm 3).
struct LabelPolicy : Accounting {
  double epsilon = 1;
  /// 2: until first_rounds rounds are done, a client holds one half of its examples. Then the labels of the
  /// other half are answered under the global model's prediction as prior, and it holds both.
  std::int64_t stages = 1;
  std::int64_t first_rounds = 0;

  static Schema<LabelPolicy> schema();
  void validate() const;
  /// Throws Error where the run has no labels, fewer rounds than the stages need or, with two of them, a
  /// client who trains on too few examples for halves. `classes`: 0 for a regression; `shards`: the
  /// examples of each client; `held_out`: who never trains, ascending.
  void check(std::int64_t classes, std::int64_t rounds, const std::vector<std::vector<std::int64_t>>& shards,
             const std::vector<std::int64_t>& held_out) const;
};

using PrivacyPolicy = std::variant<NoPolicy, RecordPolicy, ClientPolicy, LocalPolicy, LabelPolicy>;

/// A policy as experiments name it.
struct PolicyInfo {
  std::string name;
  std::string summary;  ///< one sentence
  std::vector<Field> fields;
  std::function<PrivacyPolicy(const Settings&)> make;  ///< throws Error when the settings do not fit together
};

/// "none", "record", "client", "local", "label".
const std::vector<PolicyInfo>& policies();
/// The policy of that name with those settings; an unknown name is a Bug.
PrivacyPolicy make_policy(const std::string& name, const Settings& settings);

/// The policy as one client has it, without lists.
template <typename Policy>
Policy of_client(Policy policy, std::int64_t client) {
  policy.noise_multiplier = policy.noise_multiplier.of(client);
  policy.budget = policy.budget.of(client);
  return policy;
}

Unit unit(const PrivacyPolicy& policy);
/// Whether noise or budgets are lists, so that each client's epsilon is its own.
bool differs_by_client(const PrivacyPolicy& policy);
/// What the policies have in common; as it is by default where there is nothing to account.
const Accounting& accounting(const PrivacyPolicy& policy);
Accounting accounting(PrivacyPolicy&& policy);
/// Whether its noise and samples can be drawn again.
bool is_repeatable(const PrivacyPolicy& policy);

/// Whether there is a limit of what the run, or each client, may spend.
bool has_budget(const PrivacyPolicy& policy);
/// Whether each client has a limit of its own.
bool has_own_budgets(const PrivacyPolicy& policy);
/// The limit that holds for a client, in epsilon; 0: none.
double budget_of(const PrivacyPolicy& policy, std::int64_t client);

/// When the first exact access of a run may come. One that a noised answer decided on would make a run
/// infinite that is finite without it.
enum class FirstLook {
  kTaken,   ///< it has come, and the next may come whenever they like
  kOpen,    ///< before any noised answer
  kTooLate  ///< there were such answers
};
/// Whether an exact access after those that were made in this round comes too late.
bool is_late(FirstLook look, const std::vector<Access>& made);

/// How it is written down that somebody learns how many examples of each class a client holds.
Event label_count_access(const PrivacyPolicy& policy);

/// The event of Gaussian answers over one sample. Sampling of a fixed size is analysed for neighbours that
/// exchange a unit (their number is fixed, after all), Poisson sampling for neighbours that have one more or
/// less.
SampledGaussian event(const std::string& sampling, double rate, std::vector<double> noise_multipliers);

}  // namespace fedarena
