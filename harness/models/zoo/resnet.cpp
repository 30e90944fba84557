// ResNet: He, Zhang, Ren and Sun, CVPR 2016, for small images: a 3x3 convolution in front, then stages of
// residual blocks of two 3x3 convolutions each (their Figure 2), the first of which halves height and width
// and doubles the channels from the second stage on, with a projection as its shortcut (their option B). It
// differs from the paper in normalising groups of channels (Wu and He, ECCV 2018) instead of batches, as is
// usual for clients whose data differ and for clipping example by example, and in that convolutions have a
// bias, as in all models here.

#include <fmt/format.h>

#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

struct ResnetConfig {
  std::int64_t stages = 4;
  std::int64_t blocks = 2;
  std::int64_t width = 64;
  std::int64_t groups = 32;

  static Schema<ResnetConfig> schema() {
    return {
        {"stages", &ResnetConfig::stages, "each after the first halves height and width",
         Constraint::between(1, 6)},
        {"blocks", &ResnetConfig::blocks,
         "residual blocks of a stage; there are 2 * stages * blocks + 2 layers", Constraint::between(1, 64)},
        {"width", &ResnetConfig::width, "channels of the first stage; each after it has twice as many",
         Constraint::between(1, 1024)},
        {"groups", &ResnetConfig::groups, "groups of channels that are normalised; they divide the width",
         Constraint::between(1, 1024)},
    };
  }
};

class Builder {
 public:
  Builder(const ResnetConfig& config, const ModelInput& input)
      : config_(config), channels_(input.shape[0]), height_(input.shape[1]), width_(input.shape[2]) {
    model_ = {.input_shape = input.shape, .outputs = input.outputs, .layers = {}};
  }

  Architecture build() {
    convolution(config_.width, 3, 1);
    add(Relu{});
    for (std::int64_t stage = 0; stage < config_.stages; ++stage) {
      for (std::int64_t index = 0; index < config_.blocks; ++index)
        block(config_.width << stage, stage > 0 && index == 0 ? 2 : 1);
    }
    add(AveragePool{height_});  // all positions
    add(Flatten{});
    add(Linear{channels_, model_.outputs});
    return std::move(model_);
  }

 private:
  void add(const Layer& layer) { model_.layers.push_back(layer); }

  // With its normalisation; sides stay as they are but for the stride.
  void convolution(std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    const Conv2d conv{channels_, out, kernel, kernel / 2, stride};
    add(conv);
    add(GroupNorm{config_.groups, out});
    channels_ = out;
    height_ = conv.side(height_);
    width_ = conv.side(width_);
  }

  void block(std::int64_t out, std::int64_t stride) {
    const std::int64_t channels = channels_, height = height_, width = width_;
    add(Fork{});
    convolution(out, 3, stride);
    add(Relu{});
    convolution(out, 3, 1);
    if (stride > 1) {
      add(Shortcut{});
      channels_ = channels;
      height_ = height;
      width_ = width;
      convolution(out, 1, stride);
    }
    add(Join{});
    add(Relu{});
  }

  ResnetConfig config_;
  Architecture model_;
  std::int64_t channels_, height_, width_;
};

Architecture build_resnet(const Settings& settings, const ModelInput& input) {
  require_classes("resnet", input);
  require_images("resnet", input);
  if (input.shape[1] != input.shape[2])
    throw Error(
        Complaint{.found = fmt::format("the model \"resnet\" pools over square maps, and images are {}x{}",
                                       input.shape[1], input.shape[2]),
                  .remedy = "Scale or cut them to squares, or use \"convnet\" or \"sequence\"."});
  const ResnetConfig config = ResnetConfig::schema().read(settings);
  if (config.width % config.groups != 0)
    throw Error(Complaint{.found = fmt::format("groups is {} and width is {}", config.groups, config.width),
                          .allowed = "groups that divide the width"});
  return Builder(config, input).build();
}

}  // namespace

ModelInfo resnet_model() {
  return {"resnet",
          "residual blocks of two 3x3 convolutions with group normalisation (He et al. 2016); as it stands a "
          "ResNet-18 of 11,178,762 parameters for 3x32x32 images, with stages = 3, blocks = 3, width = 16, "
          "groups = 8 a ResNet-20 of 273,258",
          ResnetConfig::schema().fields(), build_resnet};
}

}  // namespace fedarena
