#include "harness/app/accounting/answers.hpp"

#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

template <typename Kind>
std::string only_one_of(const std::set<Kind>& kinds) {
  if (kinds.empty()) return "none";
  return kinds.size() == 1 ? std::string(name(*kinds.begin())) : "mixed";
}

// One line for each kind of access: "200 x Poisson-sampled Gaussian (rate 0.01, noise multiplier 1)".
std::string access_lines(const std::vector<Access>& accesses) {
  if (accesses.empty()) return "  no access\n";
  std::string text;
  for (const Access& access : accesses) {
    text += fmt::format("  {} x {}\n", access.count, describe(access.event));
  }
  return text;
}

// How units were sampled: a name, "mixed", or "none".
std::string sampling_of(const std::vector<Access>& accesses) {
  std::set<Sampling> samplings;
  any_event(accesses, [&](const Event& event) {
    if (const auto* sampled = std::get_if<SampledGaussian>(&event)) samplings.insert(sampled->sampling);
    return false;
  });
  return only_one_of(samplings);
}

// ", ASSUMING ..." where the answer rests on what the settings assume, else nothing.
std::string assumption_text(const std::vector<Access>& accesses, const AccountSettings& settings) {
  const std::string sampling = sampling_of(accesses);
  if (settings.assume == "nothing" || sampling == "poisson" || sampling == "none") return "";
  return ", ASSUMING that samples of a fixed size are Poisson samples under zero-out";
}

constexpr const char* kDeltas = "a number from 0, below 1";

double read_delta(const std::string& option, const std::string& text) {
  const std::optional<double> delta = parse_number<double>(text);
  if (delta && *delta >= 0 && *delta < 1) return *delta;
  throw Error(
      Complaint{.found = fmt::format("{} is \"{}\"", option, results::one_line(text)), .allowed = kDeltas});
}

// Nobody has an answer.
[[noreturn]] void refuse(const std::vector<Answer>& answers) {
  std::set<std::string> different;
  std::string reasons;
  for (const Answer& answer : answers) {
    const std::string& reason = answer.unproven;
    different.insert(reason);
    if (!reasons.empty()) reasons += "; ";
    reasons += fmt::format("{}: {}", answer.accountant, reason);
  }
  throw Error(Complaint{.found = different.size() == 1 ? *different.begin() : reasons});
}

}  // namespace

std::vector<std::string> QuestionOptions::accountants() const {
  if (accountant.empty()) return {"rdp", "pld"};
  return {accountant};
}

Error missing_delta() {
  return Error(Complaint{.found = "--delta is missing",
                         .allowed = kDeltas,
                         .remedy = "It should be well below one over the number of units, such as 1e-5."});
}

void add_question_options(CLI::App& command, QuestionOptions& options) {
  add_read(command, "--delta", "NUMBER", "the probability with which epsilon may fail",
           [&options](const std::string& option, const std::string& text) {
             options.settings.delta = read_delta(option, text);
             options.has_delta = true;
           });
  add_choice(command, "--accountant", options.accountant, accountant_names(),
             "rdp, pld or gaussian (exact, without sampling); left out: rdp and pld");
  add_choice(command, "--orders", options.settings.orders, {kOrdersNames.begin(), kOrdersNames.end()},
             "rdp: default, or opacus, which published figures rest on");
  add_choice(command, "--conversion", options.settings.conversion,
             {kConversionNames.begin(), kConversionNames.end()},
             "rdp: balle (the default), or classic, which is looser");
  add_choice(command, "--assume", options.settings.assume, {kAssumptionNames.begin(), kAssumptionNames.end()},
             "nothing (the default), or poisson: account samples of a fixed size as Poisson samples, which "
             "nobody has proven right");
  add_format(command, options.format);
}

std::string explanation(const Answer& answer, const AccountSettings& settings) {
  if (answer.accountant == "pld") {
    return answer.wide ? "PLD (an upper bound that may be more than 0.1 % above the truth)" : "PLD";
  }
  if (answer.accountant == "gaussian") return "the exact Gaussian";
  if (std::isinf(answer.order)) return "RDP, or rather the sum of pure epsilons, which is smaller";
  const std::string choices = fmt::format("orders {}, conversion {}", settings.orders, settings.conversion);
  return answer.order > 0 ? fmt::format("RDP at order {} ({})", answer.order, choices)
                          : fmt::format("RDP ({})", choices);
}

