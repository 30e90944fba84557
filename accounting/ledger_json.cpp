// The ledger on disk. Reading is strict: a field that is missing, unknown or outside its range is an Error
// that names it, so that no edit of a ledger goes unnoticed.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/overload.hpp"

#include "accounting/json_text.hpp"

namespace fedarena {
namespace {

using nlohmann::json;

constexpr int kSchema = 3;
// Compositions of compositions; nothing real comes near it.
constexpr int kDeepest = 8;
constexpr const char* kLargest = "largest";  // how nominal values are combined, where they are not summed
// More accesses than any run makes, and few enough for exact sums in 64 bits.
constexpr std::int64_t kMostAccesses = 1'000'000'000'000;
constexpr std::int64_t kMostRounds = 1'000'000;

constexpr std::array kUnits{Unit::kNothing, Unit::kRecord, Unit::kClient, Unit::kLocal, Unit::kLabel};
constexpr std::array kAdjacencies{Adjacency::kAddRemove, Adjacency::kReplaceOne, Adjacency::kZeroOut};
constexpr std::array kSamplings{Sampling::kPoisson, Sampling::kWithoutReplacement};

// A field in a message; lists and objects may be of any size and depth.
std::string shown(const json& field) {
  if (field.is_structured()) return field.type_name();
  return field.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The fields of one object; what nobody asked for is refused.
class Fields {
 public:
  Fields(const json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object.is_object()) throw Error::of("{} is {}; allowed: an object", what_, shown(object));
  }

  bool has(const std::string& key) const { return object_.contains(key); }

  const json& at(const std::string& key) {
    known_.push_back(key);
    const auto found = object_.find(key);
    if (found == object_.end()) throw Error::of("{} has no \"{}\"", what_, key);
    return *found;
  }

  std::string text(const std::string& key) {
    const json& field = at(key);
    if (!field.is_string()) throw Error::of("\"{}\" is {}; allowed: a text", key, shown(field));
    return field.get<std::string>();
  }

  const json& list(const std::string& key) {
    const json& field = at(key);
    if (!field.is_array()) throw Error::of("\"{}\" is {}; allowed: a list", key, shown(field));
    return field;
  }

  double number(const std::string& key) {
    const json& field = at(key);
    if (!field.is_number()) throw Error::of("\"{}\" is {}; allowed: a number", key, shown(field));
    return field.get<double>();
  }

  std::int64_t integer(const std::string& key, std::int64_t lowest, std::int64_t highest = kMostAccesses) {
    const json& field = at(key);
    // Beyond 63 bits the library holds an unsigned number that would wrap around.
    const bool fits =
        field.is_number_integer() &&
        (!field.is_number_unsigned() || field.get<std::uint64_t>() <= std::uint64_t(kMostAccesses));
    if (!fits || field.get<std::int64_t>() < lowest || field.get<std::int64_t>() > highest) {
      throw Error::of("\"{}\" is {}; allowed: an integer from {} to {}", key, shown(field), lowest, highest);
    }
    return field.get<std::int64_t>();
  }

  // One of the values of an enum, by name.
  template <typename Names>
  auto choice(const std::string& key, const Names& values) {
    const std::string given = text(key);
    std::vector<std::string> names;
    for (const auto value : values) {
      names.emplace_back(name(value));
      if (names.back() == given) return value;
    }
    throw unknown_name(fmt::format("\"{}\" is \"{}\"", key, given), given, names);
  }

  void finish() const {
    for (const auto& [key, field] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      throw unknown_name(fmt::format("{} has an unknown \"{}\"", what_, key), key, known_);
    }
  }

 private:
  const json& object_;
  std::string what_;
  std::vector<std::string> known_;
};

json to_json(const Access& access);

json list_of(const std::vector<Access>& accesses) {
  json list = json::array();
  for (const Access& access : accesses) list.push_back(to_json(access));
  return list;
}

json to_json(const Access& access) {
  json object = std::visit(
      Overload{
          [](const ExactAccess& exact) {
            return json{{"event", "exact access"}, {"what", exact.what}};
          },
          [](const Gaussian& gaussian) {
            return json{{"event", "gaussian"},
                        {"noise_multiplier", gaussian.noise_multiplier},
                        {"adjacency", name(gaussian.adjacency)}};
          },
          [](const SampledGaussian& sampled) {
            return json{{"event", "sampled gaussian"},
                        {"sampling", name(sampled.sampling)},
                        {"rate", sampled.rate},
                        {"noise_multipliers", sampled.noise_multipliers},
                        {"adjacency", name(sampled.adjacency)}};
          },
          [](const Laplace& laplace) {
            return json{{"event", "laplace"}, {"dimension", laplace.dimension}, {"epsilon", laplace.epsilon}};
          },
          [](const RandomizedResponse& response) {
            return json{{"event", "randomized response"},
                        {"categories", response.categories},
                        {"epsilon", response.epsilon}};
          },
          [](const Composition& composition) {
            return json{{"event", "composition"}, {"parts", list_of(composition.parts)}};
          },
          [](const DeclaredPublic& open) {
            return json{{"event", "declared public"}, {"what", open.what}};
          },
          [](const MetricLaplace& metric) {
            return json{
                {"event", "metric laplace"}, {"dimension", metric.dimension}, {"scale", metric.scale}};
          },
          [](const Nominal& nominal) {
            json object{{"event", "nominal"}, {"what", nominal.what}, {"value", nominal.value}};
            if (nominal.largest) object["combined"] = kLargest;
            return object;
          }},
      access.event);
  object["count"] = access.count;
  return object;
}

std::vector<Access> accesses_from(const json& list, int depth);

Event event_from(Fields& fields, int depth) {
  const std::string kind = fields.text("event");
  if (kind == "exact access") return ExactAccess{fields.text("what")};
  if (kind == "declared public") return DeclaredPublic{fields.text("what")};
  if (kind == "gaussian") {
    return Gaussian{fields.number("noise_multiplier"), fields.choice("adjacency", kAdjacencies)};
  }
  if (kind == "sampled gaussian") {
    SampledGaussian event{fields.choice("sampling", kSamplings), fields.number("rate"), {}, {}};
    for (const json& multiplier : fields.list("noise_multipliers")) {
      if (!multiplier.is_number()) {
        throw Error::of("\"noise_multipliers\" holds {}; allowed: numbers", shown(multiplier));
      }
      event.noise_multipliers.push_back(multiplier.get<double>());
    }
    event.adjacency = fields.choice("adjacency", kAdjacencies);
    return event;
  }
  if (kind == "laplace") return Laplace{fields.integer("dimension", 1), fields.number("epsilon")};
  if (kind == "randomized response") {
    return RandomizedResponse{fields.integer("categories", 2), fields.number("epsilon")};
  }
  if (kind == "metric laplace") {
    return MetricLaplace{fields.integer("dimension", 1), fields.number("scale")};
  }
  if (kind == "nominal") {
    const bool largest = fields.has("combined");
    if (largest && fields.text("combined") != kLargest)
      throw Error::of("\"combined\" is \"{}\"; allowed: \"{}\"", fields.text("combined"), kLargest);
    return Nominal{fields.text("what"), fields.number("value"), largest};
  }
  if (kind == "composition") {
    if (depth == kDeepest) throw Error::of("compositions lie more than {} deep in each other", kDeepest);
    return Composition{accesses_from(fields.list("parts"), depth + 1)};
  }
  const std::vector<std::string> kinds{
      "exact access", "gaussian",        "sampled gaussian", "laplace", "randomized response",
      "composition",  "declared public", "metric laplace",   "nominal"};
  throw unknown_name(fmt::format("unknown event \"{}\"", kind), kind, kinds);
}

std::vector<Access> accesses_from(const json& list, int depth) {
  std::vector<Access> accesses;
  for (const json& object : list) {
    Fields fields(object, "an access");
    Access access{event_from(fields, depth), fields.integer("count", 1)};
    fields.finish();
    validate(access.event);
    accesses.push_back(std::move(access));
  }
  return accesses;
}

json to_json(const std::vector<Ledger::Segment>& segments) {
  json list = json::array();
  for (const Ledger::Segment& segment : segments) {
    list.push_back({{"first_round", segment.first_round},
                    {"last_round", segment.last_round},
                    {"participations", segment.participations},
                    {"accesses", list_of(segment.accesses)}});
  }
  return list;
}

Ledger::Segment segment_from(const json& object) {
  Fields fields(object, "a segment");
  Ledger::Segment segment;
  segment.first_round = fields.integer("first_round", 1, kMostRounds);
  segment.last_round = fields.integer("last_round", segment.first_round, kMostRounds);
  segment.participations = fields.integer("participations", 1, kMostRounds);
  const std::int64_t rounds = segment.last_round - segment.first_round + 1;
  if (segment.participations > rounds) {
    throw Error::of("\"participations\" is {}; allowed: at most the segment's {} rounds",
                    segment.participations, rounds);
  }
  segment.accesses = accesses_from(fields.list("accesses"), 0);
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

}  // namespace

std::string Ledger::to_json() const {
  json clients = json::array();
  for (const auto& [client, record] : clients_) {
    clients.push_back({{"client", client},
                       {"examples", record.examples},
                       {"segments", fedarena::to_json(record.segments)}});
    if (!record.kept.empty()) clients.back()["kept"] = fedarena::to_json(record.kept);
  }
  const json document{{"schema", kSchema},
                      {"unit", name(unit_)},
                      {"most_accesses", most_accesses_},
                      {"ended_after", ended_after_},
                      {"clients", std::move(clients)},
                      {"population", fedarena::to_json(population_)},
                      {"as_if", fedarena::to_json(as_if_)}};
  return document.dump(1) + "\n";
}

Ledger Ledger::from_json(std::string_view text) {
  try {
    const json document = parse_json<json>(text);
    Fields fields(document, "the ledger");
    // First, because another version may lay out everything else differently.
    if (const std::int64_t schema = fields.integer("schema", 1); schema != kSchema) {
      throw Error::of("a ledger of schema {}; this program reads schema {}", schema, kSchema);
    }
    Ledger ledger(fields.choice("unit", kUnits), fields.integer("most_accesses", 0));
    ledger.ended_after_ = fields.integer("ended_after", 0, kMostRounds);
    for (const json& object : fields.list("clients")) {
      Fields client(object, "a client");
      const std::int64_t number = client.integer("client", 0);
      ClientRecord record{client.integer("examples", 0), segments_from(client.list("segments"))};
      // Absent from ledgers of runs without personal models.
      if (object.contains("kept")) record.kept = segments_from(client.list("kept"));
      client.finish();
      if (!ledger.clients_.emplace(number, std::move(record)).second) {
        throw Error::of("client {} appears twice", number);
      }
    }
    ledger.population_ = segments_from(fields.list("population"));
    ledger.as_if_ = segments_from(fields.list("as_if"));
    fields.finish();
    return ledger;
  } catch (const json::exception& failure) {
    throw Error::of("not a ledger: {}", failure.what());
  }
}

}  // namespace fedarena
