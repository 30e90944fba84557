#include "fedarena/accounting/ledger.hpp"

#include <algorithm>
#include <utility>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// What an algorithm may ask for more or less often: labels are randomised, and messages noised per distance,
// as declared.
bool adds_noise(const Access& access) {
  return std::holds_alternative<SampledGaussian>(access.event) ||
         std::holds_alternative<Gaussian>(access.event) || std::holds_alternative<Laplace>(access.event);
}

// What a round is charged for; what it shares with its plan is counted together.
std::vector<Access> made_and_unmade(std::vector<Access> made,
                                    const std::optional<std::vector<Access>>& unmade) {
  if (!unmade) return made;
  for (const Access& planned : *unmade) {
    const auto same =
        std::ranges::find_if(made, [&](const Access& access) { return access.event == planned.event; });
    if (same == made.end()) {
      made.push_back(planned);
    } else {
      same->count += planned.count;
    }
  }
  return made;
}

void append_rounds(std::vector<Access>& result, const std::vector<Access>& of_each, std::int64_t rounds) {
  for (const Access& access : of_each) result.push_back({access.event, access.count * rounds});
}

// What was asked for under noise, as if nothing else had stood between.
std::vector<Access> noised(const std::vector<Access>& round) {
  std::vector<Access> joined;
  for (const Access& access : round) {
    if (!adds_noise(access)) continue;
    if (!joined.empty() && joined.back().event == access.event)
      joined.back().count += access.count;
    else
      joined.push_back(access);
  }
  return joined;
}

// Whether rounds without a plan were asked for different things under noise.
bool differ(const std::vector<Ledger::Segment>& segments) {
  std::optional<std::vector<Access>> before;
  for (const Ledger::Segment& segment : segments) {
    if (segment.unmade) continue;
    std::optional<std::vector<Access>> accesses = segment.accesses_of_attempt();
    if (!accesses) return true;
    accesses = noised(*accesses);
    if (before && *before != *accesses) return true;
    before = std::move(accesses);
  }
  return false;
}

// Gives the last round, which was made again, a segment of its own. Each attempt is charged in full.
void add_attempt(std::vector<Ledger::Segment>& segments, const RoundAccesses& again) {
  Ledger::Segment& last = segments.back();
  Ledger::Segment round = last;
  round.first_round = last.last_round;
  round.participations = 1;
  ++round.attempts;
  round.accesses.insert(round.accesses.end(), again.list().begin(), again.list().end());
  if (again.unmade()) {
    if (!round.unmade) round.unmade.emplace();
    round.unmade->insert(round.unmade->end(), again.unmade()->begin(), again.unmade()->end());
  }
  if (last.participations <= 1) {
    segments.pop_back();
  } else {
    --last.participations;
    --last.last_round;
  }
  segments.push_back(std::move(round));
}

// What was there after a round, with as many participations in a segment that was cut as `kept` finds.
template <typename Kept>
std::vector<Ledger::Segment> cut(std::vector<Ledger::Segment> segments, std::int64_t round, Kept kept) {
  std::erase_if(segments, [&](const Ledger::Segment& segment) { return segment.first_round > round; });
  if (!segments.empty() && segments.back().last_round > round) {
    Ledger::Segment& last = segments.back();
    last.participations = kept(last);
    last.last_round = round;
  }
  return segments;
}

// What is copied when one of its clients takes part: few enough, and many enough that pointers cost little.
constexpr std::size_t kClientsOfABlock = 64;

}  // namespace

std::size_t Ledger::Clients::block_of(std::int64_t client) const {
  const auto after =
      std::ranges::upper_bound(blocks_, client, {}, [](const auto& block) { return block->front().first; });
  return after == blocks_.begin() ? 0 : static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

Ledger::Clients::const_iterator Ledger::Clients::find(std::int64_t client) const {
  if (blocks_.empty()) return end();
  const std::size_t block = block_of(client);
  const Block& clients = *blocks_[block];
  const auto at = std::ranges::lower_bound(clients, client, {}, &value_type::first);
  if (at == clients.end() || at->first != client) return end();
  return {this, block, static_cast<std::size_t>(at - clients.begin())};
}

const Ledger::ClientRecord& Ledger::Clients::at(std::int64_t client) const {
  const const_iterator found = find(client);
  FEDARENA_CHECK(found == end(), ==, false);
  return found->second;
}

bool Ledger::Clients::operator==(const Clients& other) const { return std::ranges::equal(*this, other); }

Ledger::Clients::Block& Ledger::Clients::own(std::size_t block) {
  std::shared_ptr<Block>& clients = blocks_[block];
  if (clients.use_count() > 1) clients = std::make_shared<Block>(*clients);
  return *clients;
}

bool Ledger::Clients::add(std::int64_t client, ClientRecord record) {
  if (blocks_.empty() ||
      (client > blocks_.back()->back().first && blocks_.back()->size() >= kClientsOfABlock)) {
    blocks_.push_back(std::make_shared<Block>());
    blocks_.back()->reserve(kClientsOfABlock);
    blocks_.back()->emplace_back(client, std::move(record));
  } else {
    const std::size_t at = block_of(client);
    Block& clients = own(at);
    const auto place = std::ranges::lower_bound(clients, client, {}, &value_type::first);
    if (place != clients.end() && place->first == client) return false;
    clients.emplace(place, client, std::move(record));
    if (clients.size() > 2 * kClientsOfABlock) {
      const auto middle = clients.begin() + kClientsOfABlock;
      auto rest =
          std::make_shared<Block>(std::make_move_iterator(middle), std::make_move_iterator(clients.end()));
      clients.erase(middle, clients.end());
      blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(rest));
    }
  }
  ++size_;
  return true;
}

