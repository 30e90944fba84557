// The CNN for FEMNIST of Reddi et al., "Adaptive federated optimization", ICLR 2021 (arXiv:2003.00295),
// without its dropout, as Galli, Biswas, Jung, Palamidessi, Cucinotta, "Group privacy for personalized
// federated learning", 2022, take it: two 3x3 convolutions with 32 and 64 channels, 2x2 max pooling, then
// affine maps to 128 and the classes. Their table has 2x2 kernels, but their 1,206,590 parameters are those
// of 3x3, and its ReLU after the last map would keep a softmax from learning.
#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kFemnistCnnSmallestSide = 6;  // of which the pooling leaves one pixel

Architecture build_femnist_cnn(const Settings& /*settings*/, const ModelInput& input) {
  require_classes("femnist-cnn", input);
  require_images("femnist-cnn", input, kFemnistCnnSmallestSide);
  const auto side_of = [](std::int64_t side) { return (side - 4) / 2; };
  const std::int64_t features = 64 * side_of(input.shape[1]) * side_of(input.shape[2]);
  return {.input_shape = input.shape,
          .outputs = input.outputs,
          .layers = {Conv2d{input.shape[0], 32, 3, 0}, Relu{}, Conv2d{32, 64, 3, 0}, Relu{}, MaxPool{2},
                     Flatten{}, Linear{features, 128}, Relu{}, Linear{128, input.outputs}}};
}

}  // namespace

ModelInfo femnist_cnn_model() {
  return {"femnist-cnn",
          "two 3x3 convolutions, max pooling and two affine maps, the CNN for FEMNIST of Reddi et al. 2021 "
          "without dropout; 1,206,590 parameters for 28x28 grey images in 62 classes",
          {},
          build_femnist_cnn};
}

}  // namespace fedarena
