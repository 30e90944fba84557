#include "harness/models/zoo.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

namespace fedarena {

Architecture build_model(const std::string& name, const Settings& settings, const ModelInput& input) {
  if (const ModelInfo* info = find_named(model_zoo(), name, &ModelInfo::name))
    return info->build(complete(info->fields, settings), input);
  throw unknown_name(fmt::format("unknown model \"{}\"", name), name,
                     names_of(model_zoo(), &ModelInfo::name));
}

void require_classes(const std::string& model, const ModelInput& input) {
  if (!input.regression) return;
  throw Error(
      Complaint{.found = fmt::format("the model \"{}\" classifies, but the data set is a regression", model),
                .remedy = "Use the model \"linear\" or \"mlp\", or a data set with classes."});
}

void require_images(const std::string& model, const ModelInput& input, std::int64_t smallest_side) {
  if (input.shape.size() != 3) {
    throw Error(Complaint{
        .found =
            fmt::format("the model \"{}\" needs images, but the examples are plain feature vectors", model),
        .remedy = "Use \"mlp\", \"logistic\" or \"linear\"."});
  }
  if (input.shape[1] >= smallest_side && input.shape[2] >= smallest_side) return;
  throw Error(Complaint{.found = fmt::format("the model \"{}\" leaves nothing of images of {}x{} pixels",
                                             model, input.shape[1], input.shape[2]),
                        .allowed = fmt::format("{0}x{0} or more", smallest_side),
                        .remedy = std::min(input.shape[1], input.shape[2]) > 1
                                      ? "Use \"convnet\" with a smaller depth, or \"mlp\"."
                                      : "Use \"mlp\"."});
}

}  // namespace fedarena
