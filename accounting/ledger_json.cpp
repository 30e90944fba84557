// The ledger on disk. Reading is strict: a field that is missing, unknown or outside its range is an Error
// that names it, so that no edit of a ledger goes unnoticed.
#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/accounting/names.hpp"
#include "fedarena/base/error.hpp"

#include "accounting/access_json.hpp"
#include "accounting/json_text.hpp"

namespace fedarena {
namespace {

using nlohmann::json;

constexpr int kSchema = 6;
constexpr std::int64_t kMostRounds = 1'000'000;

json to_json(const std::vector<Ledger::Segment>& segments) {
  json list = json::array();
  for (const Ledger::Segment& segment : segments) {
    json object{{"first_round", segment.first_round},
                {"last_round", segment.last_round},
                {"participations", segment.participations},
                {"accesses", list_of(segment.accesses)}};
    if (segment.unmade) object["unmade"] = list_of(*segment.unmade);
    if (segment.attempts > 1) object["attempts"] = segment.attempts;
    list.push_back(std::move(object));
  }
  return list;
}

Ledger::Segment segment_from(const json& object) {
  AccessFields fields(object, "a segment");
  Ledger::Segment segment;
  segment.first_round = fields.integer("first_round", 1, kMostRounds);
  segment.last_round = fields.integer("last_round", segment.first_round, kMostRounds);
  segment.participations = fields.integer("participations", 0, kMostRounds);
  const std::int64_t rounds = segment.last_round - segment.first_round + 1;
  if (segment.participations == 0 && rounds > 1) {
    throw Error::of("\"participations\" is 0; allowed: 1 to the segment's {} rounds, or 0 of a single one",
                    rounds);
  }
  if (segment.participations > rounds) {
    throw Error::of("\"participations\" is {}; allowed: at most the segment's {} rounds",
                    segment.participations, rounds);
  }
  segment.accesses = accesses_from(fields.list("accesses"));
  // Absent where there was no plan.
  if (fields.has("unmade")) segment.unmade = accesses_from(fields.list("unmade"));
  // Absent where no crash lost one.
  if (fields.has("attempts")) segment.attempts = fields.integer("attempts", 2, kMostRounds);
  fields.finish();
  return segment;
}

std::vector<Ledger::Segment> segments_from(const json& list) {
  std::vector<Ledger::Segment> segments;
  for (const json& object : list) {
    Ledger::Segment segment = segment_from(object);
    if (!segments.empty() && segment.first_round <= segments.back().last_round) {
      throw Error::of("\"first_round\" is {}; allowed: a round after {}, with which the segment before ends",
                      segment.first_round, segments.back().last_round);
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

constexpr const char* kClients = "clients";
// [first, last, examples] of clients of whom nothing else is listed.
constexpr const char* kIdle = "idle";
constexpr std::int64_t kMostIdle = 5'000'000;
constexpr const char* kPublicData = "public_data";

std::pair<std::int64_t, Ledger::ClientRecord> client_from(const json& object) {
  AccessFields client(object, "a client");
  const std::int64_t number = client.integer("client", 0);
  Ledger::ClientRecord record{.examples = client.integer("examples", 0),
                              .segments = segments_from(client.list("segments"))};
  // Absent from ledgers of runs without personal models.
  if (object.contains("kept")) record.kept = segments_from(client.list("kept"));
  client.finish();
  return {number, std::move(record)};
}

std::array<std::int64_t, 3> idle_from(const json& list) {
  const bool fits = list.is_array() && list.size() == 3 && is_integer(list[0], 0) &&
                    is_integer(list[1], list[0].get<std::int64_t>()) && is_integer(list[2], 0);
  if (!fits)
    throw Error::of("\"{}\" holds {}; allowed: [first client, last client, examples of each]", kIdle,
                    list.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60));
  return list.get<std::array<std::int64_t, 3>>();
}

std::set<std::int64_t> withheld_from(const json& list) {
  std::set<std::int64_t> clients;
  for (const json& client : list) {
    if (!is_integer(client, Ledger::kEverybody))
      throw Error::of("\"withheld\" holds {}; allowed: clients, or {} for all", shown(client),
                      Ledger::kEverybody);
    clients.insert(client.get<std::int64_t>());
  }
  return clients;
}

std::vector<std::string> public_data_from(const json& list) {
  std::vector<std::string> names;
  for (const json& element : list) {
    const bool fits = element.is_string() && !element.get_ref<const std::string&>().empty();
    if (!fits || std::ranges::find(names, element.get<std::string>()) != names.end())
      throw Error::of("\"{}\" holds {}; allowed: distinct texts", kPublicData, shown(element));
    names.push_back(element.get<std::string>());
  }
  return names;
}

// As it stands that many levels below the top.
std::string indented(const std::string& text, std::size_t levels) {
  const std::string margin(levels, ' ');
  std::string result = margin;
  for (const char letter : text) {
    result += letter;
    if (letter == '\n') result += margin;
  }
  return result;
}

// Puts elements into an empty list of the document; within texts, quotes are escaped.
void fill_list(std::string& document, const std::string& name, const std::string& elements) {
  const std::string empty = fmt::format("\"{}\": [", name);
  document.insert(document.find(empty + "]") + empty.size(), elements);
}

}  // namespace

std::string Ledger::to_json() const {
  // Clients are written one by one: there may be a million, and a tree of them takes ten times the text.
  std::string clients, idle;
  struct Idle {
    std::int64_t first, last, examples;
  };
  std::optional<Idle> alike;
  const auto end_idle = [&] {
    if (alike)
      idle +=
          fmt::format("{}[{},{},{}]", idle.empty() ? "" : ",", alike->first, alike->last, alike->examples);
    alike.reset();
  };
  for (const auto& [client, record] : clients_) {
    if (record.segments.empty() && record.kept.empty()) {
      if (alike && alike->last + 1 == client && alike->examples == record.examples) {
        alike->last = client;
      } else {
        end_idle();
        alike = {client, client, record.examples};
      }
      continue;
    }
    json object{
        {"client", client}, {"examples", record.examples}, {"segments", fedarena::to_json(record.segments)}};
    if (!record.kept.empty()) object["kept"] = fedarena::to_json(record.kept);
    clients += (clients.empty() ? "\n" : ",\n") + indented(object.dump(1), 2);
  }
  end_idle();
  json document{{"schema", kSchema},
                {"unit", name(unit_)},
                {"ended_after", ended_after_},
                {"withheld", withheld_},
                {kClients, json::array()},
                {kIdle, json::array()},
                {"population", fedarena::to_json(population_)},
                {"as_if", fedarena::to_json(as_if_)},
                {kPublicData, public_data_}};
  std::string text = document.dump(1) + "\n";
  if (!clients.empty()) fill_list(text, kClients, clients + "\n ");
  fill_list(text, kIdle, idle);
  return text;
}

Ledger Ledger::from_json(std::string_view text) {
  try {
    Ledger ledger;
    std::exception_ptr wrong_client;  // of another schema, perhaps, which is to be said first
    std::int64_t idle = 0;
    const auto add = [&](std::int64_t client, ClientRecord record) {
      if (!ledger.clients_.add(client, std::move(record))) throw Error::of("client {} appears twice", client);
    };
    const auto take = [&](const std::string& field, const json& element) {
      if (field != kClients && field != kIdle) return false;
      if (wrong_client) return true;
      try {
        if (field == kClients) {
          auto [client, record] = client_from(element);
          add(client, std::move(record));
        } else {
          const auto [first, last, examples] = idle_from(element);
          idle += last - first + 1;
          if (idle > kMostIdle) throw Error::of("\"{}\" lists more than {} clients", kIdle, kMostIdle);
          for (std::int64_t client = first; client <= last; ++client) add(client, {.examples = examples});
        }
      } catch (const Error&) {
        wrong_client = std::current_exception();
      }
      return true;
    };
    const json document = parse_json<json>(text, {}, take);
    AccessFields fields(document, "the ledger");
    // First, because another version may lay out everything else differently.
    if (const std::int64_t schema = fields.integer("schema", 1); schema != kSchema) {
      throw Error::of("a ledger of schema {}; this program reads schema {}", schema, kSchema);
    }
    ledger.unit_ = fields.choice<Unit>("unit", kUnitNames);
    ledger.ended_after_ = fields.integer("ended_after", 0, kMostRounds);
    ledger.withheld_ = withheld_from(fields.list("withheld"));
    if (wrong_client) std::rethrow_exception(wrong_client);
    // What is left are neither lists nor objects.
    for (const json& element : fields.list(kClients)) client_from(element);
    for (const json& element : fields.list(kIdle)) idle_from(element);
    ledger.population_ = segments_from(fields.list("population"));
    ledger.as_if_ = segments_from(fields.list("as_if"));
    ledger.public_data_ = public_data_from(fields.list(kPublicData));
    fields.finish();
    return ledger;
  } catch (const json::parse_error& failure) {
    throw Error::of("not a ledger: not valid JSON from byte {} on; restore it if it was cut or edited",
                    failure.byte);
  } catch (const json::exception&) {
    throw Error::of("not a ledger: it holds a number that is out of range; restore it if it was edited");
  }
}

}  // namespace fedarena
