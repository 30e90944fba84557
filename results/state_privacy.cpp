#include "results/state_privacy.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace fedarena::results {
namespace {

using Segments = std::vector<Ledger::Segment>;

bool holds(const Event& event, const std::function<bool(const Event&)>& property) {
  const auto* composition = std::get_if<Composition>(&event);
  if (composition == nullptr) return property(event);
  return std::any_of(composition->parts.begin(), composition->parts.end(),
                     [&](const Access& part) { return holds(part.event, property); });
}

bool is_exact(const Event& event) {
  if (const auto* gaussian = std::get_if<Gaussian>(&event)) return gaussian->noise_multiplier == 0;
  if (const auto* sampled = std::get_if<SampledGaussian>(&event)) {
    return sampled->rate > 0 &&
           std::any_of(sampled->noise_multipliers.begin(), sampled->noise_multipliers.end(),
                       [](double multiplier) { return multiplier == 0; });
  }
  return std::holds_alternative<ExactAccess>(event);
}

// At the rates 0 and 1 both kinds of sampling are one.
bool has_fixed_size(const Event& event) {
  const auto* gaussian = std::get_if<SampledGaussian>(&event);
  return gaussian != nullptr && gaussian->sampling == Sampling::kWithoutReplacement && gaussian->rate > 0 &&
         gaussian->rate < 1;
}

std::string text_of(const Event& event) {
  const auto* exact = std::get_if<ExactAccess>(&event);
  return exact != nullptr ? exact->what : describe(event);
}

// The first access that nothing privatised among those that count, as text, and its round.
struct FirstExact {
  std::string text;
  std::int64_t round = std::numeric_limits<std::int64_t>::max();

  void look_at(const Segments& segments, const std::string& whose) {
    for (const Ledger::Segment& segment : segments) {
      if (segment.first_round >= round) return;
      for (const Access& access : segment.accesses) {
        if (!holds(access.event, is_exact)) continue;
        round = segment.first_round;
        text = fmt::format("{}{}, round {}", text_of(access.event), whose, round);
        return;
      }
    }
  }
};

std::string first_exact_access(const Ledger& ledger, const std::string& algorithm) {
  FirstExact first;
  first.look_at(ledger.population(), " of all clients");
  if (ledger.unit() == Unit::kRecord) {
    for (const auto& [client, record] : ledger.clients()) {
      first.look_at(record.segments, fmt::format(" of client {}", client));
    }
  }
  return first.text.empty() ? "" : fmt::format("{}: {}", algorithm, first.text);
}

bool any_fixed_size(const Segments& segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Ledger::Segment& segment) {
    return std::any_of(segment.accesses.begin(), segment.accesses.end(),
                       [](const Access& access) { return holds(access.event, has_fixed_size); });
  });
}

bool any_fixed_size(const Ledger& ledger) {
  if (any_fixed_size(ledger.population()) || any_fixed_size(ledger.as_if())) return true;
  return ledger.unit() == Unit::kRecord &&
         std::any_of(ledger.clients().begin(), ledger.clients().end(),
                     [](const auto& client) { return any_fixed_size(client.second.segments); });
}

// Of the client whose epsilon is the run's.
double order_of(const Account& account) {
  for (const ClientAccount& client : account.clients) {
    if (account.rdp.epsilon && client.rdp.epsilon == account.rdp.epsilon) return client.order;
  }
  return 0;
}

}  // namespace

void plan_privacy(Summary& summary, const std::string& policy, const AccountSettings& settings,
                  double budget) {
  summary.policy = policy;
  summary.privacy.reset();
  if (policy == "none") return;
  summary.privacy = PrivacyClaim{.unit = policy, .settings = settings, .budget = budget};
}

void state_privacy(Summary& summary, const Ledger& ledger) {
  if (!summary.privacy) return;
  PrivacyClaim& claim = *summary.privacy;
  FEDARENA_CHECK(claim.unit, ==, name(ledger.unit()));
  const Account account = fedarena::account(ledger, claim.settings);
  claim.adjacency = account.adjacency ? std::string(name(*account.adjacency)) : "";
  claim.assumed = claim.settings.assume != "nothing" && any_fixed_size(ledger);
  claim.rdp = account.rdp;
  claim.order = order_of(account);
  claim.pld = account.pld;
  claim.as_if_rdp = account.as_if_rdp;
  claim.as_if_pld = account.as_if_pld;
  // An exact answer about so small a sample that delta covers it costs nothing.
  const bool infinite = !is_finite(claim.rdp) && !is_finite(claim.pld);
  claim.exact_access = infinite ? first_exact_access(ledger, summary.algorithm) : "";
}

}  // namespace fedarena::results
