// What identifies the examples of a data set.
#include "datasets/data_hash.hpp"

#include <functional>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "datasets/hold_out.hpp"
#include "datasets/registry.hpp"

namespace fedarena {
namespace {

Dataset four_examples() {
  const auto part = [](float first) {
    return Examples{.inputs = torch::arange(8, torch::kFloat32).reshape({4, 2}) + first,
                    .targets = torch::arange(4, torch::kInt64),
                    .users = {0, 0, 1, 1}};
  };
  Dataset data;
  data.name = "four";
  data.train = part(0);
  data.test = part(100);
  data.classes = 4;
  data.users = {"ann", "bob"};
  return data;
}

TEST(DataHash, ChangesWithWhateverARunIsGiven) {
  const std::vector<std::function<void(Dataset&)>> changes = {
      [](Dataset&) {},
      [](Dataset& data) { data.train.inputs[3][1] = 8; },
      [](Dataset& data) { data.test.inputs[0][0] = 99; },
      [](Dataset& data) {
        data.train.inputs = data.train.inputs.reshape({4, 2, 1, 1});
      },
      [](Dataset& data) { data.train.inputs = data.train.inputs.to(torch::kFloat64); },
      [](Dataset& data) { data.train.targets[0] = 1; },
      [](Dataset& data) { data.test.targets[0] = 1; },
      [](Dataset& data) {
        data.train.users = {0, 1, 1, 1};
      },
      [](Dataset& data) { data.test.users = {}; },
      [](Dataset& data) {
        data.users = {"ann", "bo", "b"};
      },
      [](Dataset& data) { data.classes = 5; },
      [](Dataset& data) { std::swap(data.train, data.test); },
      [](Dataset& data) { hold_out(data, 0.5); }};
  std::set<std::string> hashes;
  for (const auto& change : changes) {
    Dataset data = four_examples();
    change(data);
    hashes.insert(data_hash(data));
  }
  EXPECT_EQ(hashes.size(), changes.size());
}

TEST(DataHash, IsOfTheValuesHoweverTheyLieInMemory) {
  Dataset data = four_examples();
  data.train.inputs = data.train.inputs.t().contiguous().t();
  EXPECT_EQ(data_hash(data), data_hash(four_examples()));
  EXPECT_EQ(data_hash(load_dataset("glyphs", {}, {})), data_hash(load_dataset("glyphs", {}, {})));
}

}  // namespace
}  // namespace fedarena
