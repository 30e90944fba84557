// ConvNet: Gidaris and Komodakis, CVPR 2018, as used by Zhao et al., ICLR 2021 (dataset condensation) and by
// the FedLAP-DP paper: blocks of [3x3 convolution, normalisation, ReLU, 2x2 average pooling], then one affine
// map.
#include <fmt/format.h>

#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

struct ConvnetConfig {
  std::int64_t depth = 3;
  std::int64_t width = 128;
  std::string norm = "instance";
  std::int64_t groups = 8;

  static Schema<ConvnetConfig> schema() {
    return {
        {"depth", &ConvnetConfig::depth, "blocks; each halves height and width", Constraint::between(1, 8)},
        {"width", &ConvnetConfig::width, "channels of every block", Constraint::between(1, 4096)},
        {"norm", &ConvnetConfig::norm,
         "normalisation: one group a channel, one group in all, as many as `groups` says, or none",
         Constraint::one_of({"instance", "layer", "group", "none"})},
        {"groups", &ConvnetConfig::groups,
         "of the norm \"group\": groups of channels, which divide the width", Constraint::between(1, 4096),
         /*later=*/true},
    };
  }
};

Architecture build_convnet(const Settings& settings, const ModelInput& input) {
  require_classes("convnet", input);
  require_images("convnet", input);
  const ConvnetConfig config = ConvnetConfig::schema().read(settings);
  if (config.norm == "group" && config.width % config.groups != 0)
    throw Error(Complaint{.found = fmt::format("groups is {} and width is {}", config.groups, config.width),
                          .allowed = "groups that divide the width"});
  if (config.norm != "group" && config.groups != ConvnetConfig().groups)
    throw Error(
        Complaint{.found = fmt::format("groups is {} with the norm \"{}\"", config.groups, config.norm),
                  .allowed = "its default, because the norm \"group\" alone reads it"});
  Architecture model{.input_shape = input.shape, .outputs = input.outputs, .layers = {}};
  std::int64_t channels = input.shape[0];
  std::int64_t height = input.shape[1];
  std::int64_t width = input.shape[2];
  for (std::int64_t block = 0; block < config.depth; ++block) {
    // The published code pads 28x28 grey images by 3 in the first block, so that they end up as 32x32.
    const bool small_grey = block == 0 && channels == 1 && height == 28;
    const std::int64_t padding = small_grey ? 3 : 1;
    model.layers.push_back(Conv2d{channels, config.width, 3, padding});
    if (config.norm == "instance") model.layers.push_back(GroupNorm{config.width, config.width});
    if (config.norm == "layer") model.layers.push_back(GroupNorm{1, config.width});
    if (config.norm == "group") model.layers.push_back(GroupNorm{config.groups, config.width});
    model.layers.push_back(Relu{});
    model.layers.push_back(AveragePool{2});
    channels = config.width;
    height = (height + 2 * padding - 2) / 2;
    width = (width + 2 * padding - 2) / 2;
    if (height < 1 || width < 1) {
      throw Error(Complaint{.found = fmt::format("depth {} pools {}x{} images away to nothing", config.depth,
                                                 input.shape[1], input.shape[2]),
                            .allowed = block > 0 ? fmt::format("depth <= {}", block) : "larger images",
                            .remedy = block > 0 ? "" : "Use \"mlp\""});
    }
  }
  model.layers.push_back(Flatten{});
  model.layers.push_back(Linear{channels * height * width, input.outputs});
  return model;
}

}  // namespace

ModelInfo convnet_model() {
  return {
      "convnet",
      "blocks of 3x3 convolution, normalisation, ReLU and average pooling, then an affine map (Gidaris and "
      "Komodakis 2018); 317,706 parameters for 28x28 grey images",
      ConvnetConfig::schema().fields(), build_convnet};
}

}  // namespace fedarena
