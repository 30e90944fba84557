#include "harness/config/sections/read.hpp"

#include <utility>

#include "harness/config/grid/expand.hpp"
#include "harness/config/syntax/file_text.hpp"
#include "harness/config/sections/reader.hpp"
#include "harness/config/grid/sweep.hpp"

namespace fedarena {
namespace {

using namespace config;

// The one experiment among the points.
Experiment only(std::vector<GridPoint> points, const std::string& file_name) {
  if (points.size() == 1) return std::move(points.front().experiment);
  complain({.place = {.file = file_name},
            .found = fmt::format("[sweep] makes {} points of it", points.size()),
            .allowed = "one experiment"});
}

std::vector<GridPoint> points_of(const FileVariant& variant) {
  Document base = document_of(variant);
  const std::vector<Dimension> dimensions = dimensions_of(base);
  return expand(dimensions, [&](const std::vector<std::size_t>& at) {
    Document own = dimensions.empty() ? std::move(base) : document_of(variant);
    for (std::size_t index = 0; index < at.size(); ++index)
      apply_value(own, dimensions[index], at[index], variant.specs);
    return experiment_of(variant, std::move(own));
  });
}

}  // namespace

Experiment read_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                           const Catalog& catalog, const std::optional<std::string>& profile) {
  return only(read_grid(file, overrides, catalog, profile), file.string());
}

Experiment parse_experiment(std::string_view text, const std::string& file_name,
                            const std::vector<std::string>& overrides, const Catalog& catalog,
                            const std::optional<std::string>& profile) {
  return only(parse_grid(text, file_name, overrides, catalog, profile), file_name);
}

std::vector<GridPoint> read_grid(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                                 const Catalog& catalog, const std::optional<std::string>& profile) {
  return parse_grid(file_text(file), file.string(), overrides, catalog, profile);
}

std::vector<GridPoint> parse_grid(std::string_view text, const std::string& file_name,
                                  const std::vector<std::string>& overrides, const Catalog& catalog,
                                  const std::optional<std::string>& profile) {
  return under_profiles(text, file_name, overrides, catalog, profile, points_of);
}

}  // namespace fedarena
