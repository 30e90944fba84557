#include "results/measures/round_metric.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/attack_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/validation.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// A moment that is asked for: its key, and what it adds to a heading and to a legend, "{}" for its limit.
struct MomentWords {
  Moment moment;
  const char* key;
  const char* heading;
  const char* legend;
};

constexpr std::array<MomentWords, 5> kMoments = {
    {{Moment::kRound, "round", " at round {}", " after round {}"},
     {Moment::kEpsilon, "epsilon", " at epsilon ≤ {}",
      " after the last evaluated round by which an epsilon (RDP) of at most {} was spent"},
     {Moment::kBytes, "bytes", " at ≤ {}",
      " after the last evaluated round by which all clients together had sent and received at most {} bytes"},
     {Moment::kValidation, "validation-accuracy", " at validation ≥ {}",
      " after the first evaluated round whose validation accuracy is at least {}"},
     {Moment::kBestValidation, "best-validation", " at best validation",
      " after the round that was best on validation examples"}}};

// What a run has spent by a round, which is no quantity of curves but may be their axis.
std::optional<Quantity> find_spent(const std::string& name) {
  const CatalogueEntry* entry = find_entry(name);
  if (entry == nullptr || !entry->axis || find_quantity(name)) return std::nullopt;
  return quantity_of(*entry);
}

// What is no quantity of curves.
std::vector<std::string> other_names() {
  std::vector<std::string> names;
  for (const CurveAxis& axis : curve_axes()) {
    if (const std::string name(axis.name); find_spent(name)) names.push_back(name);
  }
  const std::vector<std::string> of_attacks = attack_quantity_names();
  names.insert(names.end(), of_attacks.begin(), of_attacks.end());
  return names;
}

[[noreturn]] void reject(const std::string& found, const std::string& allowed, const std::string& nearest) {
  throw Error(Complaint{.found = found, .allowed = allowed, .nearest = nearest});
}

Moment parse_moment(const std::string& whole, const std::string& text) {
  if (const auto* words = find_named(kMoments, text, &MomentWords::key)) return words->moment;
  const std::vector<std::string> keys = names_of(kMoments, &MomentWords::key);
  reject(fmt::format("--metric {}: \"{}\" is unknown", whole, text), join_names(keys),
         nearest_name(text, keys));
}

double parse_limit(Moment moment, const std::string& whole, const std::string& text) {
  const std::optional<double> limit = parse_number<double>(text);
  const bool round = moment == Moment::kRound;
  const bool share = moment == Moment::kValidation;
  const bool number = limit && std::isfinite(*limit) && *limit >= 0 && (!share || *limit <= 1);
  if (number && (!round || (*limit >= 1 && *limit == std::floor(*limit)))) return *limit;
  reject(fmt::format("--metric {}: the limit is \"{}\"", whole, text),
         round   ? "a whole number from 1"
         : share ? "a fraction from 0 to 1"
                 : "a number from 0",
         {});
}

// The last evaluated round for which the condition holds, which is asked round by round in order; nullptr
// without any.
template <typename Condition>
const RoundRecord* last_evaluated(std::span<const RoundRecord> rounds, const Condition& holds) {
  const RoundRecord* last = nullptr;
  for (const RoundRecord& round : rounds) {
    if (holds(round) && round.test_loss) last = &round;
  }
  return last;
}

// The round of that number. It has its costs in any case, but accuracies only when it was evaluated.
const RoundRecord* numbered(const RoundMetric& metric, std::span<const RoundRecord> rounds) {
  for (const RoundRecord& round : rounds) {
    if (static_cast<double>(round.round) != metric.limit) continue;
    return round.test_loss || !metric.quantity.evaluated ? &round : nullptr;
  }
  return nullptr;
}

// Of equal ones the first.
const RoundRecord* best_by_validation(std::span<const RoundRecord> rounds) {
  const RoundRecord* best = nullptr;
  for (const RoundRecord& round : rounds) {
    const std::optional<ValidationScore> score = validation_score(round);
    if (score && (best == nullptr || score->better_than(*validation_score(*best)))) best = &round;
  }
  return best;
}

