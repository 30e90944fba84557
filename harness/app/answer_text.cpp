#include "harness/app/answer_text.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "results/text.hpp"

namespace fedarena {
namespace {

// The name of the adjacency and of the sampling of every event, compositions opened.
struct Traits {
  std::set<std::string> adjacencies, samplings;

  void visit(const std::vector<Access>& accesses) {
    for (const Access& access : accesses) {
      std::visit(Overload{[&](const Gaussian& event) { adjacencies.emplace(name(event.adjacency)); },
                          [&](const SampledGaussian& event) {
                            adjacencies.emplace(name(event.adjacency));
                            samplings.emplace(event.sampling == Sampling::kPoisson ? "poisson"
                                                                                   : "without-replacement");
                          },
                          [&](const Composition& event) { visit(event.parts); }, [](const auto&) {}},
                 access.event);
    }
  }
};

std::string only_one_of(const std::set<std::string>& names) {
  if (names.empty()) return "none";
  return names.size() == 1 ? *names.begin() : "mixed";
}

}  // namespace

std::string explanation(const Answer& answer, const AccountSettings& settings) {
  if (answer.accountant == "pld") return "PLD";
  if (answer.accountant == "gaussian") return "the exact Gaussian";
  if (std::isinf(answer.order)) return "RDP, or rather the sum of pure epsilons, which is smaller";
  const std::string choices = fmt::format("orders {}, conversion {}", settings.orders, settings.conversion);
  return answer.order > 0 ? fmt::format("RDP at order {} ({})", answer.order, choices)
                          : fmt::format("RDP ({})", choices);
}

std::string access_lines(const std::vector<Access>& accesses) {
  if (accesses.empty()) return "  no access\n";
  std::string text;
  for (const Access& access : accesses) {
    text += fmt::format("  {} x {}\n", access.count, describe(access.event));
  }
  return text;
}

std::string adjacency_of(const std::vector<Access>& accesses) {
  Traits traits;
  traits.visit(accesses);
  return only_one_of(traits.adjacencies);
}

std::string sampling_of(const std::vector<Access>& accesses) {
  Traits traits;
  traits.visit(accesses);
  return only_one_of(traits.samplings);
}

void describe_question(results::Json& json, const std::vector<Access>& accesses,
                       const AccountSettings& settings) {
  json["orders"] = settings.orders;
  json["conversion"] = settings.conversion;
  json["assume"] = settings.assume;
  json["adjacency"] = adjacency_of(accesses);
  json["sampling"] = sampling_of(accesses);
  json["accesses"] = results::Json::array();
  for (const Access& access : accesses) {
    results::Json entry;
    entry["count"] = access.count;
    entry["event"] = describe(access.event);
    json["accesses"].push_back(std::move(entry));
  }
}

std::string assumption_text(const std::vector<Access>& accesses, const AccountSettings& settings) {
  const std::string sampling = sampling_of(accesses);
  if (settings.assume == "nothing" || sampling == "poisson" || sampling == "none") return "";
  return ", ASSUMING that samples of a fixed size are Poisson samples under add-remove";
}

Answer refusal(const std::string& accountant, const Error& error, const QuestionOptions& options) {
  if (options.accountants().size() == 1) throw Error(error.complaint());
  return {.accountant = accountant,
          .claim = {.epsilon = {}, .unproven = results::one_line(error.complaint().found)}};
}

void refuse_unproven(const std::vector<Answer>& answers) {
  std::set<std::string> different;
  std::string reasons;
  for (const Answer& answer : answers) {
    const std::string& reason = answer.claim.unproven;
    different.insert(reason);
    if (!reasons.empty()) reasons += "; ";
    reasons += fmt::format("{}: {}", answer.accountant, reason);
  }
  if (different.size() == 1) throw Error(Complaint{.found = *different.begin()});
  throw Error(Complaint{.found = std::move(reasons)});
}

}  // namespace fedarena
