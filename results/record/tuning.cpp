#include "results/record/tuning.hpp"

#include <cmath>

#include "results/record/json_fields.hpp"
#include "results/record/record.hpp"

namespace fedarena::results {
namespace {

constexpr const char* kField = "tuning";

}  // namespace

void append_tuning(Json& json, const Tuning& tuning) {
  Json object;
  object["search"] = tuning.search;
  object["trials"] = tuning.trials;
  object["seed"] = tuning.seed;
  object["chosen"] = Json::object();
  for (const auto& [path, value] : tuning.chosen) object["chosen"][path] = value;
  // Paths that occur twice would have been merged.
  FEDARENA_CHECK(object["chosen"].size(), ==, tuning.chosen.size());
  object["criterion"] = tuning.criterion;
  object["score"] = json_number(tuning.score);
  object["examples"] = tuning.examples;
  object["seconds"] = json_number(tuning.seconds);
  json[kField] = std::move(object);
}

std::optional<Tuning> read_tuning(JsonFields& fields) {
  if (!fields.has(kField)) return std::nullopt;
  JsonFields object = fields.object(kField);
  Tuning tuning;
  tuning.search = object.choice("search", {"grid", "random"});
  tuning.trials = object.integer("trials", 1);
  tuning.seed = object.integer("seed");
  tuning.chosen = object.texts("chosen");
  if (tuning.chosen.empty()) object.reject("chosen", "the settings of the best trial");
  tuning.criterion =
      object.choice("criterion", {std::string(kByValidationAccuracy), std::string(kByValidationLoss)});
  // A model that diverged still has a loss, and an accuracy.
  tuning.score =
      tuning.criterion == kByValidationAccuracy ? object.fraction("score") : object.number("score");
  tuning.examples = object.integer("examples", 0);
  tuning.seconds = object.amount("seconds");
  object.finish();
  return tuning;
}

bool ValidationScore::better_than(const ValidationScore& other) const {
  if (std::isnan(value) || std::isnan(other.value)) return !std::isnan(value) && std::isnan(other.value);
  return criterion == kByValidationAccuracy ? value > other.value : value < other.value;
}

std::optional<ValidationScore> validation_score(const RoundRecord& round) {
  if (round.validation_accuracy) return ValidationScore{kByValidationAccuracy, *round.validation_accuracy};
  if (round.validation_loss) return ValidationScore{kByValidationLoss, *round.validation_loss};
  return std::nullopt;
}

}  // namespace fedarena::results
