#include "accounting/access_json.hpp"

#include <algorithm>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

namespace fedarena {
namespace {

using nlohmann::json;

// Compositions of compositions; nothing real comes near it.
constexpr int kDeepest = 8;
constexpr const char* kLargest = "largest";  // how nominal values are combined, where they are not summed

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

std::vector<Access> accesses_within(const json& list, int depth);

Event event_from(AccessFields& fields, int depth) {
  const std::string kind = fields.text("event");
  if (kind == "exact access") return ExactAccess{fields.text("what")};
  if (kind == "declared public") return DeclaredPublic{fields.text("what")};
  if (kind == "gaussian") {
    return Gaussian{fields.number("noise_multiplier"),
                    fields.choice<Adjacency>("adjacency", kAdjacencyNames)};
  }
  if (kind == "sampled gaussian") {
    SampledGaussian event{fields.choice<Sampling>("sampling", kSamplingNames), fields.number("rate"), {}, {}};
    for (const json& multiplier : fields.list("noise_multipliers")) {
      if (!multiplier.is_number()) {
        throw Error::of("\"noise_multipliers\" holds {}; allowed: numbers", shown(multiplier));
      }
      event.noise_multipliers.push_back(multiplier.get<double>());
    }
    event.adjacency = fields.choice<Adjacency>("adjacency", kAdjacencyNames);
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
    return Composition{accesses_within(fields.list("parts"), depth + 1)};
  }
  const std::vector<std::string> kinds{
      "exact access", "gaussian",        "sampled gaussian", "laplace", "randomized response",
      "composition",  "declared public", "metric laplace",   "nominal"};
  throw unknown_name(fmt::format("unknown event \"{}\"", kind), kind, kinds);
}

std::vector<Access> accesses_within(const json& list, int depth) {
  std::vector<Access> accesses;
  for (const json& object : list) {
    AccessFields fields(object, "an access");
    Access access{event_from(fields, depth), fields.integer("count", 1)};
    fields.finish();
    validate(access.event);
    accesses.push_back(std::move(access));
  }
  return accesses;
}

}  // namespace

std::string shown(const json& field) {
  if (field.is_structured()) return field.type_name();
  return field.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Beyond 63 bits the library holds an unsigned number that would wrap around.
bool is_integer(const json& value, std::int64_t lowest, std::int64_t highest) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t(highest)) return false;
  return value.get<std::int64_t>() >= lowest && value.get<std::int64_t>() <= highest;
}

AccessFields::AccessFields(const json& object, std::string what) : object_(object), what_(std::move(what)) {
  if (!object.is_object()) throw Error::of("{} is {}; allowed: an object", what_, shown(object));
}

const json& AccessFields::at(const std::string& key) {
  known_.push_back(key);
  const auto found = object_.find(key);
  if (found == object_.end()) throw Error::of("{} has no \"{}\"", what_, key);
  return *found;
}

std::string AccessFields::text(const std::string& key) {
  const json& field = at(key);
  if (!field.is_string()) throw Error::of("\"{}\" is {}; allowed: a text", key, shown(field));
  return field.get<std::string>();
}

const json& AccessFields::list(const std::string& key) {
  const json& field = at(key);
  if (!field.is_array()) throw Error::of("\"{}\" is {}; allowed: a list", key, shown(field));
  return field;
}

double AccessFields::number(const std::string& key) {
  const json& field = at(key);
  if (!field.is_number()) throw Error::of("\"{}\" is {}; allowed: a number", key, shown(field));
  return field.get<double>();
}

std::int64_t AccessFields::integer(const std::string& key, std::int64_t lowest, std::int64_t highest) {
  const json& field = at(key);
  if (!is_integer(field, lowest, highest)) {
    throw Error::of("\"{}\" is {}; allowed: an integer from {} to {}", key, shown(field), lowest, highest);
  }
  return field.get<std::int64_t>();
}

void AccessFields::finish() const {
  for (const auto& [key, field] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    throw unknown_name(fmt::format("{} has an unknown \"{}\"", what_, key), key, known_);
  }
}

json list_of(const std::vector<Access>& accesses) {
  json list = json::array();
  for (const Access& access : accesses) list.push_back(to_json(access));
  return list;
}

std::vector<Access> accesses_from(const json& list) { return accesses_within(list, 0); }

}  // namespace fedarena
