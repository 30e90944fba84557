#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fedarena/observations.hpp"

namespace fedarena {

/// The mean of each name over a round, names ascending. Error for a name of the harness's own measures.
std::vector<std::pair<std::string, double>> observed_means(const Observations& observed);

}  // namespace fedarena
