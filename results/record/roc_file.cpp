#include "results/record/roc_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kRocSchema = 2;
constexpr const char* kRates = "true_positive_rates";

RocCurve read_curve(JsonFields& fields) {
  RocCurve curve{.area = fields.fraction("auc")};
  const std::vector<std::optional<double>> rates = fields.fractions(kRates);
  const std::size_t points = curve.true_positive_rates.size();
  if (rates.size() != points) fields.reject(kRates, fmt::format("{} rates", points));
  for (std::size_t i = 0; i < points; ++i) {
    if (!rates[i]) fields.reject(kRates, "a number at each false positive rate");
    curve.true_positive_rates[i] = *rates[i];
  }
  if (!std::ranges::is_sorted(curve.true_positive_rates)) {
    fields.reject(kRates, "rates of which none is below the one before");
  }
  if (curve.true_positive_rates.back() != 1)
    fields.reject(kRates, "1 at the end, where every example counts");
  return curve;
}

NamedRoc read_named(JsonFields& fields, const std::vector<NamedRoc>& before) {
  NamedRoc named{.name = fields.text("name"), .curve = {}};
  if (named.name.empty() || std::ranges::find(before, named.name, &NamedRoc::name) != before.end()) {
    fields.reject("name", "another text for each curve");
  }
  named.curve = read_curve(fields);
  fields.finish();
  return named;
}

}  // namespace

std::string to_json_text(const std::vector<NamedRoc>& curves) {
  std::string lines;
  for (const auto& [name, curve] : curves) {
    const Json line = {{"name", name}, {"auc", curve.area}, {kRates, curve.true_positive_rates}};
    lines += (lines.empty() ? "" : ",\n") + json_text(line, -1);
  }
  return checked_record(fmt::format("{{\n\"schema\": {},\n\"curves\": [\n{}\n]\n}}\n", kRocSchema, lines),
                        "characteristics", [](const std::string& text) { parse_roc(text, ""); });
}

std::vector<NamedRoc> parse_roc(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(kRocSchema);
  std::vector<NamedRoc> curves;
  for (JsonFields& entry : fields.objects("curves")) curves.push_back(read_named(entry, curves));
  if (curves.empty()) fields.reject("curves", "at least one curve");
  fields.finish();
  return curves;
}

std::vector<NamedRoc> read_roc(const RunDirectory& run) {
  if (!run.has(kRocFile)) return {};
  return parse_roc(run.read_file(kRocFile), (run.path() / kRocFile).string());
}

void write_roc(const RunDirectory& run, const std::vector<NamedRoc>& curves) {
  run.write_file_atomically(kRocFile, to_json_text(curves));
}

}  // namespace fedarena::results
