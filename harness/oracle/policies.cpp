#include "harness/oracle/policies.hpp"

#include <algorithm>
#include <utility>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/oracle/random_source.hpp"
#include "harness/oracle/response_mechanism.hpp"

namespace fedarena {
namespace {

const char* const kClipDoc = "clip norm C: the largest Euclidean norm that one unit may contribute";
const char* const kNoiseDoc =
    "noise multiplier: the standard deviation of the noise on a sum is this times the clip norm";
const char* const kListDoc = "; of a list, client c has element c modulo the length";

void check_clip_norm(double clip_norm) {
  if (clip_norm >= kLeastClipNorm) return;
  throw Error(Complaint{.found = fmt::format("clip_norm is {}", clip_norm),
                        .allowed = fmt::format("a number from {} on", kLeastClipNorm),
                        .remedy = "In single precision nothing can be clipped to so little"});
}

// What a policy is to spend at most, or just so: "budget is 3.0"; empty where it does not say.
std::string limit_of(const Accounting& policy) {
  if (policy.budget.most() > 0) return "budget is " + to_text(Value(policy.budget));
  return policy.noise_for_epsilon > 0 ? fmt::format("noise_for_epsilon is {}", policy.noise_for_epsilon) : "";
}

template <typename Policy>
PolicyInfo info(std::string name, std::string summary) {
  return {std::move(name), std::move(summary), Policy::schema().fields(),
          [](const Settings& settings) -> PrivacyPolicy { return Policy::schema().read(settings); }};
}

}  // namespace

Schema<Accounting> Accounting::schema() {
  return {
      {"delta", &Accounting::delta, "the delta at which epsilon is printed, between 0 and 1",
       Constraint::between(0, 1)},
      {"budget", &Accounting::budget,
       "the most that a run may spend, in epsilon by RDP; it ends before the round that would exceed it; 0: "
       "no limit; of a list (policies \"record\" and \"local\"), client c has element c modulo the length, "
       "and takes no further part once that is spent; the policy \"label\" takes none",
       Constraint::at_least(0)},
      {"orders", &Accounting::orders, "orders of the RDP accountant",
       Constraint::one_of({kOrdersNames.begin(), kOrdersNames.end()})},
      {"conversion", &Accounting::conversion, "how RDP becomes epsilon: Balle et al. 2020 or Mironov 2017",
       Constraint::one_of({kConversionNames.begin(), kConversionNames.end()})},
      {"assume", &Accounting::assume,
       "what accountants may take for granted, unproven; tables say so: sampling of a fixed size costs what "
       "Poisson sampling costs",
       Constraint::one_of({kAssumptionNames.begin(), kAssumptionNames.end()})},
      {"noise_source", &Accounting::noise_source,
       "reproducible random streams, or the system's cryptographic generator",
       Constraint::one_of({kStreamNoise, kSystemNoise})},
      {"public_label_counts", &Accounting::public_label_counts,
       "everybody knows how many examples of each class each client holds, which tests of clients "
       "(per_client) may follow; tables say so"},
      {"noise_for_epsilon", &Accounting::noise_for_epsilon,
       "in place of noise_multiplier: the least one, of four digits, with which all rounds cost no more than "
       "this epsilon by RDP, as planned and whatever the seed; 0: as noise_multiplier says; the policy "
       "\"label\" takes none",
       Constraint::at_least(0), /*later=*/true},
  };
}

void Accounting::validate() const {
  if (budget.is_list() && budget.least() == 0) {
    throw Error(Complaint{.found = fmt::format("budget is {}", to_text(Value(budget))),
                          .allowed = "a list of numbers > 0, or one number",
                          .remedy = "A client without a limit among others is one with a large budget"});
  }
  if (noise_for_epsilon > 0 && budget.most() > 0) {
    throw Error(Complaint{
        .found = fmt::format("noise_for_epsilon is {} and budget is {}", noise_for_epsilon,
                             to_text(Value(budget))),
        .allowed = "one of them",
        .remedy = "Noise for an epsilon pays for all rounds; a budget ends a run that has other noise. Set "
                  "one of them to 0"});
  }
  if (delta > 0 && delta < 1) return;
  throw Error(Complaint{.found = fmt::format("delta is {}", delta),
                        .allowed = "a number above 0 and below 1; far below 1 over the number of units"});
}

Schema<RecordPolicy> RecordPolicy::schema() {
  return Schema<RecordPolicy>{
      {"clip_norm", &RecordPolicy::clip_norm, kClipDoc, Constraint::positive()},
      {"noise_multiplier", &RecordPolicy::noise_multiplier, std::string(kNoiseDoc) + kListDoc,
       Constraint::at_least(0)},
      {"sampling", &RecordPolicy::sampling, "how each access draws its batch from the client's examples",
       Constraint::one_of({kPoisson, kWithoutReplacement})},
      {"public_classes", &RecordPolicy::public_classes,
       "everybody knows which classes each client holds examples of; tables say so where an algorithm asks"},
  }
      .extends<Accounting>();
}

void RecordPolicy::validate() const {
  Accounting::validate();
  check_clip_norm(clip_norm);
}

Schema<ClientPolicy> ClientPolicy::schema() {
  return Schema<ClientPolicy>{
      {"clip_norm", &ClientPolicy::clip_norm, kClipDoc, Constraint::positive()},
      {"noise_multiplier", &ClientPolicy::noise_multiplier, std::string(kNoiseDoc) + "; one for all clients",
       Constraint::at_least(0)},
      {"sampling", &ClientPolicy::sampling, "how each round draws its cohort from the clients",
       Constraint::one_of({kPoisson, kWithoutReplacement})},
      {"adaptive_clipping", &ClientPolicy::adaptive_clipping,
       "let the clip norm follow a quantile of the messages' norms (Andrew et al. 2021); its query is "
       "charged"},
      {"target_quantile", &ClientPolicy::target_quantile,
       "adaptive clipping: the part of the messages that are to stay below the clip norm",
       Constraint::between(0, 1)},
      {"clip_rate", &ClientPolicy::clip_rate, "adaptive clipping: learning rate of the clip norm",
       Constraint::positive()},
      {"count_noise", &ClientPolicy::count_noise,
       "adaptive clipping: standard deviation of the noise on the number of messages below the clip norm; 0: "
       "a twentieth of the cohort",
       Constraint::at_least(0)},
      {"as_if_cohort", &ClientPolicy::as_if_cohort,
       "rescale the noise to that of a larger cohort than is simulated; tables print both epsilons; 0: do "
       "not",
       Constraint::at_least(0)},
      {"as_if_population", &ClientPolicy::as_if_population,
       "the clients that the larger cohort is drawn from", Constraint::at_least(0)},
  }
      .extends<Accounting>();
}

void ClientPolicy::validate() const {
  Accounting::validate();
  check_clip_norm(clip_norm);
  for (const auto& [key, value] : {std::pair("noise_multiplier", &noise_multiplier), {"budget", &budget}}) {
    if (!value->is_list()) continue;
    throw Error(Complaint{
        .found = fmt::format("{} is {} under the policy \"client\"", key, to_text(Value(*value))),
        .allowed = "one number",
        .remedy = "Its noise is on the sum over the cohort, and charged to all clients alike. Lists are for "
                  "the policies \"record\" and \"local\""});
  }
  const ClientPolicy unset;
  if (!adaptive_clipping && (target_quantile != unset.target_quantile || clip_rate != unset.clip_rate ||
                             count_noise != unset.count_noise)) {
    throw Error(Complaint{
        .found =
            fmt::format("target_quantile is {}, clip_rate {} and count_noise {}, without adaptive_clipping",
                        target_quantile, clip_rate, count_noise),
        .allowed = "their defaults, because nothing else reads them",
        .remedy = "Set adaptive_clipping = true, or leave them out"});
  }
  if (as_if_cohort == 0 && as_if_population == 0) return;
  if (as_if_cohort >= 1 && as_if_population >= as_if_cohort) return;
  throw Error(Complaint{
      .found = fmt::format("as_if_cohort is {} and as_if_population is {}", as_if_cohort, as_if_population),
      .allowed = "both 0, or a cohort of at least 1 and a population of at least the cohort"});
}

Schema<LocalPolicy> LocalPolicy::schema() {
  return Schema<LocalPolicy>{
      {"mechanism", &LocalPolicy::mechanism,
       "noise on what a client sends: Gaussian; Laplace in R^n under Euclidean distance; or Laplace noise as "
       "long as the message, as published (laplace-relative), which protects nobody: its epsilon is infinite",
       Constraint::one_of({kLocalGaussian, kLocalLaplace, kLocalRelative})},
      {"clip_norm", &LocalPolicy::clip_norm,
       "clip norm C of a client's whole message; 0: none, which leaves laplace a claim per unit of distance",
       Constraint::at_least(0)},
      {"noise_multiplier", &LocalPolicy::noise_multiplier,
       std::string(
           "gaussian: standard deviation of the noise over the clip norm; laplace: its scale over the "
           "clip norm, without one the scale itself; laplace-relative: mean norm of the noise over "
           "that of the message") +
           kListDoc,
       Constraint::at_least(0)},
      {"by_tensor", &LocalPolicy::by_tensor, "clip and noise each tensor of the model by itself"},
  }
      .extends<Accounting>();
}

void LocalPolicy::validate() const {
  Accounting::validate();
  if (clip_norm > 0) check_clip_norm(clip_norm);
  const bool relative = mechanism == kLocalRelative;
  if (const std::string limit = limit_of(*this); !limit.empty() && (relative || clip_norm == 0)) {
    throw Error(Complaint{
        .found =
            fmt::format("{} with {}", limit, relative ? "the mechanism \"laplace-relative\"" : "clip_norm 0"),
        .allowed = "0",
        .remedy = "Whatever the noise, such messages have no finite epsilon; choose the mechanism "
                  "\"gaussian\" or \"laplace\" with a clip_norm > 0"});
  }
  if (mechanism != kLocalGaussian || clip_norm > 0) return;
  throw Error(Complaint{
      .found = "clip_norm is 0 with the mechanism \"gaussian\"",
      .allowed = "a clip norm > 0",
      .remedy = "Only \"laplace\" has a claim for messages of any length: one per unit of distance"});
}

Schema<LabelPolicy> LabelPolicy::schema() {
  return Schema<LabelPolicy>{
      {"epsilon", &LabelPolicy::epsilon,
       "of the one randomised response to each training example's label, at most 64; what the run costs is "
       "what the ledger has of it",
       Constraint::positive()},
      {"stages", &LabelPolicy::stages,
       "1: all labels are randomised alike; 2: half of them, then the other half under the predictions of "
       "the model that the first half trained",
       Constraint::between(1, 2)},
      {"first_rounds", &LabelPolicy::first_rounds,
       "two stages: so many rounds are trained on the first half alone", Constraint::at_least(0)},
  }
      .extends<Accounting>();
}

void LabelPolicy::validate() const {
  Accounting::validate();
  if (epsilon > kLargestLabelEpsilon) {
    throw Error(Complaint{.found = fmt::format("epsilon is {}", epsilon),
                          .allowed = fmt::format("0 < epsilon <= {}", kLargestLabelEpsilon),
                          .remedy = "Far below that, randomised response hardly changes a label"});
  }
  if (const std::string limit = limit_of(*this); !limit.empty()) {
    throw Error(Complaint{
        .found = fmt::format("{} under the policy \"label\"", limit),
        .allowed = "0",
        .remedy = "Labels are randomised once, before the first round: what they cost is epsilon, however "
                  "long a run trains on them"});
  }
  if ((stages == 2) == (first_rounds > 0)) return;
  throw Error(Complaint{.found = fmt::format("stages is {} and first_rounds is {}", stages, first_rounds),
                        .allowed = "one stage and 0 first_rounds, or two stages and at least 1"});
}

void LabelPolicy::check(std::int64_t classes, std::int64_t rounds,
                        const std::vector<std::vector<std::int64_t>>& shards,
                        const std::vector<std::int64_t>& held_out) const {
  if (classes == 0) {
    throw Error(Complaint{.found = "the policy \"label\" randomises class labels, and the data are a "
                                   "regression",
                          .remedy = "Choose data with classes, or another policy"});
  }
  if (stages == 1) return;
  if (first_rounds >= rounds) {
    throw Error(
        Complaint{.found = fmt::format("first_rounds is {}, and the run has {} rounds", first_rounds, rounds),
                  .allowed = fmt::format("fewer than {}", rounds),
                  .remedy = "The second stage needs rounds of its own"});
  }
  for (std::int64_t client = 0; client < std::ssize(shards); ++client) {
    const std::size_t examples = shards[static_cast<std::size_t>(client)].size();
    if (examples >= 2 || std::ranges::binary_search(held_out, client)) continue;
    throw Error(
        Complaint{.found = fmt::format("a client holds {} example, which two stages cannot halve", examples),
                  .allowed = "at least 2 for each client",
                  .remedy = "Deal the data to fewer clients, or set stages = 1"});
  }
}

const std::vector<PolicyInfo>& policies() {
  static const std::vector<PolicyInfo> all{
      {"none",
       "Exact answers: nothing is clipped, nothing is noised.",
       {},
       [](const Settings&) { return PrivacyPolicy(NoPolicy{}); }},
      info<RecordPolicy>("record",
                         "Hides each example: its gradient is clipped, every sum of gradients is noised."),
      info<ClientPolicy>("client",
                         "Hides each client: its message is clipped, the sum of the cohort's is noised."),
      info<LocalPolicy>(
          "local",
          "Hides each client from the server, too: its message is clipped and noised before it leaves."),
      info<LabelPolicy>("label",
                        "Hides each example's label, inputs being public: it is randomised once, before any "
                        "training."),
  };
  return all;
}

PrivacyPolicy make_policy(const std::string& name, const Settings& settings) {
  const PolicyInfo* found = find_named(policies(), name, &PolicyInfo::name);
  if (found == nullptr) throw Bug(fmt::format("no policy \"{}\"", name));
  return found->make(settings);
}

Unit unit(const PrivacyPolicy& policy) {
  return std::visit(Overload{[](const NoPolicy&) { return Unit::kNothing; },
                             [](const RecordPolicy&) { return Unit::kRecord; },
                             [](const ClientPolicy&) { return Unit::kClient; },
                             [](const LocalPolicy&) { return Unit::kLocal; },
                             [](const LabelPolicy&) { return Unit::kLabel; }},
                    policy);
}

bool differs_by_client(const PrivacyPolicy& policy) {
  return std::visit(Overload{[](const NoPolicy&) { return false; }, [](const LabelPolicy&) { return false; },
                             [](const auto& chosen) {
                               return chosen.budget.is_list() || chosen.noise_multiplier.is_list();
                             }},
                    policy);
}

const Accounting& accounting(const PrivacyPolicy& policy) {
  return std::visit([](const Accounting& settings) -> const Accounting& { return settings; }, policy);
}

Accounting accounting(PrivacyPolicy&& policy) { return accounting(std::as_const(policy)); }

bool is_repeatable(const PrivacyPolicy& policy) { return accounting(policy).noise_source == kStreamNoise; }

bool has_budget(const PrivacyPolicy& policy) { return accounting(policy).budget.least() > 0; }

bool has_own_budgets(const PrivacyPolicy& policy) { return accounting(policy).budget.is_list(); }

double budget_of(const PrivacyPolicy& policy, std::int64_t client) {
  return accounting(policy).budget.of(client);
}

bool is_late(FirstLook look, const std::vector<Access>& made) {
  if (look == FirstLook::kTaken || any_event(made, is_exact)) return false;
  return look == FirstLook::kTooLate || any_event(made, is_noised);
}

Event label_count_access(const PrivacyPolicy& policy) {
  if (accounting(policy).public_label_counts) return DeclaredPublic{"label counts"};
  return ExactAccess{"label counts"};
}

SampledGaussian event(const std::string& sampling, double rate, std::vector<double> noise_multipliers) {
  const bool fixed = sampling == kWithoutReplacement;
  return {.sampling = fixed ? Sampling::kWithoutReplacement : Sampling::kPoisson,
          .rate = rate,
          .noise_multipliers = std::move(noise_multipliers),
          .adjacency = fixed ? Adjacency::kReplaceOne : Adjacency::kZeroOut};
}

}  // namespace fedarena
