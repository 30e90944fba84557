#include "results/report/curve_data.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/measures/quantity.hpp"
#include "results/plot/curve_script.hpp"
#include "results/plot/curves.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

Json axes_json() {
  Json axes = Json::array();
  for (const CurveAxis& axis : curve_axes()) axes.push_back({{"name", axis.name}, {"heading", axis.heading}});
  return axes;
}

Json measures_json() {
  Json measures = Json::array();
  for (const std::string& name : measure_names()) {
    const Quantity measure = *find_quantity(name);
    measures.push_back({{"name", name}, {"heading", heading(measure)}, {"share", is_share(measure)}});
  }
  return measures;
}

// Rows of one setting stand together.
Json panels_json(const Table& table) {
  const PanelTitles titles(table);
  Json panels = Json::array();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (i == 0 || !(table.rows[i].setting == table.rows[i - 1].setting)) {
      panels.push_back({{"title", titles.of(table.rows[i].setting)}, {"rows", Json::array()}});
    }
    panels.back()["rows"].push_back(i);
  }
  return panels;
}

}  // namespace

std::string curve_data(const Table& table, const std::vector<std::string>& series) {
  FEDARENA_CHECK(series.size(), ==, table.rows.size());
  const Json common = {{"axes", axes_json()},         {"measures", measures_json()},
                       {"colours", kCurveColours},    {"dashes", kCurveDashes},
                       {"marks", kCurveMarks},        {"marksOfCurve", kMarksOfCurve},
                       {"panels", panels_json(table)}};
  std::string text = json_text(common, -1);
  text.pop_back();  // the brace that ends it
  text += ",\"rows\":[";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string name = row_name(table.rows[i]);
    auto look = std::find(names.begin(), names.end(), name);
    if (look == names.end()) look = names.insert(names.end(), name);
    const Json row = {{"name", name}, {"seeds", table.rows[i].seeds.size()}, {"look", look - names.begin()}};
    std::string row_text = json_text(row, -1);
    row_text.pop_back();
    text += fmt::format("{}{},\"series\":{}}}", i == 0 ? "" : ",\n", row_text, series[i]);
  }
  return text + "]}";
}

}  // namespace fedarena::results
