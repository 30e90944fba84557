#pragma once

#include <atomic>
#include <vector>

#include "harness/oracle/client_oracle.hpp"

namespace fedarena {

/// Everything that a client's oracle needs: 40 examples with 3 features, the first of which is the example's
/// number.
struct Bench {
  Bench() {
    use_one_torch_thread();
    Stream stream({.seed = 3});
    dataset.train.inputs = normal(stream, {40, 3});
    dataset.train.inputs.select(1, 0).copy_(torch::arange(40));
    dataset.train.targets = torch::arange(40).remainder(4);
    dataset.classes = 4;
  }

  ClientOracle oracle(const std::vector<std::int64_t>& shard,
                      const Streams& streams = Streams(1, 1, 0)) const {
    return {{dataset.train, reader, model, engine, stop, dataset.classes},
            torch::tensor(shard, torch::kInt64),
            streams};
  }
  Params at() const {
    Stream stream({.seed = 4});
    return model.initial(stream);
  }

  Dataset dataset;
  Model model{{.input_shape = {3}, .outputs = 4, .layers = {Linear{3, 4}}}, torch::kFloat64};
  WorkPool pool{2, use_one_torch_thread};
  GradientEngine engine{model, pool};
  ExampleReader reader{dataset, torch::kFloat64};
  std::atomic<bool> stop = false;
};

/// `count` numbers from `first`.
inline std::vector<std::int64_t> range(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}

}  // namespace fedarena
