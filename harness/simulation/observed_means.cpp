#include "harness/simulation/observed_means.hpp"

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

}  // namespace fedarena
