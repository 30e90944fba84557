#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/accounting/access_options.hpp"
#include "harness/app/accounting/answers.hpp"
#include "harness/app/options.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/record/claim_text.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

struct EpsilonArguments {
  AccessSpec first;
  std::vector<std::string> more;
  std::filesystem::path ledger;
  std::optional<std::int64_t> client;
  QuestionOptions options;
  std::optional<double> at_epsilon;
  bool lower = false;
};

// One epsilon of all clients would not say whose neighbours it is about.
void check_neighbours(const std::vector<std::vector<Access>>& units, const EpsilonArguments& arguments) {
  if (units.size() < 2) return;  // what one client mixes, the accountant says
  std::vector<Access> all;
  for (const std::vector<Access>& accesses : units) all.insert(all.end(), accesses.begin(), accesses.end());
  const std::set<Adjacency> found = adjacencies(as_assumed(std::move(all), arguments.options.settings));
  if (found.size() < 2) return;
  throw Error::in(arguments.ledger, fmt::format("the clients mix {} neighbours", describe(found)),
                  {.remedy = "Ask for one of them: --client N"});
}

// What is charged to each client of a ledger, or to the one that is asked for; equal ones once.
std::vector<std::vector<Access>> accesses_of_ledger(const EpsilonArguments& arguments) {
  const Ledger ledger = results::read_ledger_file(arguments.ledger);
  const std::string file = arguments.ledger.string();
  if (ledger.unit() == Unit::kNothing) {
    throw Error::in(file, "this ledger protects nobody: its unit is none");
  }
  std::vector<std::vector<Access>> result;
  const auto add = [&](std::int64_t client) {
    std::vector<Access> accesses = ledger.charged(client);
    if (!contains(result, accesses)) {
      result.push_back(std::move(accesses));
    }
  };
  if (arguments.client) {
    if (!ledger.clients().contains(*arguments.client)) {
      throw Error::in(file, fmt::format("holds no client {}", *arguments.client));
    }
    add(*arguments.client);
  } else {
    if (ledger.unit() == Unit::kClient) add(-1);  // charges all alike, whoever is listed
    for (const auto& [client, record] : ledger.clients()) add(client);
  }
  if (result.empty()) result.emplace_back();
  check_neighbours(result, arguments);
  const bool varies = arguments.client ? ledger.varies(*arguments.client) : ledger.varies();
  if (varies)
    print(stderr,
          "note: accesses changed from round to round, and no plan announced it: this is proven only if data "
          "had no say in that; `fedarena privacy RUN` knows the run's budget, and what it claims\n");
  else if (ledger.ended_after() > 0)
    print(stderr,
          "note: a rule ended this run after round {}, and the others are charged as planned, paid for by a "
          "budget or not; `fedarena privacy RUN` knows the run's budget, and what it claims\n",
          ledger.ended_after());
  const bool looked_at =
      std::ranges::any_of(result, [](const auto& accesses) { return any_event(accesses, is_exact); });
  if (!varies && !looked_at && results::has_unplanned_answers(ledger, arguments.client))
    print(stderr,
          "note: no plan announced the noised answers: this is proven only if none had a say in them\n");
  if (!looked_at && !results::exact_findings(ledger).empty())
    print(stderr, "note: others were looked at exactly: this is {}\n", results::kOthersExactNote);
  if (const std::vector<std::string> open = results::public_data(ledger); !open.empty())
    print(stderr, "note: this ledger takes as public, beside sizes: {}\n",
          fmt::format("{}", fmt::join(open, ", ")));
  return result;
}

// The accesses of each unit that is asked about.
std::vector<std::vector<Access>> units(const EpsilonArguments& arguments) {
  if (!arguments.ledger.empty()) {
    if (!arguments.first.empty() || !arguments.more.empty()) {
      throw Error::of("--ledger says what the accesses are; no option may describe others beside it");
    }
    return accesses_of_ledger(arguments);
  }
  if (arguments.client) throw Error::of("--client is given without --ledger");
  std::vector<AccessSpec> specs;
  if (!arguments.first.empty() || arguments.more.empty()) specs.push_back(arguments.first);
  for (const std::string& text : arguments.more) specs.push_back(read_access_spec(text));
  const bool sizes_are_public =
      std::ranges::any_of(specs, [](const AccessSpec& spec) { return spec.examples.has_value(); });
  std::vector<Access> accesses;
  for (AccessSpec& spec : specs) {
    // One number of examples that everybody knows holds for all of them.
    spec.sizes_are_public = sizes_are_public;
    Access access = spec.access();
    if (access.count > 0) accesses.push_back(std::move(access));
  }
  return {std::move(accesses)};
}

