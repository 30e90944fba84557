#include "results/audit/compare_accesses.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Divisions and roots round alike everywhere; this leaves room for those that are made in another order.
constexpr double kReordering = 1e-12;

bool nearly_same(double left, double right) {
  return std::abs(left - right) <= kReordering * std::abs(right);
}

std::string listed(const std::vector<double>& numbers) { return joined(numbers, " and ", exact_number); }

void compare_event(const SampledGaussian& event, const SampledGaussian& expected, const std::string& whose,
                   Kinds& kinds) {
  const bool same_noise =
      std::ranges::equal(event.noise_multipliers, expected.noise_multipliers, nearly_same);
  kinds.result(same_noise, "noise multiplier", whose, listed(event.noise_multipliers),
               listed(expected.noise_multipliers));
  kinds.result(event.sampling == expected.sampling, "sampling", whose, name(event.sampling),
               name(expected.sampling));
  kinds.result(event.adjacency == expected.adjacency, "adjacency", whose, name(event.adjacency),
               name(expected.adjacency));
}

// What is neither a Gaussian over a sample nor exact, which no policy makes, and what is public only where
// the experiment says so.
void compare_others(const Access& access, const ExpectedLedger& expected, const std::string& whose,
                    Kinds& kinds) {
  if (std::holds_alternative<Nominal>(access.event)) return;  // which no epsilon reads
  if (const auto* open = std::get_if<DeclaredPublic>(&access.event)) {
    kinds.result(expected.declares_public(open->what), "public " + open->what, whose, "declared",
                 "not declared");
  } else if (const auto* exact = std::get_if<ExactAccess>(&access.event)) {
    kinds.result(!expected.declares_public(exact->what), "public " + exact->what, whose, "not declared",
                 "declared");
  } else {
    kinds.result(false, "access", whose, describe(access.event), "none of that kind");
  }
}

// Of the vector that got noise; 0 where the event does not tell.
std::int64_t dimension_of(const Event& event) {
  if (const auto* laplace = std::get_if<Laplace>(&event)) return laplace->dimension;
  const auto* metric = std::get_if<MetricLaplace>(&event);
  return metric != nullptr ? metric->dimension : 0;
}

// An event of any dimension in R^1, for the comparison with one whose dimension the experiment does not tell.
Event on_the_line(Event event) {
  if (auto* laplace = std::get_if<Laplace>(&event)) laplace->dimension = 1;
  if (auto* metric = std::get_if<MetricLaplace>(&event)) metric->dimension = 1;
  return event;
}

// `centred`: whether the spread of centres may have made it worth less privacy than that.
bool same_mechanism(const Event& event, const Event& expected, bool centred) {
  const auto noise = [](const Event& of) -> std::optional<double> {
    if (const auto* gaussian = std::get_if<Gaussian>(&of)) return gaussian->noise_multiplier;
    if (const auto* laplace = std::get_if<Laplace>(&of)) return 1 / laplace->epsilon;
    if (const auto* metric = std::get_if<MetricLaplace>(&of)) return metric->scale;
    return std::nullopt;
  };
  if (event.index() != expected.index()) return false;
  const auto left = noise(event), right = noise(expected);
  if (!left || !right) return event == expected;
  const bool less = centred && !std::holds_alternative<MetricLaplace>(event) && *left < *right;
  return (less || nearly_same(*left, *right)) && adjacencies({{event, 1}}) == adjacencies({{expected, 1}});
}

std::string described(const std::vector<Access>& accesses) {
  return joined(accesses, ", ", [](const Access& access) { return describe(access.event); });
}

// What accesses to records were counted by: those over samples, and those of the whole shard.
struct RecordCounts {
  std::int64_t sampled = 0, whole = 0;
};

RecordCounts compare_record_events(const std::vector<Access>& accesses, const std::set<double>& rates,
                                   const SampledGaussian& noised, const ExpectedLedger& expected,
                                   const std::string& whose, Kinds& kinds) {
  RecordCounts counts;
  for (const Access& access : accesses) {
    // A vote, with the noise of every access: of parts, or of all examples with the neighbours of a sample.
    if (const auto* vote = std::get_if<Gaussian>(&access.event)) {
      const bool as_samples = vote->adjacency == noised.adjacency;
      const Adjacency adjacency = as_samples ? noised.adjacency : Adjacency::kReplaceOne;
      compare_event({noised.sampling, 1, {vote->noise_multiplier}, vote->adjacency},
                    {noised.sampling, 1, noised.noise_multipliers, adjacency}, whose, kinds);
      counts.whole += access.count;
      continue;
    }
    const auto* event = std::get_if<SampledGaussian>(&access.event);
    if (event == nullptr) {
      compare_others(access, expected, whose, kinds);
      continue;
    }
    (event->rate < 1 ? counts.sampled : counts.whole) += access.count;
    compare_event(*event, noised, whose, kinds);
    const bool fits = rates.empty() ||
                      std::ranges::any_of(rates, [&](double rate) { return nearly_same(event->rate, rate); });
    kinds.result(fits, "sampling rate", whose, event->rate, joined(rates, " or ", exact_number));
  }
  return counts;
}

