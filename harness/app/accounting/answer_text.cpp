#include "harness/app/accounting/answer_text.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/text/text.hpp"

namespace fedarena {
namespace {

template <typename Kind>
std::string only_one_of(const std::set<Kind>& kinds) {
  if (kinds.empty()) return "none";
  return kinds.size() == 1 ? std::string(name(*kinds.begin())) : "mixed";
}

}  // namespace

std::string explanation(const Answer& answer, const AccountSettings& settings) {
  if (answer.accountant == "pld") {
    return answer.wide
               ? "PLD (an upper bound that may be more than 0.1 % above the truth; --lower tells how far)"
               : "PLD";
  }
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

std::string adjacency_of(const std::vector<Access>& accesses) { return only_one_of(adjacencies(accesses)); }

std::string sampling_of(const std::vector<Access>& accesses) {
  std::set<Sampling> samplings;
  any_event(accesses, [&](const Event& event) {
    if (const auto* sampled = std::get_if<SampledGaussian>(&event)) samplings.insert(sampled->sampling);
    return false;
  });
  return only_one_of(samplings);
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
