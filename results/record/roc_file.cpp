#include "results/record/roc_file.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kRocSchema = 1;
constexpr const char* kArea = "auc";
constexpr const char* kRates = "true_positive_rates";

std::string line_of(const ClassRoc& roc, std::size_t label) {
  Json json;
  json["class"] = label;
  json["positives"] = roc.positives;
  json["negatives"] = roc.negatives;
  json[kArea] = roc.curve ? Json(roc.curve->area) : Json(nullptr);
  json[kRates] = roc.curve ? Json(roc.curve->true_positive_rates) : Json(nullptr);
  return json_text(json, -1);
}

RocCurve read_curve(JsonFields& fields) {
  RocCurve curve{.area = fields.fraction(kArea)};
  const std::vector<std::optional<double>> rates = fields.fractions(kRates);
  const std::size_t points = curve.true_positive_rates.size();
  if (rates.size() != points) fields.reject(kRates, fmt::format("{} rates", points));
  for (std::size_t i = 0; i < points; ++i) {
    if (!rates[i]) fields.reject(kRates, "a number at each false positive rate");
    curve.true_positive_rates[i] = *rates[i];
  }
  if (!std::is_sorted(curve.true_positive_rates.begin(), curve.true_positive_rates.end())) {
    fields.reject(kRates, "rates of which none is below the one before");
  }
  if (curve.true_positive_rates.back() != 1)
    fields.reject(kRates, "1 at the end, where every example counts");
  return curve;
}

ClassRoc read_class(JsonFields& fields, std::int64_t label) {
  if (fields.integer("class") != label) fields.reject("class", fmt::format("{}, the next one", label));
  ClassRoc roc{.positives = fields.integer("positives", 0),
               .negatives = fields.integer("negatives", 0),
               .curve = std::nullopt};
  const bool none = fields.is_null(kArea);
  if (fields.is_null(kRates) != none) {
    fields.reject(kRates, fmt::format("null exactly where \"{}\" is null", kArea));
  }
  if (!none && (roc.positives == 0 || roc.negatives == 0)) {
    fields.reject(kArea, "null for a class without examples, or without others");
  }
  if (!none) roc.curve = read_curve(fields);
  fields.finish();
  return roc;
}

}  // namespace

std::string to_json_text(const TestRoc& roc) {
  std::string text =
      fmt::format("{{\n\"schema\": {},\n\"test_examples\": {},\n\"classes\": [\n", kRocSchema, roc.examples);
  for (std::size_t label = 0; label < roc.classes.size(); ++label) {
    text += line_of(roc.classes[label], label) + (label + 1 < roc.classes.size() ? ",\n" : "\n");
  }
  text += "]\n}\n";
  try {
    parse_roc(text, "");
  } catch (const Error& error) {
    throw Bug(fmt::format("characteristics that cannot be read back: {}", error.what()));
  }
  return text;
}

TestRoc parse_roc(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(kRocSchema, kRocSchema);
  TestRoc roc;
  roc.examples = fields.integer("test_examples", 1);
  for (JsonFields& entry : fields.objects("classes")) {
    roc.classes.push_back(read_class(entry, std::ssize(roc.classes)));
  }
  if (roc.classes.empty()) fields.reject("classes", "at least one class");
  fields.finish();
  return roc;
}

std::optional<TestRoc> read_roc(const RunDirectory& run) {
  if (!run.has(kRocFile)) return std::nullopt;
  return parse_roc(run.read_file(kRocFile), (run.path() / kRocFile).string());
}

void write_roc(const RunDirectory& run, const TestRoc& roc) {
  run.write_file_atomically(kRocFile, to_json_text(roc));
}

}  // namespace fedarena::results
