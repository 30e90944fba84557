#include "harness/simulation/round_notes.hpp"

#include <algorithm>

#include "fedarena/base/error.hpp"

#include "results/measures/quantity.hpp"

namespace fedarena {

std::vector<std::pair<std::string, double>> observed_means(const Observations& observed) {
  std::vector<std::pair<std::string, double>> means;
  for (const auto& [name, values] : observed.values()) {
    if (results::find_quantity(name)) {
      throw Error(
          Complaint{.found = fmt::format("the algorithm observes \"{}\", which the harness measures", name),
                    .allowed = "another name"});
    }
    means.emplace_back(name, values.sum / static_cast<double>(values.count));
  }
  return means;
}

std::vector<results::ModelChoice> choices_of(std::span<const std::int64_t> cohort,
                                             std::span<const std::int64_t> choices) {
  if (choices.empty()) return {};
  const auto least = std::ranges::min_element(choices);
  if (choices.size() != cohort.size() || *least < 0) {
    throw Error(Complaint{
        .found = fmt::format("the algorithm tells {} choices of models for a cohort of {}, {} the least",
                             choices.size(), cohort.size(), *least),
        .allowed = "a number from 0 for each client of the cohort, or nothing"});
  }
  std::vector<results::ModelChoice> chosen;
  for (std::size_t i = 0; i < cohort.size(); ++i) chosen.push_back({cohort[i], choices[i]});
  return chosen;
}

}  // namespace fedarena
