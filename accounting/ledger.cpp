#include "fedarena/accounting/ledger.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;
constexpr const char* kExactAccess = "exact access";

json to_json(const Event& event) {
  return std::visit(
      [](const ExactAccess& access) {
        return json{{"event", kExactAccess}, {"what", access.what}};
      },
      event);
}

// A field in a message; lists and objects may be of any size and depth.
std::string shown(const json& field) { return field.is_structured() ? field.type_name() : field.dump(); }

std::string text_of(const json& object, const char* key) {
  const json& field = object.at(key);
  if (!field.is_string()) throw Error::of("\"{}\" is {}; allowed: a text", key, shown(field));
  return field.get<std::string>();
}

const json& list_of(const json& object, const char* key) {
  const json& field = object.at(key);
  if (!field.is_array()) throw Error::of("\"{}\" is {}; allowed: a list", key, shown(field));
  return field;
}

Event event_from(const json& object) {
  const std::string kind = text_of(object, "event");
  if (kind != kExactAccess) throw Error::of("unknown event \"{}\"; allowed: \"{}\"", kind, kExactAccess);
  return ExactAccess{text_of(object, "what")};
}

json to_json(const Ledger::Segment& segment) {
  json accesses = json::array();
  for (const Access& access : segment.accesses) {
    json object = to_json(access.event);
    object["count"] = access.count;
    accesses.push_back(std::move(object));
  }
  return {{"first_round", segment.first_round},
          {"last_round", segment.last_round},
          {"participations", segment.participations},
          {"accesses", std::move(accesses)}};
}

std::int64_t at_least(const json& object, const char* key, std::int64_t lowest) {
  const json& field = object.at(key);
  if (!field.is_number_integer() || field.get<std::int64_t>() < lowest) {
    throw Error::of("\"{}\" is {}; allowed: an integer >= {}", key, shown(field), lowest);
  }
  return field.get<std::int64_t>();
}

Ledger::Segment segment_from(const json& object) {
  Ledger::Segment segment;
  segment.first_round = at_least(object, "first_round", 1);
  segment.last_round = at_least(object, "last_round", segment.first_round);
  segment.participations = at_least(object, "participations", 1);
  const std::int64_t rounds = segment.last_round - segment.first_round + 1;
  if (segment.participations > rounds) {
    throw Error::of("\"participations\" is {}; allowed: at most the segment's {} rounds",
                    segment.participations, rounds);
  }
  for (const json& access : list_of(object, "accesses")) {
    segment.accesses.push_back({event_from(access), at_least(access, "count", 1)});
  }
  return segment;
}

std::vector<Ledger::Segment> segments_from(const json& client) {
  std::vector<Ledger::Segment> segments;
  for (const json& object : list_of(client, "segments")) {
    Ledger::Segment segment = segment_from(object);
    if (!segments.empty() && segment.first_round <= segments.back().last_round) {
      throw Error::of("\"first_round\" is {}; allowed: a round after {}, with which the segment before ends",
                      segment.first_round, segments.back().last_round);
    }
    segments.push_back(std::move(segment));
  }
  return segments;
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
  std::vector<Segment>& segments = clients_[client].segments;
  if (!segments.empty()) FEDARENA_CHECK(round, >, segments.back().last_round);
  if (segments.empty() || segments.back().accesses != accesses.list()) {
    segments.push_back({round, round, 0, accesses.list()});
  }
  segments.back().last_round = round;
  ++segments.back().participations;
}

std::string Ledger::to_json() const {
  json clients = json::array();
  for (const auto& [client, record] : clients_) {
    json segments = json::array();
    for (const Segment& segment : record.segments) segments.push_back(fedarena::to_json(segment));
    clients.push_back({{"client", client}, {"examples", record.examples}, {"segments", std::move(segments)}});
  }
  return json{{"schema", kSchema}, {"clients", std::move(clients)}}.dump(1) + "\n";
}

Ledger Ledger::from_json(std::string_view text) {
  try {
    const json document = json::parse(text);
    if (at_least(document, "schema", 1) != kSchema) {
      throw Error::of("a ledger of schema {}; this program reads schema {}", document.at("schema").dump(),
                      kSchema);
    }
    Ledger ledger;
    for (const json& object : list_of(document, "clients")) {
      const std::int64_t client = at_least(object, "client", 0);
      ClientRecord record{at_least(object, "examples", 0), segments_from(object)};
      if (!ledger.clients_.emplace(client, std::move(record)).second) {
        throw Error::of("client {} appears twice", client);
      }
    }
    return ledger;
  } catch (const json::exception& failure) {
    throw Error::of("not a ledger: {}", failure.what());
  }
}

}  // namespace fedarena
