#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/base/error.hpp"

#include "harness/app/accounting/access_options.hpp"
#include "harness/app/accounting/accountants.hpp"
#include "harness/app/accounting/answer_text.hpp"
#include "harness/app/commands.hpp"
#include "harness/app/accounting/number_text.hpp"
#include "harness/app/accounting/question_options.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/claim_text.hpp"
#include "results/text/text.hpp"

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

Ledger read_ledger(const std::filesystem::path& file) {
  const std::string text = results::read_whole_file(file);
  try {
    return Ledger::from_json(text);
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.place.file = file.string();
    throw Error(std::move(complaint));
  }
}

// What is charged to each client of a ledger, or to the one that is asked for; equal ones once.
std::vector<std::vector<Access>> accesses_of_ledger(const EpsilonArguments& arguments) {
  const Ledger ledger = read_ledger(arguments.ledger);
  const std::string file = arguments.ledger.string();
  if (ledger.unit() == Unit::kNothing) {
    throw Error(Complaint{.place = {file}, .found = "this ledger protects nobody: its unit is none"});
  }
  std::vector<std::vector<Access>> result;
  const auto add = [&](std::int64_t client) {
    std::vector<Access> accesses = ledger.charged(client);
    if (std::find(result.begin(), result.end(), accesses) == result.end()) {
      result.push_back(std::move(accesses));
    }
  };
  if (arguments.client) {
    if (!ledger.clients().contains(*arguments.client)) {
      throw Error(Complaint{.place = {file}, .found = fmt::format("holds no client {}", *arguments.client)});
    }
    add(*arguments.client);
  } else {
    for (const auto& [client, record] : ledger.clients()) add(client);
  }
  if (result.empty()) result.emplace_back();
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
  std::vector<Access> accesses;
  const auto add = [&](const AccessSpec& spec) {
    Access access = spec.access();
    if (access.count > 0) accesses.push_back(std::move(access));
  };
  if (!arguments.first.empty() || arguments.more.empty()) add(arguments.first);
  for (const std::string& text : arguments.more) add(read_access_spec(text));
  return {std::move(accesses)};
}

// What one accountant says of the unit that is worst off.
struct EpsilonFinding {
  Answer answer;
  double number = 0;  // epsilon, or delta where that is asked for; meaningless without a proof
  std::size_t unit = 0;
};

EpsilonFinding ask_about(const std::vector<std::vector<Access>>& units, const std::string& accountant,
                  const EpsilonArguments& arguments) {
  EpsilonFinding worst;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const Question question{units[unit], arguments.options.settings, arguments.lower};
    EpsilonFinding finding;
    finding.unit = unit;
    try {
      if (arguments.at_epsilon) {
        finding.answer = ask_delta(accountant, question, *arguments.at_epsilon, finding.number);
      } else {
        finding.answer = ask(accountant, question);
        finding.number = finding.answer.claim.epsilon.value_or(0);
      }
    } catch (const Error& error) {
      finding.answer = refusal(accountant, error, arguments.options);
    }
    if (!finding.answer.claim.epsilon) return finding;
    if (unit == 0 || finding.number > worst.number) worst = std::move(finding);
  }
  return worst;
}

void print_text(const std::vector<EpsilonFinding>& findings, const std::vector<Access>& accesses,
                const EpsilonArguments& arguments) {
  const AccountSettings& settings = arguments.options.settings;
  if (findings.size() == 1) {
    const EpsilonFinding& only = findings.front();
    fmt::print("{}\n", results::epsilon_number(only.number));
    if (only.answer.lower) fmt::print("{}  lower bound\n", results::epsilon_number(*only.answer.lower));
  } else {
    for (const EpsilonFinding& finding : findings) {
      const bool proven = finding.answer.claim.epsilon.has_value();
      fmt::print("{:<10}  {}{}\n", proven ? results::epsilon_number(finding.number) : "-",
                 explanation(finding.answer, settings),
                 proven ? "" : ": " + results::one_line(finding.answer.claim.unproven));
      if (finding.answer.lower)
        fmt::print("{:<10}  PLD, lower bound\n", results::epsilon_number(*finding.answer.lower));
    }
  }
  // The explanation is for people: what a script reads holds numbers alone.
  std::fflush(stdout);
  fmt::print(stderr, "{} by {} at {}, adjacency {}{}:\n{}", arguments.at_epsilon ? "delta" : "epsilon",
             findings.size() == 1 ? explanation(findings.front().answer, settings) : "RDP and PLD",
             arguments.at_epsilon ? fmt::format("epsilon {}", *arguments.at_epsilon)
                                  : fmt::format("delta {}", settings.delta),
             adjacency_of(accesses), assumption_text(accesses, settings), access_lines(accesses));
}

