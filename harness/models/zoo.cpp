#include "harness/models/zoo.hpp"

#include <fmt/format.h>

#include "fedarena/base/nearest.hpp"

namespace fedarena {

Architecture build_model(const std::string& name, const Settings& settings, const ModelInput& input) {
  std::vector<std::string> names;
  for (const ModelInfo& info : model_zoo()) {
    if (info.name == name) return info.build(complete(info.fields, settings), input);
    names.push_back(info.name);
  }
  throw Error(Complaint{.found = fmt::format("unknown model \"{}\"", name),
                        .allowed = join_names(names),
                        .nearest = nearest_name(name, names)});
}

void require_classes(const std::string& model, const ModelInput& input) {
  if (!input.regression) return;
  throw Error(
      Complaint{.found = fmt::format("the model \"{}\" classifies, but the data set is a regression", model),
                .remedy = "Use the model \"linear\", or a data set with classes."});
}

}  // namespace fedarena
