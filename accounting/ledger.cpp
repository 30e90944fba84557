#include "fedarena/accounting/ledger.hpp"

#include <algorithm>
#include <utility>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

void append(std::vector<Ledger::Segment>& segments, std::int64_t round, const RoundAccesses& accesses) {
  if (!segments.empty()) FEDARENA_CHECK(round, >, segments.back().last_round);
  if (segments.empty() || segments.back().accesses != accesses.list()) {
    segments.push_back({round, round, 0, accesses.list()});
  }
  segments.back().last_round = round;
  ++segments.back().participations;
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

}  // namespace

void RoundAccesses::add(const Event& event) {
  if (accesses_.empty() || !(accesses_.back().event == event)) accesses_.push_back({event, 0});
  ++accesses_.back().count;
}

std::vector<Access> Ledger::accesses_of(const std::vector<Segment>& segments) {
  std::vector<Access> result;
  for (const Segment& segment : segments) {
    for (const Access& access : segment.accesses) {
      result.push_back({access.event, access.count * segment.participations});
    }
  }
  return result;
}

std::int64_t Ledger::participations_of(const std::vector<Segment>& segments) {
  std::int64_t total = 0;
  for (const Segment& segment : segments) total += segment.participations;
  return total;
}

void Ledger::add_client(std::int64_t client, std::int64_t examples) {
  const bool added = clients_.emplace(client, ClientRecord{examples, {}}).second;
  FEDARENA_CHECK(added, ==, true);
}

void Ledger::record(std::int64_t round, std::int64_t client, const RoundAccesses& accesses) {
  FEDARENA_CHECK(clients_.contains(client), ==, true);
  append(clients_[client].segments, round, accesses);
}

void Ledger::record_population(std::int64_t round, const RoundAccesses& accesses) {
  append(population_, round, accesses);
}

void Ledger::record_as_if(std::int64_t round, const RoundAccesses& accesses) {
  append(as_if_, round, accesses);
}

std::vector<Access> Ledger::charged(std::int64_t client) const {
  switch (unit_) {
    case Unit::kNothing:
      return {};
    case Unit::kRecord: {
      FEDARENA_CHECK(clients_.contains(client), ==, true);
      std::vector<Access> result = accesses_of(clients_.at(client).segments);
      for (Access& access : accesses_of(population_)) result.push_back(std::move(access));
      return result;
    }
    case Unit::kClient:
      return accesses_of(population_);
  }
  throw Bug("a unit of protection that is none");
}

std::vector<Access> Ledger::charged_as_if() const { return accesses_of(as_if_); }

Ledger::Past Ledger::after_round(std::int64_t round) const {
  const auto past = [&](auto kept) {
    Ledger result = *this;
    for (auto& [client, record] : result.clients_) {
      record.segments = cut(std::move(record.segments), round, kept);
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

std::string_view name(Unit unit) {
  switch (unit) {
    case Unit::kNothing:
      return "none";
    case Unit::kRecord:
      return "record";
    case Unit::kClient:
      return "client";
  }
  throw Bug("a unit of protection that is none");
}

}  // namespace fedarena
