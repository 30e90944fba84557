#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/export/exported_runs.hpp"

namespace fedarena::results {

/// One number of one round.
struct RoundValue {
  std::string_view measure;  ///< one of `exported_measures`
  std::string_view group;    ///< of measures that belong together: "test", "classes", "clients", ...
  /// The measure, with the class or the algorithm's word where there are several: "class_accuracy_3",
  /// "observed_radius".
  std::string name;
  double number = 0;         ///< may be nan or infinite
  std::string text;          ///< reads back as that number; "nan", "inf", "-inf"; counts have all digits
  bool upper_bound = false;  ///< an epsilon: with fewer digits it is rounded up
};

/// The names of measures, as rounds.jsonl and summary.json have them, in the order of `round_values`.
std::vector<std::string> exported_measures();

/// The measures that a user wants; none: all of them.
using Measures = std::vector<std::string>;

/// What a round of that run says, each number once. What the record lacks has no value: an accuracy of a
/// round that was not evaluated, an epsilon that is not proven. After the last round of a finished run
/// epsilons are those that the run claims, of which some are only computed then, and there is what attacks
/// measured.
std::vector<RoundValue> round_values(const ExportedRun& run, const RoundRecord& round,
                                     const Measures& measures = {});

}  // namespace fedarena::results
