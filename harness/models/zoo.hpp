#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"
#include "fedarena/layers.hpp"

namespace fedarena {

/// What a model must fit.
struct ModelInput {
  std::vector<std::int64_t> shape;  ///< of one example: {channels, height, width} or {features}
  std::int64_t outputs = 0;         ///< classes, or targets of a regression
  bool regression = false;
};

/// A model of the zoo. To add one, put a file NAME.cpp into harness/models/zoo that defines `ModelInfo
/// NAME_model()`.
struct ModelInfo {
  std::string name;
  std::string summary;  ///< one sentence, with the source
  std::vector<Field> fields;
  /// Throws Error when the input does not fit the model.
  std::function<Architecture(const Settings&, const ModelInput&)> build;
};

/// Every model, by name.
const std::vector<ModelInfo>& model_zoo();

/// The model of that name with those settings; Error with the nearest name when there is none.
Architecture build_model(const std::string& name, const Settings& settings, const ModelInput& input);

/// Refuses a regression for models that classify; for use in a model's build function.
void require_classes(const std::string& model, const ModelInput& input);

/// Refuses examples that are not images of so many pixels in height and width at least; likewise.
void require_images(const std::string& model, const ModelInput& input, std::int64_t smallest_side = 1);

}  // namespace fedarena
