#include "results/text/labels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

namespace fedarena::results {

void check_labels(const Labels& wanted, const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& label : wanted) {
    if (known.contains(label)) continue;
    throw Error(Complaint{.place = {},
                          .found = fmt::format("--labels: no finished run is labelled \"{}\"", label),
                          .allowed = join_names(names),
                          .nearest = nearest_name(label, names),
                          .remedy = {}});
  }
}

bool wants(const Labels& wanted, const std::string& label) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), label) != wanted.end();
}

}  // namespace fedarena::results