// "24 over samples, 1 of the whole shard"
std::string counts_text(std::int64_t sampled, std::int64_t whole) {
  return fmt::format("{} over samples, {} of the whole shard", sampled, whole);
}

// "25 by 2 attempts": each is allowed as many as the only one.
std::string by_attempts(std::int64_t count, const Ledger::Segment& segment) {
  return segment.attempts == 1 ? std::to_string(count)
                               : fmt::format("{} by {} attempts", count, segment.attempts);
}

// A plan is charged in full: what was made, and the rest.
void compare_plan(const RecordCounts& made, const RecordCounts& unmade, const ExpectedLedger::Plan& plan,
                  std::int64_t attempts, const std::string& whose, Kinds& kinds) {
  using Count = ExpectedLedger::Count;
  const std::int64_t sampled = made.sampled + unmade.sampled, whole = made.whole + unmade.whole;
  const bool fits = Count{plan.sampled, plan.sampled}.allows(sampled, attempts) &&
                    Count{plan.whole, plan.whole}.allows(whole, attempts);
  kinds.result(fits, "accesses planned for a round", whose, counts_text(sampled, whole),
               counts_text(plan.sampled, plan.whole));
}

// How often the sums of a round of the segment are answered, all of them at once; each time with the noise
// that is expected.
std::int64_t compare_sums(const Ledger::Segment& segment, const SampledGaussian& expected,
                          const ExpectedLedger& experiment, const std::string& whose, Kinds& kinds) {
  std::int64_t count = 0;
  for (const Access& access : segment.accesses) {
    const auto* event = std::get_if<SampledGaussian>(&access.event);
    if (event == nullptr) {
      compare_others(access, experiment, whose, kinds);
      continue;
    }
    count += access.count;
    compare_event(*event, expected, whose, kinds);
    kinds.result(nearly_same(event->rate, expected.rate), "sampling rate", whose, event->rate, expected.rate);
  }
  return count;
}

// Whether no sum need be answered: where the messages are read one by one, or nobody looks at them.
bool needs_no_sum(const Ledger::Segment& segment, const ExpectedLedger& experiment, std::int64_t clients) {
  constexpr std::int64_t kMost = 1'000'000;  // rounds, for an edited ledger
  const auto reads = [](const Access& access) { return is_exact(access.event); };
  if (std::ranges::any_of(segment.accesses, reads)) return true;
  if (segment.last_round - segment.first_round > kMost) return false;
  for (std::int64_t round = segment.first_round; round <= segment.last_round; ++round) {
    if (!experiment.may_answer_nothing(round, clients)) return false;
  }
  return true;
}

}  // namespace

void compare_records(std::int64_t client, const Ledger::ClientRecord& record, std::int64_t ended_after,
                     const ExpectedLedger& expected, Kinds& kinds) {
  const std::string whose = client_text(client);
  const SampledGaussian noised = expected.of_records(client);
  const std::set<double> rates = expected.rates(record.examples);
  const auto due = expected.accesses(record.examples);
  const auto plan = expected.plan(record.examples);
  for (const Ledger::Segment& segment : record.segments) {
    const RecordCounts made = compare_record_events(segment.accesses, rates, noised, expected, whose, kinds);
    const RecordCounts unmade = compare_record_events(segment.unmade.value_or(std::vector<Access>()), rates,
                                                      noised, expected, whose, kinds);
    if (!due) continue;
    // Of a round that a rule left out, nothing was made where there is a plan.
    const bool left_out = ended_after > 0 && segment.first_round > ended_after;
    const std::int64_t count = made.sampled + made.whole;
    kinds.result((left_out && plan && count == 0) || due->allows(count, segment.attempts),
                 "accesses in a round", whose, by_attempts(count, segment),
                 range_text(due->least, due->most));
    kinds.result(segment.unmade.has_value() == plan.has_value(), "plan of a round", whose,
                 plan ? "none" : "some", plan ? "one" : "none");
    if (!plan) continue;
    // Of no records, none are planned.
    if (record.examples > 0) compare_plan(made, unmade, *plan, segment.attempts, whose, kinds);
  }
}

void compare_messages(std::int64_t client, const Ledger::ClientRecord& record, const ExpectedLedger& expected,
                      std::int64_t parameters, Kinds& kinds) {
  const std::string whose = client_text(client);
  const Event due = expected.of_messages(client);
  const bool centred = expected.may_have_centres();
  const auto* exact = std::get_if<ExactAccess>(&due);
  const ExpectedLedger::Count releases = expected.releases();
  const std::optional<std::int64_t> numbers = expected.numbers_released(parameters);
  for (const Ledger::Segment& segment : record.segments) {
    std::int64_t count = 0;
    std::uint64_t dimensions = 0;  // those of an edited ledger wrap
    for (const Access& access : segment.accesses) {
      if (exact != nullptr && std::holds_alternative<Nominal>(access.event)) continue;
      count += access.count;
      dimensions +=
          static_cast<std::uint64_t>(dimension_of(access.event)) * static_cast<std::uint64_t>(access.count);
      kinds.result(same_mechanism(access.event, due, centred), "message", whose,
                   describe(on_the_line(access.event)), describe(due));
    }
    const bool silent = count == 0 && expected.may_send_nothing(segment.first_round) &&
                        expected.may_send_nothing(segment.last_round);
    const bool fits = silent || releases.allows(count, segment.attempts);
    const std::string allowed = releases.most < ExpectedLedger::kAnyCount
                                    ? range_text(releases.least, releases.most)
                                    : fmt::format("at least {}", releases.least);
    kinds.result(fits, "messages in a round", whose, by_attempts(count, segment), allowed);
    if (dimensions == 0 || !numbers) continue;
    const std::uint64_t all =
        static_cast<std::uint64_t>(*numbers) * static_cast<std::uint64_t>(segment.attempts);
    kinds.result(dimensions == all, "numbers of a message", whose, dimensions, all);
  }
}