std::vector<Answer> ask_each(const QuestionOptions& options,
                             const std::function<Answer(const std::string& accountant)>& ask) {
  std::vector<Answer> answers;
  for (const std::string& accountant : options.accountants()) {
    try {
      answers.push_back(ask(accountant));
    } catch (const Error& error) {
      // What one cannot do need not stop another.
      if (options.accountants().size() == 1) throw;
      answers.push_back({.accountant = accountant, .unproven = results::one_line(error.complaint().found)});
    }
  }
  return answers;
}

const Answer& best_of(const std::vector<Answer>& answers, bool least) {
  const Answer* best = nullptr;
  for (const Answer& answer : answers) {
    if (!answer.proven()) continue;
    const bool better =
        best == nullptr || (least ? answer.number < best->number : answer.number > best->number);
    if (better) best = &answer;
  }
  if (best == nullptr) refuse(answers);
  return *best;
}

Subject::Subject(const AccountSettings& settings, const std::vector<std::vector<Access>>& units,
                 std::size_t worst)
    : accesses(units[worst]) {
  for (const std::vector<Access>& unit : units) neighbours.merge(adjacencies(as_assumed(unit, settings)));
  neighbours = joint(std::move(neighbours));
}

void print_text(const std::vector<Answer>& answers, const Subject& subject, const AccountSettings& settings,
                const std::string& claim, const char* before_accesses) {
  for (const Answer& answer : answers) {
    const std::string number = answer.proven() ? answer.text : "-";
    if (answers.size() == 1) {
      print("{}\n", number);
    } else {
      print("{:<10}  {}{}\n", number, explanation(answer, settings),
            answer.proven() ? "" : ": " + answer.unproven);
    }
    if (!answer.lower && answer.no_lower.empty()) continue;
    const std::string lower = answer.lower ? results::lower_bound_number(*answer.lower) : "-";
    const std::string reason = answer.no_lower.empty() ? "" : ": " + answer.no_lower;
    if (answers.size() == 1) {
      print("{}  lower bound{}\n", lower, reason);
    } else {
      print("{:<10}  PLD, lower bound{}\n", lower, reason);
    }
  }
  // The explanation is for people: what a script reads holds numbers alone.
  std::fflush(stdout);
  const std::string neighbours =
      subject.neighbours.empty() ? "" : ", adjacency " + only_one_of(subject.neighbours);
  print(stderr, "{}{}{}{}\n{}", claim, neighbours, assumption_text(subject.accesses, settings),
        before_accesses, access_lines(subject.accesses));
}

void add_answers(results::Json& json, const std::string& key, const std::vector<Answer>& answers,
                 const Answer& best) {
  json["accountant"] = best.accountant;
  for (const Answer& answer : answers) {
    json[fmt::format("{}_{}", key, answer.accountant)] =
        answer.proven() ? answer.json : results::Json(nullptr);
    if (!answer.proven()) json["unproven_" + answer.accountant] = answer.unproven;
    if (answer.order > 0) json["order"] = results::json_number(answer.order);
    if (answer.lower) json["epsilon_lower"] = results::json_number(*answer.lower);
    if (!answer.no_lower.empty()) json["epsilon_lower"] = nullptr;
    if (answer.wide) json["epsilon_pld_is_wide"] = true;
  }
}

void print_json(results::Json json, const Subject& subject, const AccountSettings& settings) {
  json["orders"] = settings.orders;
  json["conversion"] = settings.conversion;
  json["assume"] = settings.assume;
  json["adjacency"] = only_one_of(subject.neighbours);
  json["sampling"] = sampling_of(subject.accesses);
  json["accesses"] = results::Json::array();
  for (const Access& access : subject.accesses) {
    results::Json entry;
    entry["count"] = access.count;
    entry["event"] = describe(access.event);
    json["accesses"].push_back(std::move(entry));
  }
  print("{}\n", results::json_text(json, 2));
}

}  // namespace fedarena
