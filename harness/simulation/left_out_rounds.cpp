// What a run that ends early is charged for the rounds that it leaves out, as they were planned.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/oracle/private_uplink.hpp"
#include "harness/simulation/simulation.hpp"

namespace fedarena {
namespace {

bool charges_nothing(const std::vector<Ledger::Segment>& segments) {
  return std::ranges::all_of(
      segments, [](const Ledger::Segment& segment) { return segment.round().charged().empty(); });
}

// Of one attempt at a round, as far as they are alike.
RoundAccesses round_of(const Ledger::Segment& segment) {
  auto attempt = segment.accesses_of_attempt();
  return attempt && !segment.unmade ? RoundAccesses(std::move(*attempt)) : segment.round();
}

// The first round of a client that was never asked: what its plan says, and what no plan says, as another
// round's work asked for it.
RoundAccesses as_planned(const RoundAccesses& made, const RoundAccesses& planned) {
  std::vector<Access> unplanned = made.list();
  std::erase_if(unplanned, [](const Access& access) { return is_noised(access.event); });
  return RoundAccesses(std::move(unplanned), planned.unmade());
}

}  // namespace

std::vector<std::int64_t> Simulation::known_cohort(std::int64_t round) const {
  return draws_secret_cohorts() ? std::vector<std::int64_t>() : cohort_of(round);
}

std::map<std::int64_t, RoundAccesses> Simulation::train_newcomers(const Downlink& downlink) {
  const Unit hidden = unit(setup_.policy);
  if (hidden == Unit::kLocal) return {};  // messages are declared
  std::set<std::int64_t> drawn;
  for (std::int64_t round = round_ + 1; round <= setup_.rounds; ++round) {
    for (const std::int64_t client : known_cohort(round)) drawn.insert(client);
  }
  std::vector<std::int64_t> clients;
  std::map<std::int64_t, RoundAccesses> asked;
  for (const std::int64_t client : drawn) {
    const std::vector<Ledger::Segment>& segments = ledger_.clients().at(client).segments;
    const bool is_new = segments.empty() || (hidden == Unit::kRecord && charges_nothing(segments));
    if (!is_new || spent_.contains(client)) continue;
    clients.push_back(client);
    asked[client] = {};
  }
  setup_.pool.for_each(clients.size(), [&](std::size_t index) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    const std::int64_t client = clients[index];
    asked.at(client) = train_client(client, round_ + 1, downlink, past_of(client)).accesses;
  });
  return asked;
}

RoundAccesses Simulation::dearest_accesses(const std::vector<Ledger::Segment>& segments) const {
  if (segments.size() == 1) return round_of(segments.front());
  RoundAccesses dearest;
  for (const Ledger::Segment& segment : segments) dearest = dearer(std::move(dearest), round_of(segment));
  return dearest;
}

RoundAccesses Simulation::dearer(RoundAccesses left, RoundAccesses right) const {
  const auto price = [&](const RoundAccesses& accesses) {
    return odometer_.epsilon(accesses.charged()).epsilon.value_or(std::numeric_limits<double>::infinity());
  };
  return price(right) < price(left) ? left : right;
}

void Simulation::charge_rest() {
  if (unit(setup_.policy) == Unit::kNothing || finished() || ledger_.ended_after() != 0) return;
  const Downlink downlink = opened(next_downlink(), first_look());
  const auto newcomers = train_newcomers(downlink);
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  std::optional<PrivateUplink> sum;
  if (policy != nullptr) sum.emplace(sum_of(*policy, round_ + 1));
  std::map<std::int64_t, RoundAccesses> dearest;  // of each client, of the rounds so far
  ledger_.end_after(round_);
  for (std::int64_t round = round_ + 1; round <= setup_.rounds; ++round) {
    for (const std::int64_t client : known_cohort(round)) {
      if (spent_.contains(client)) continue;
      const std::vector<Ledger::Segment>& segments = ledger_.clients().at(client).segments;
      const auto newcomer = newcomers.find(client);
      const bool is_new = newcomer != newcomers.end();
      const auto [known, unknown] = dearest.try_emplace(client);
      if (unknown) known->second = dearest_accesses(segments);
      if (is_new && known->second.charged().empty()) known->second = newcomer->second;
      RoundAccesses accesses = known->second;
      const auto planned = planned_accesses(client, round, ledger_, downlink.centres);
      if (planned && is_new && segments.empty())
        accesses = as_planned(accesses, *planned);
      else if (planned && downlink.centres.vary())
        accesses = dearer(std::move(accesses), *planned);
      else if (planned)
        accesses = *planned;
      else  // what another round planned, nobody has planned of this one
        accesses = RoundAccesses(accesses.charged());
      // What results would have made of the centres, nobody knows, nor what the round would have cost, nor
      // whether a budget would have paid for it.
      if (downlink.centres.vary()) ledger_.withhold(client);
      if (!pays(client, ledger_, accesses)) {
        spent_.insert(client);
        continue;
      }
      ledger_.record(round, client, accesses);
      if (!pays_again(client, ledger_)) spent_.insert(client);
    }
    // Of other units it holds what all are charged for once.
    if (policy == nullptr) continue;
    // Whatever the rounds so far did, a server may ask for a sum wherever there are messages.
    const bool silent = declares_nothing(round);
    std::vector<Access> everybody = silent ? std::vector<Access>() : sum->accesses().list();
    add_undeclared(round, everybody);
    ledger_.record_population(round, of_everybody(round, std::move(everybody)));
    if (policy->as_if_cohort > 0)
      ledger_.record_as_if(round, silent ? RoundAccesses() : sum->as_if_accesses());
  }
}

}  // namespace fedarena