Ledger::ClientRecord& Ledger::Clients::edit(std::int64_t client) {
  const const_iterator found = find(client);
  FEDARENA_CHECK(found == end(), ==, false);
  return own(found.block_)[found.at_].second;
}

std::optional<std::vector<Access>> Ledger::Segment::accesses_of_attempt() const {
  const std::int64_t each = std::ssize(accesses) / attempts;
  if (each * attempts != std::ssize(accesses)) return std::nullopt;
  for (std::size_t i = static_cast<std::size_t>(each); i < accesses.size(); ++i) {
    if (accesses[i] != accesses[i - static_cast<std::size_t>(each)]) return std::nullopt;
  }
  return std::vector(accesses.begin(), accesses.begin() + each);
}

void RoundAccesses::add(const Event& event) {
  if (accesses_.empty() || !(accesses_.back().event == event)) accesses_.push_back({event, 0});
  ++accesses_.back().count;
}

std::vector<Access> RoundAccesses::charged() const { return made_and_unmade(accesses_, unmade_); }

std::vector<Access> Ledger::accesses_of(const std::vector<Segment>& segments) {
  std::vector<Access> result;
  for (const Segment& segment : segments) append_rounds(result, segment.accesses, segment.times_charged());
  return result;
}

std::vector<Access> Ledger::charged_of(const std::vector<Segment>& segments) {
  std::vector<Access> result;
  for (const Segment& segment : segments)
    append_rounds(result, made_and_unmade(segment.accesses, segment.unmade), segment.times_charged());
  return result;
}

std::int64_t Ledger::participations_of(const std::vector<Segment>& segments) {
  std::int64_t total = 0;
  for (const Segment& segment : segments) total += segment.participations;
  return total;
}

std::int64_t Ledger::last_round() const {
  std::int64_t last = population_.empty() ? 0 : population_.back().last_round;
  for (const auto& [client, record] : clients_) {
    if (!record.segments.empty()) last = std::max(last, record.segments.back().last_round);
  }
  return last;
}

void Ledger::append(std::vector<Segment>& segments, std::int64_t round, const RoundAccesses& accesses) const {
  if (!segments.empty() && segments.back().last_round == round) {
    return add_attempt(segments, accesses);
  }
  if (!segments.empty()) FEDARENA_CHECK(round, >, segments.back().last_round);
  // What was made, what was not and what was lost never share a segment.
  const bool joins = !segments.empty() && segments.back().participations > 0 &&
                     segments.back().attempts == 1 && segments.back().accesses == accesses.list() &&
                     segments.back().unmade == accesses.unmade() &&
                     (ended_after_ == 0 || segments.back().last_round > ended_after_);
  if (!joins) segments.push_back({round, round, 0, accesses.list(), accesses.unmade()});
  segments.back().last_round = round;
  ++segments.back().participations;
}

void Ledger::add_lost(const Ledger& written, std::int64_t round) {
  const auto check = [&](bool goes_on) {
    if (!goes_on)
      throw Error::of("the ledger does not go on where the checkpoint ends, before round {}", round);
  };
  // The segments, with the attempts at the round that `after` has besides.
  const auto with_attempts = [&](std::vector<Segment> segments, const std::vector<Segment>& after) {
    const std::int64_t further = participations_of(after) - participations_of(segments);
    const bool attempted = !after.empty() && after.back().last_round == round;
    check(further == 0 || (further == 1 && attempted));
    if (!attempted) return segments;
    // In a segment of its own, because the next attempt changes it. It holds the attempts before, too.
    if (!segments.empty() && segments.back().last_round == round) segments.pop_back();
    segments.push_back(after.back());
    segments.back().first_round = round;
    segments.back().participations = 0;
    return segments;
  };
  check(unit_ == written.unit_ && clients_.size() == written.clients_.size());
  Ledger result = *this;
  result.population_ = with_attempts(population_, written.population_);
  result.as_if_ = with_attempts(as_if_, written.as_if_);
  for (const auto& [client, record] : clients_) {
    const auto after = written.clients_.find(client);
    check(after != written.clients_.end() && after->second.examples == record.examples);
    std::vector<Segment> segments = with_attempts(record.segments, after->second.segments);
    if (segments != record.segments.list()) result.clients_.edit(client).segments = std::move(segments);
  }
  result.withheld_.insert(written.withheld_.begin(), written.withheld_.end());
  *this = std::move(result);
}