// Of the unit that is worst off.
Answer worst_off(const std::vector<std::vector<Access>>& units, const std::string& accountant,
                 const EpsilonArguments& arguments) {
  Answer worst;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const Question question{units[unit], arguments.options.settings, arguments.lower};
    Answer answer = arguments.at_epsilon ? ask_delta(accountant, question, *arguments.at_epsilon)
                                         : ask(accountant, question);
    answer.unit = unit;
    if (unit == 0 || answer.number > worst.number) worst = std::move(answer);
  }
  worst.text = results::epsilon_number(worst.number);
  worst.json = results::json_number(worst.number);
  return worst;
}

int run_epsilon(const EpsilonArguments& arguments) {
  const QuestionOptions& options = arguments.options;
  if (options.has_delta && arguments.at_epsilon) {
    throw Error::of("--delta and --at-epsilon are given; give the one that is known");
  }
  if (!options.has_delta && !arguments.at_epsilon) throw missing_delta();
  if (arguments.lower && arguments.at_epsilon) {
    throw Error::of("--lower is about an epsilon, and --at-epsilon asks for a delta; leave one out");
  }
  if (arguments.lower && !contains(options.accountants(), "pld")) {
    throw Error(Complaint{.found = "--lower is given, and the accountant that is asked knows no lower bound",
                          .allowed = "--accountant pld, or both"});
  }
  const std::vector<std::vector<Access>> asked = units(arguments);
  const std::vector<Answer> answers = ask_each(
      options, [&](const std::string& accountant) { return worst_off(asked, accountant, arguments); });
  const Answer& best = best_of(answers, true);
  const Subject subject(arguments.options.settings, asked, best.unit);
  const char* wanted = arguments.at_epsilon ? "delta" : "epsilon";
  const char* known = arguments.at_epsilon ? "epsilon" : "delta";
  const double at = arguments.at_epsilon.value_or(options.settings.delta);
  if (options.json()) {
    results::Json json;
    json[wanted] = best.json;
    json[known] = at;
    add_answers(json, wanted, answers, best);
    print_json(std::move(json), subject, options.settings);
  } else {
    const std::string by = answers.size() == 1 ? explanation(best, options.settings) : "RDP and PLD";
    print_text(answers, subject, options.settings, fmt::format("{} by {} at {} {}", wanted, by, known, at),
               ":");
  }
  const std::string warning =
      options.has_delta ? results::delta_warning(at, arguments.first.examples.value_or(0), "example") : "";
  if (!warning.empty()) print(stderr, "note: {}\n", warning);
  return kSuccess;
}

}  // namespace

void add_epsilon_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_epsilon, "epsilon",
                  "Compute epsilon from noise, sampling and steps, or from a ledger; or delta from epsilon.");
  add_access_options(command, arguments.first);
  add_value(command, "--and", "TEXT", arguments.more,
            "further accesses, such as noise-multiplier=0.8,sampling-rate=0.01,steps=500: the options "
            "above without dashes; may be repeated")
      ->allow_extra_args(false);
  add_value(command, "--ledger", "FILE", arguments.ledger, "take the accesses from this ledger.json instead");
  add_read(command, "--client", "N", "of the ledger; left out: the one with the largest epsilon",
           [&client = arguments.client](const std::string& option, const std::string& text) {
             client = read_count(option, text, 0);
           });
  add_question_options(command, arguments.options);
  add_number(command, "--at-epsilon", arguments.at_epsilon, Constraint::at_least(0),
             "instead of --delta: compute delta at this epsilon");
  command.add_flag("--lower", arguments.lower, "pld: also print what epsilon is at least");
  command.footer(
      "Example: fedarena epsilon --noise-multiplier 1 --sampling-rate 0.0256 --steps 200 --delta 1e-5");
}

}  // namespace fedarena
