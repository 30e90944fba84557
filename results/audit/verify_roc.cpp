// What a run says of its classes one against the rest, against itself.
#include <cstdint>

#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/text/number_format.hpp"
#include "results/record/roc_file.hpp"

namespace fedarena::results {
namespace {

// Sums of a hundred rates round; an area that was edited is off by more.
constexpr double kAreaRounding = 1e-12;

void verify_area(const RocCurve& curve, const std::string& field, Comparison& compare) {
  const AreaBounds bounds = area_bounds(curve.true_positive_rates);
  compare.result(curve.area >= bounds.least - kAreaRounding && curve.area <= bounds.largest + kAreaRounding,
                 field + " auc", exact_number(curve.area),
                 fmt::format("from {} to {}, as its rates have it", exact_number(bounds.least),
                             exact_number(bounds.largest)));
}

}  // namespace

void verify_roc(const RunDirectory& run, Verification& verification) {
  const std::optional<TestRoc> roc = read_roc(run);
  if (!roc) return;
  Comparison compare(verification, run.path() / kRocFile);
  std::uint64_t positives = 0;  // of which an edited file may hold any number
  for (std::size_t label = 0; label < roc->classes.size(); ++label) {
    const ClassRoc& one = roc->classes[label];
    const std::string field = fmt::format("class {}", label);
    compare.integer(field + " negatives", one.negatives, roc->examples - one.positives);
    positives += static_cast<std::uint64_t>(one.positives);
    if (one.curve) verify_area(*one.curve, field, compare);
  }
  compare.integer("test_examples", roc->examples, static_cast<std::int64_t>(positives));
}

}  // namespace fedarena::results