const RoundRecord* first_validated(double least, std::span<const RoundRecord> rounds) {
  for (const RoundRecord& round : rounds) {
    const std::optional<ValidationScore> score = validation_score(round);
    if (score && !score->diverged && score->criterion == kByValidationAccuracy && score->value >= least)
      return &round;
  }
  return nullptr;
}

const RoundRecord* find_round(const RoundMetric& metric, std::span<const RoundRecord> rounds) {
  switch (metric.moment) {
    case Moment::kLast:
      return rounds.empty() ? nullptr : &rounds.back();
    case Moment::kRound:
      return numbered(metric, rounds);
    case Moment::kEpsilon:
      return last_evaluated(
          rounds, [&](const RoundRecord& round) { return round.epsilon && *round.epsilon <= metric.limit; });
    case Moment::kBytes: {
      double bytes = 0;
      return last_evaluated(rounds, [&](const RoundRecord& round) {
        bytes += static_cast<double>(round.uplink_bytes) + static_cast<double>(round.downlink_bytes);
        return bytes <= metric.limit;
      });
    }
    case Moment::kValidation:
      return first_validated(metric.limit, rounds);
    case Moment::kBestValidation:
      return best_by_validation(rounds);
  }
  throw Bug("a moment without a round");
}

// Whether what rounds say of an epsilon below that much is one: not where data may have decided how much was
// asked for until then.
bool proves(double limit, const PrivacyClaim& claim) {
  return !claim.varied || (hides_what_was_spent(claim) && limit >= *claim.rdp->epsilon);
}

// Validation examples are private ones, so that a round that they choose costs what the whole run does.
bool is_of_whole_run(const RoundMetric& metric) {
  return metric.quantity.is_epsilon() &&
         (metric.moment == Moment::kValidation || metric.moment == Moment::kBestValidation);
}

std::string why_no_round(const RoundMetric& metric, std::span<const RoundRecord> rounds) {
  const std::string limit = exact_number(metric.limit);
  switch (metric.moment) {
    case Moment::kLast:
      return "no round";
    case Moment::kRound:
      if (metric.limit > static_cast<double>(rounds.size())) return fmt::format("no round {}", limit);
      return fmt::format("no evaluation of round {}", limit);
    case Moment::kEpsilon:
      if (std::ranges::none_of(rounds, [](const RoundRecord& round) { return round.epsilon.has_value(); })) {
        return "no epsilon";
      }
      return fmt::format("no evaluated round with an epsilon of at most {}", limit);
    case Moment::kBytes:
      return fmt::format("no evaluated round by which at most {} bytes were sent and received", limit);
    case Moment::kValidation:
      if (std::ranges::none_of(rounds,
                               [](const auto& round) { return round.validation_accuracy.has_value(); }))
        return "no validation accuracy";
      return fmt::format("no evaluated round with a validation accuracy of at least {}", limit);
    case Moment::kBestValidation:
      return "no validation examples";
  }
  throw Bug("a moment without a reason");
}

std::string why_no_value(const Quantity& quantity, const RoundRecord& round) {
  const std::string missing = fmt::format("no {} in the rounds", quantity.name);
  if (round.classes && quantity.label >= std::ssize(round.classes->accuracy))
    return fmt::format("{}, whose classes are 0 to {}", missing, round.classes->accuracy.size() - 1);
  const std::string_view setting = quantity.entry->recorded_with;
  return setting.empty() ? missing : fmt::format("{}, which record it with {}", missing, setting);
}

}  // namespace