void compare_centred(std::int64_t client, double noise, const Ledger::Segment& segment,
                     std::span<const std::int64_t> rounds, ChargedRounds& charged, Kinds& kinds) {
  for (const std::int64_t round : rounds) {
    if (round < segment.first_round || round > segment.last_round) continue;
    const auto& [accesses, other] =
        charged.try_emplace({round, noise}, &segment.accesses, client).first->second;
    kinds.result(*accesses == segment.accesses, "message around centres", client_text(client),
                 described(segment.accesses), described(*accesses) + " as" + client_text(other));
  }
}

void compare_population(const Ledger& ledger, const ExpectedLedger& experiment, std::int64_t clients,
                        Kinds& kinds) {
  const SampledGaussian expected = experiment.of_clients(clients);
  // Before the first round nothing is answered; how many rounds there were is compared with the records.
  kinds.result(ledger.last_round() == 0 || !ledger.population().empty(), "accesses", "", "none", "some");
  std::uint64_t answers = 0, rescaled = 0;  // those of an edited ledger wrap
  for (const Ledger::Segment& segment : ledger.population()) {
    const std::int64_t count = compare_sums(segment, expected, experiment, "", kinds);
    answers += static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(segment.times_charged());
    const bool may_be_planned = experiment.declares_nothing(segment.first_round).value_or(true) &&
                                experiment.declares_nothing(segment.last_round).value_or(true);
    kinds.result(!segment.unmade || may_be_planned, "plan of a round", " of all clients", "one", "none");
    // A round that data left out is charged for what it may cost, not for what others did.
    const bool left_out =
        ledger.ended_after() > 0 && segment.first_round > ledger.ended_after() && !segment.unmade;
    const bool fits =
        count == segment.attempts || (count == 0 && !left_out && needs_no_sum(segment, experiment, clients));
    kinds.result(fits, "accesses in a round", "", by_attempts(count, segment), "1");
  }
  const std::string as_if = " as if";
  const auto larger = experiment.as_if();
  if (!larger) return kinds.result(ledger.as_if().empty(), "accesses", as_if, "some", "none");
  kinds.result(ledger.population().empty() || !ledger.as_if().empty(), "accesses", as_if, "none", "some");
  if (ledger.as_if().empty()) return;
  for (const Ledger::Segment& segment : ledger.as_if()) {
    const std::int64_t count = compare_sums(segment, *larger, experiment, as_if, kinds);
    rescaled += static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(segment.times_charged());
    kinds.result(count <= segment.attempts, "accesses in a round", as_if, by_attempts(count, segment),
                 "at most 1");
  }
  // Whatever is answered is answered for both.
  kinds.result(rescaled == answers, "answers", as_if, rescaled, answers);
}

void compare_labels(const Ledger& ledger, const ExpectedLedger& expected, std::int64_t classes,
                    Kinds& kinds) {
  const RandomizedResponse due = expected.of_labels(classes);
  std::int64_t count = 0;
  for (const Access& access : Ledger::accesses_of(ledger.population())) {
    const auto* response = std::get_if<RandomizedResponse>(&access.event);
    if (response == nullptr) {
      compare_others(access, expected, " of all clients", kinds);
      continue;
    }
    count += access.count;
    const bool same =
        response->epsilon == due.epsilon && (due.categories == 0 || response->categories == due.categories);
    kinds.result(same, "release of labels", "", describe(access.event), describe(due));
  }
  const bool trained =
      std::ranges::any_of(ledger.clients(), [](const auto& entry) { return !entry.second.segments.empty(); });
  const bool fits = count == 1 || (count > 1 && !expected.is_repeatable()) || (count == 0 && !trained);
  kinds.result(fits, "releases of labels", "", count, "1");
  for (const auto& [client, record] : ledger.clients()) {
    for (const Access& access : Ledger::accesses_of(record.segments))
      compare_others(access, expected, client_text(client), kinds);
  }
}

void compare_unprotected(const Ledger& ledger, const ExpectedLedger& expected, Kinds& kinds) {
  for (const Access& access : Ledger::accesses_of(ledger.population()))
    compare_others(access, expected, " of all clients", kinds);
}

}  // namespace fedarena::results
