// What identifies the examples of a data set.
#include "datasets/data_hash.hpp"

#include <functional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "datasets/hold_out.hpp"
#include "datasets/registry.hpp"
#include "tests/datasets/scratch_folder.hpp"

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
      [](Dataset& data) {
        data.column_scales = {0, 1};
      },
      [](Dataset& data) {
        data.column_scales = {0, 1024};
      },
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

// Four rows of numbers, x and y in these units.
std::string table(double x, double y) {
  return fmt::format("x,y\n{},{}\n{},{}\n{},{}\n{},{}\n", x, 10 * y, 2 * x, 20 * y, 3 * x, 30 * y, 6 * x,
                     60 * y);
}

class DataHashOfTables : public ScratchFolder {
 protected:
  Dataset load(const std::string& content, const std::string& standardise, const Settings& more = {}) const {
    Settings settings = {{"path", write("a.csv", content).string()},
                         {"target", "y"},
                         {"task", "regression"},
                         {"standardise", standardise}};
    settings.insert(settings.end(), more.begin(), more.end());
    return load_dataset("csv", settings, {});
  }
};

TEST_F(DataHashOfTables, TellsUnitsThatStandardisedValuesDoNot) {
  const Dataset one = load(table(1, 1), "all");
  const Dataset other_target = load(table(1, 1024), "all"), other_feature = load(table(1024, 1), "all");
  for (const Dataset* other : {&other_target, &other_feature}) {
    EXPECT_TRUE(torch::equal(other->train.inputs, one.train.inputs));
    EXPECT_TRUE(torch::equal(other->train.targets, one.train.targets));
    EXPECT_NE(data_hash(*other), data_hash(one));
  }
  EXPECT_EQ(data_hash(load(table(1, 1), "all")), data_hash(one));
  const Dataset shifted = load("x,y\n101,10\n102,20\n103,30\n106,60\n", "features");
  EXPECT_NE(data_hash(shifted), data_hash(load(table(1, 1), "features")));
}

TEST_F(DataHashOfTables, HasNoScalesWhereNothingIsStandardised) {
  EXPECT_TRUE(load(table(1, 1), "none").column_scales.empty());
  EXPECT_TRUE(load(table(1, 1), "features", {{"units", "x: 2"}}).column_scales.empty());
  EXPECT_EQ(load(table(1, 1), "features").column_scales.size(), 2U);
  EXPECT_EQ(load(table(1, 1), "all").column_scales.size(), 4U);
}

}  // namespace
}  // namespace fedarena