RoundMetric parse_round_metric(const std::string& text, std::span<const FoundRun> runs) {
  RoundMetric metric;
  metric.text = text;
  const std::size_t at = text.find('@');
  const std::string name = text.substr(0, at);
  const std::optional<Quantity> attack = find_attack_quantity(name);
  const std::optional<Quantity> other = attack ? attack : find_spent(name);
  metric.quantity = other ? *other : parse_quantity("--metric", name, runs, other_names());
  if (at == std::string::npos) return metric;
  if (attack) reject(fmt::format("--metric {}: attacks are on the last model alone", text), name, {});
  const std::string rest = text.substr(at + 1);
  const std::size_t equals = rest.find('=');
  metric.moment = parse_moment(text, rest.substr(0, equals));
  if (metric.moment == Moment::kBestValidation) {
    if (equals == std::string::npos) return metric;
    reject(fmt::format("--metric {}: it takes no limit", text), text.substr(0, at + 1 + equals), {});
  }
  metric.limit = parse_limit(metric.moment, text, equals == std::string::npos ? "" : rest.substr(equals + 1));
  return metric;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names = quantity_names();
  const std::vector<std::string> others = other_names();
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

Reading read_metric(const RoundMetric& metric, const Summary& summary, const std::filesystem::path& run) {
  const Quantity& quantity = metric.quantity;
  if (!quantity.is_of_attacks()) {
    if (is_secret(quantity.entry->draws, summary.privacy))
      return {.missing = kSecretSizes};  // nothing of which is read
    return read_metric(metric, summary.privacy, RunDirectory::open(run).rounds());
  }
  try {
    const std::optional<MembershipAttacks> attacks = read_attacks(run);
    const auto* attack =
        attacks ? find_named(attacks->attacks, quantity.part, &MembershipAttack::score) : nullptr;
    if (attack != nullptr)
      return {.value = attack->separation.*quantity.entry->of_attack, .round = summary.rounds_done};
  } catch (const Error& error) {
    return {.missing = problem_line(error)};
  }
  return {.missing = fmt::format("no attack with the score {}; fedarena attack makes one", quantity.part)};
}

bool is_spent_until_the_end(const RoundMetric& metric) {
  return metric.quantity.entry->axis && metric.moment == Moment::kLast;
}

Reading read_metric(const RoundMetric& metric, const std::optional<PrivacyClaim>& claim,
                    std::span<const RoundRecord> rounds) {
  const DrawnSizes chosen_by = metric.moment == Moment::kBytes ? DrawnSizes::kCohorts : DrawnSizes::kNone;
  if (is_secret(metric.quantity.entry->draws, claim) || is_secret(chosen_by, claim))
    return {.missing = kSecretSizes};
  const RoundRecord* round = find_round(metric, rounds);
  const bool unproven =
      claim && (metric.moment == Moment::kEpsilon
                    ? !proves(metric.limit, *claim)
                    : metric.quantity.is_epsilon() && claim->varied && !hides_what_was_spent(*claim));
  if (unproven)
    return {.missing = "no epsilon of a round, because answers may have decided what was asked for"};
  if (round == nullptr) return {.missing = why_no_round(metric, rounds)};
  const auto count = static_cast<std::size_t>(round - rounds.data()) + 1;
  std::optional<double> value = values_of(metric.quantity, claim, rounds.first(count)).back();
  // What data ended is charged for more than its rounds.
  const bool whole = is_of_whole_run(metric) || (metric.quantity.is_epsilon() && count == rounds.size());
  if (whole && claim && claim->rdp) value = claim->rdp->epsilon;
  if (!value) return {.missing = why_no_value(metric.quantity, *round)};
  return {.value = value, .round = round->round};
}

std::string heading(const RoundMetric& metric) {
  std::string what = metric.quantity.heading;
  if (metric.moment == Moment::kLast) return what;
  if (is_of_whole_run(metric)) return what + " of the run";
  const std::string limit =
      metric.moment == Moment::kBytes ? human_bytes(metric.limit) : exact_number(metric.limit);
  const MomentWords* words = find_named(kMoments, metric.moment, &MomentWords::moment);
  return what + fmt::format(fmt::runtime(words->heading), limit);
}

std::string describe(const RoundMetric& metric) {
  const std::string& what = metric.quantity.words;
  if (metric.moment == Moment::kLast) return what + " after the last round";
  if (is_of_whole_run(metric)) return what + " of the whole run, since private scores choose the round";
  const MomentWords* words = find_named(kMoments, metric.moment, &MomentWords::moment);
  return what + fmt::format(fmt::runtime(words->legend), exact_number(metric.limit));
}

}  // namespace fedarena::results
