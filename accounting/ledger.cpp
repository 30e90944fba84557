#include "fedarena/accounting/ledger.hpp"

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

std::vector<Access> multiplied_out(const std::vector<Ledger::Segment>& segments) {
  std::vector<Access> result;
  for (const Ledger::Segment& segment : segments) {
    for (const Access& access : segment.accesses) {
      result.push_back({access.event, access.count * segment.participations});
    }
  }
  return result;
}

}  // namespace

void RoundAccesses::add(const Event& event) {
  if (accesses_.empty() || !(accesses_.back().event == event)) accesses_.push_back({event, 0});
  ++accesses_.back().count;
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
      std::vector<Access> result = multiplied_out(clients_.at(client).segments);
      for (Access& access : multiplied_out(population_)) result.push_back(std::move(access));
      return result;
    }
    case Unit::kClient:
      return multiplied_out(population_);
  }
  throw Bug("a unit of protection that is none");
}

std::vector<Access> Ledger::charged_as_if() const { return multiplied_out(as_if_); }

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

std::string_view name(Adjacency adjacency) {
  return adjacency == Adjacency::kAddRemove ? "add-remove" : "replace-one";
}

}  // namespace fedarena
