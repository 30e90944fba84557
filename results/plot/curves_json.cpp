#include "results/plot/curves_json.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace fedarena::results {

std::string curves_json(const Curves& curves) {
  using Json = nlohmann::ordered_json;
  Json object = {{"x", curves.x.name}, {"y", name_of(curves.y)}, {"title", curves.title}};
  object["panels"] = Json::array();
  for (const CurvePanel& panel : curves.panels) {
    Json lines = Json::array();
    for (const Curve& curve : panel.curves) {
      Json points = Json::array();
      for (const CurvePoint& point : curve.points) {
        points.push_back({{"round", point.round},
                          {"x", point.x},
                          {"y", point.y},
                          {"std", point.std ? Json(*point.std) : Json(nullptr)}});
      }
      lines.push_back({{"name", curve.name}, {"seeds", curve.seeds}, {"points", std::move(points)}});
    }
    object["panels"].push_back({{"title", panel.title}, {"curves", std::move(lines)}});
  }
  object["notes"] = curves.notes;
  return object.dump() + "\n";
}

}  // namespace fedarena::results