void Ledger::end_after(std::int64_t round) {
  FEDARENA_CHECK(round, >=, 1);
  FEDARENA_CHECK(ended_after_, ==, 0);
  ended_after_ = round;
}

Ledger Ledger::made() const {
  Ledger result = *this;
  if (ended_after_ > 0) {
    result = after_round(ended_after_).most;
    result.ended_after_ = 0;
  }
  const auto has_unmade = [](const Segment& segment) { return segment.unmade && !segment.unmade->empty(); };
  for (const auto& [client, record] : clients_) {
    if (std::ranges::none_of(record.segments, has_unmade)) continue;
    for (Segment& segment : result.clients_.edit(client).segments.edit()) {
      if (segment.unmade) segment.unmade->clear();
    }
  }
  return result;
}

bool Ledger::charges_more() const {
  const Ledger actual = made();
  if (actual.charged_as_if() != charged_as_if()) return true;
  return std::ranges::any_of(
      clients_, [&](const auto& entry) { return actual.charged(entry.first) != charged(entry.first); });
}

bool Ledger::varies() const {
  if (!withheld_.empty()) return true;
  if (unit_ == Unit::kClient) return differ(population_);
  return charges_each_client(unit_) &&
         std::ranges::any_of(clients_, [&](const auto& entry) { return differ(entry.second.segments); });
}

bool Ledger::varies(std::int64_t client) const {
  if (!charges_each_client(unit_)) return varies();
  return withheld_.contains(client) || withheld_.contains(kEverybody) || differ(clients_.at(client).segments);
}

void Ledger::add_client(std::int64_t client, std::int64_t examples) {
  const bool added = clients_.add(client, {.examples = examples});
  FEDARENA_CHECK(added, ==, true);
}

void Ledger::record(std::int64_t round, std::int64_t client, const RoundAccesses& accesses) {
  append(clients_.edit(client).segments.edit(), round, accesses);
}

void Ledger::record_kept(std::int64_t round, std::int64_t client, const RoundAccesses& accesses) {
  std::vector<Segment>& kept = clients_.edit(client).kept.edit();
  if (kept.empty() || kept.back().last_round != round) append(kept, round, accesses);
}

void Ledger::record_population(std::int64_t round, const RoundAccesses& accesses) {
  append(population_, round, accesses);
}

void Ledger::record_as_if(std::int64_t round, const RoundAccesses& accesses) {
  append(as_if_, round, accesses);
}

std::vector<Access> Ledger::charged(std::int64_t client) const {
  if (unit_ == Unit::kNothing) return {};
  std::vector<Access> result;
  if (charges_each_client(unit_)) result = charged_of(clients_.at(client).segments);
  for (Access& access : accesses_of(population_)) result.push_back(std::move(access));
  return result;
}

std::vector<Access> Ledger::charged_as_if() const {
  std::vector<Access> result = accesses_of(as_if_);
  if (result.empty()) return result;
  // No noise is rescaled where there is none.
  for (Access& access : accesses_of(population_)) {
    if (!is_noised(access.event)) result.push_back(std::move(access));
  }
  return result;
}

Ledger::Past Ledger::after_round(std::int64_t round) const {
  const auto past = [&](auto kept) {
    Ledger result = *this;
    for (const auto& [client, record] : clients_) {
      if (record.segments.empty() && record.kept.empty()) continue;
      ClientRecord& past = result.clients_.edit(client);
      past.segments = cut(record.segments, round, kept);
      past.kept = cut(record.kept, round, kept);
    }
    result.population_ = cut(std::move(result.population_), round, kept);
    result.as_if_ = cut(std::move(result.as_if_), round, kept);
    return result;
  };
  // The first round of a segment is one of its participations, and so is the last.
  return {past([&](const Segment& segment) {
            return std::max<std::int64_t>(1, segment.participations - (segment.last_round - round));
          }),
          past([&](const Segment& segment) {
            return std::min(segment.participations - 1, round - segment.first_round + 1);
          })};
}

std::string_view name(Unit unit) { return kUnitNames.at(static_cast<std::size_t>(unit)); }

}  // namespace fedarena