void print_json(const std::vector<EpsilonFinding>& findings, const EpsilonFinding& best,
                const std::vector<Access>& accesses, const EpsilonArguments& arguments) {
  const char* asked = arguments.at_epsilon ? "delta" : "epsilon";
  results::Json json;
  json[asked] = results::json_number(best.number);
  if (arguments.at_epsilon) {
    json["epsilon"] = *arguments.at_epsilon;
  } else {
    json["delta"] = arguments.options.settings.delta;
  }
  json["accountant"] = best.answer.accountant;
  for (const EpsilonFinding& finding : findings) {
    const Answer& answer = finding.answer;
    const std::string key = fmt::format("{}_{}", asked, answer.accountant);
    json[key] = answer.claim.epsilon ? results::json_number(finding.number) : results::Json(nullptr);
    if (!answer.claim.epsilon) json["unproven_" + answer.accountant] = answer.claim.unproven;
    if (answer.order > 0) json["order"] = results::json_number(answer.order);
    if (answer.lower) json["epsilon_lower"] = results::json_number(*answer.lower);
    if (answer.wide) json["epsilon_pld_is_wide"] = true;
  }
  describe_question(json, accesses, arguments.options.settings);
  fmt::print("{}\n", results::json_text(json, 2));
}

int run_epsilon(const EpsilonArguments& arguments) {
  if (arguments.options.has_delta && arguments.at_epsilon) {
    throw Error::of("--delta and --at-epsilon are given; give the one that is known");
  }
  if (!arguments.options.has_delta && !arguments.at_epsilon) throw missing_delta();
  const std::vector<std::vector<Access>> asked = units(arguments);
  std::vector<EpsilonFinding> findings;
  for (const std::string& accountant : arguments.options.accountants()) {
    findings.push_back(ask_about(asked, accountant, arguments));
  }
  const EpsilonFinding* best = nullptr;
  std::vector<Answer> answers;
  for (const EpsilonFinding& finding : findings) {
    answers.push_back(finding.answer);
    if (!finding.answer.claim.epsilon) continue;
    if (best == nullptr || finding.number < best->number) best = &finding;
  }
  if (best == nullptr) refuse_unproven(answers);
  const std::vector<Access>& accesses = asked[best->unit];
  if (arguments.options.json()) {
    print_json(findings, *best, accesses, arguments);
  } else {
    print_text(findings, accesses, arguments);
  }
  return kSuccess;
}

}  // namespace

void add_epsilon_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "epsilon", "Compute epsilon from noise, sampling and steps, or from a ledger; or delta from epsilon.");
  const auto arguments = std::make_shared<EpsilonArguments>();
  add_access_options(*command, arguments->first);
  command
      ->add_option("--and", arguments->more,
                   "further accesses, such as noise-multiplier=0.8,sampling-rate=0.01,steps=500: the options "
                   "above without dashes; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command->add_option("--ledger", arguments->ledger, "take the accesses from this ledger.json instead")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--client",
          [arguments](const std::string& text) { arguments->client = read_count("--client", text, 0); },
          "of the ledger; left out: the one with the largest epsilon")
      ->type_name("N");
  add_question_options(*command, arguments->options);
  add_number(*command, "--at-epsilon", arguments->at_epsilon, Constraint::at_least(0),
             "instead of --delta: compute delta at this epsilon");
  command->add_flag("--lower", arguments->lower, "pld: also print what epsilon is at least");
  command->footer(
      "Example: fedarena epsilon --noise-multiplier 1 --sampling-rate 0.0256 --steps 200 --delta 1e-5");
  command->callback([arguments, &action] { action = [arguments] { return run_epsilon(*arguments); }; });
}

}  // namespace fedarena
