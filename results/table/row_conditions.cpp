#include "results/table/row_conditions.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

#include "results/record/resolved_settings.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

// Not [privacy], which is that of algorithms without a policy of their own; each has its own in full.
constexpr std::array<std::string_view, 4> kConditions = {"cohort.", "stopping.", "experiment.dtype",
                                                         "algorithms.privacy."};

}  // namespace

std::map<std::string, std::string> row_conditions(const std::filesystem::path& run) {
  std::ifstream file(run / kExperimentFile, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, std::string> conditions = resolved_settings(text);
  std::erase_if(conditions, [](const auto& setting) {
    return std::ranges::none_of(kConditions,
                                [&](std::string_view begin) { return setting.first.starts_with(begin); });
  });
  return conditions;
}

}  // namespace fedarena::results
