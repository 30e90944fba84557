// The SimpleCNN of NIID-Bench: Li, Diao, Chen, He, "Federated learning on non-IID data silos: an experimental
// study", ICDE 2022 (arXiv:2102.02079), and its public code: two blocks of [5x5 convolution, ReLU, 2x2 max
// pooling] with 6 and 16 channels, then affine maps to 120, 84 and the classes.
#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kNiidCnnSmallestSide = 16;  // of which the second pooling leaves one pixel

Architecture build_niid_cnn(const Settings& /*settings*/, const ModelInput& input) {
  require_classes("niid-cnn", input);
  require_images("niid-cnn", input, kNiidCnnSmallestSide);
  const auto side_of = [](std::int64_t side) { return ((side - 4) / 2 - 4) / 2; };
  const std::int64_t features = 16 * side_of(input.shape[1]) * side_of(input.shape[2]);
  return {.input_shape = input.shape,
          .outputs = input.outputs,
          .layers = {Conv2d{input.shape[0], 6, 5, 0}, Relu{}, MaxPool{2}, Conv2d{6, 16, 5, 0}, Relu{},
                     MaxPool{2}, Flatten{}, Linear{features, 120}, Relu{}, Linear{120, 84}, Relu{},
                     Linear{84, input.outputs}}};
}

}  // namespace

ModelInfo niid_cnn_model() {
  return {"niid-cnn",
          "the CNN of NIID-Bench (Li et al. 2022): two 5x5 convolutions with max pooling, then three affine "
          "maps; 44,426 parameters for 28x28 grey images, 62,006 for 32x32 colour images",
          {},
          build_niid_cnn};
}

}  // namespace fedarena
