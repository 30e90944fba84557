#include "results/record/tuning.hpp"

#include <cmath>

#include "results/record/record.hpp"
#include "results/record/record_form.hpp"

namespace fedarena::results {
namespace {

constexpr const char* kField = "tuning";

template <typename Form, typename Trials>
void form_tuning(Form& form, Trials& tuning) {
  form.choice("search", tuning.search, {"grid", "random"});
  form.integer("trials", tuning.trials, 1);
  form.integer("seed", tuning.seed);
  form.texts("chosen", tuning.chosen);
  form.choice("criterion", tuning.criterion,
              {std::string(kByValidationAccuracy), std::string(kByValidationLoss)});
  // A model that diverged still has a loss, and an accuracy.
  if (tuning.criterion == kByValidationAccuracy) {
    form.fraction("score", tuning.score);
  } else {
    form.number("score", tuning.score);
  }
  form.integer("examples", tuning.examples, 0);
  form.amount("seconds", tuning.seconds);
}

}  // namespace

void append_tuning(Json& json, const Tuning& tuning) {
  Json object;
  FormWriter form(object);
  form_tuning(form, tuning);
  json[kField] = std::move(object);
}

std::optional<Tuning> read_tuning(JsonFields& fields) {
  if (!fields.has(kField)) return std::nullopt;
  JsonFields object = fields.object(kField);
  Tuning tuning;
  FormReader form(object);
  form_tuning(form, tuning);
  if (tuning.chosen.empty()) object.reject("chosen", "the settings of the best trial");
  object.finish();
  return tuning;
}

bool ValidationScore::better_than(const ValidationScore& other) const {
  if (diverged || other.diverged) return !diverged && other.diverged;
  return criterion == kByValidationAccuracy ? value > other.value : value < other.value;
}

std::optional<ValidationScore> validation_score(const RoundRecord& round) {
  const bool diverged = round.validation_loss && !std::isfinite(*round.validation_loss);
  if (round.validation_accuracy)
    return ValidationScore{kByValidationAccuracy, *round.validation_accuracy, diverged};
  if (round.validation_loss) return ValidationScore{kByValidationLoss, *round.validation_loss, diverged};
  return std::nullopt;
}

}  // namespace fedarena::results
