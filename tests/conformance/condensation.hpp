#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedarena/matching.hpp"

#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {

inline Batch of_class(const Batch& from, std::int64_t label) {
  return from.select(from.targets.eq(label).nonzero().flatten());
}

/// Condensation to two images each of classes 0 and 2, which are those of the examples, written out once
/// more.
struct CondensationByHand {
  double image_rate, rate;
  double image_momentum = 0, momentum = 0;

  /// The images begin as noise and descend the cosine distances of the gradients of each class, along the way
  /// of two models: two points each, an epoch of one batch between them. Derivatives are differences.
  Batch set_for(const Batch& examples, const Model& network) const {
    const Streams streams = Workbench::client_streams();
    Stream noise = streams(Purpose::kSynthetic), weights = streams(Purpose::kSynthetic, 1);
    std::vector<std::int64_t> shape = examples.inputs.sizes().vec();
    shape.front() = 4;
    Batch set{normal(noise, shape), torch::tensor({0, 0, 2, 2}, torch::kInt64)};
    torch::Tensor velocity = torch::zeros_like(set.inputs);
    for (int initialisation = 0; initialisation < 2; ++initialisation) {
      Params model = network.initial(weights), model_velocity = zeros_like(model);
      for (int point = 0; point < 2; ++point) {
        if (point > 0) {
          model_velocity = momentum * model_velocity + network.gradient(model, set);
          model -= rate * model_velocity;
        }
        const torch::Tensor slope = central_differences(set.inputs, [&] {
          double sum = 0;
          for (const std::int64_t label : {0, 2}) {
            sum +=
                matching_distance(network.gradient(model, of_class(set, label)),
                                  network.gradient(model, of_class(examples, label)), {.criterion = "cosine"})
                    .value;
          }
          return sum;
        });
        EXPECT_GT(slope.abs().max().item<double>(), 1e-3);
        velocity = image_momentum * velocity + slope;
        set.inputs = set.inputs - image_rate * velocity;
      }
    }
    return set;
  }
};

/// A client with examples of classes 0 and 2 out of three.
class Condensing : public ::testing::Test {
 protected:
  Condensing() {
    Stream stream({.seed = 4});
    examples = {normal(stream, {5, 1, 3, 3}), torch::tensor({2, 0, 0, 2, 2}, torch::kInt64)};
  }

  /// The set that it sends.
  Batch train(const std::string& algorithm, const Settings& settings) {
    OpenShard shard(bench.model, examples);
    const Message sent = bench.train(*plugins().create(algorithm, settings), shard, {});
    accesses = shard.accesses;
    return decode_set(sent, torch::kFloat64);
  }

  Workbench bench{{.input_shape = {1, 3, 3},
                   .outputs = 3,
                   .layers = {Conv2d{1, 2, 3, 1}, Relu{}, Flatten{}, Linear{18, 3}}}};
  Batch examples;
  std::vector<std::string> accesses;
};

}  // namespace fedarena
