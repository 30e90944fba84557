#include "datasets/hold_out.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using test::message_of;
using testing::HasSubstr;

Dataset numbered(std::int64_t size) {
  Dataset dataset;
  dataset.train = {.inputs = torch::arange(size).to(torch::kFloat32).view({size, 1}),
                   .targets = torch::arange(size).remainder(3)};
  for (std::int64_t index = 0; index < size; ++index) dataset.train.users.push_back(index / 10);
  dataset.test = {torch::zeros({2, 1}), torch::zeros({2}, torch::kInt64)};
  dataset.classes = 3;
  return dataset;
}

TEST(HoldOut, MovesEachExampleWithItsTargetAndUserToOneSide) {
  Dataset dataset = numbered(1000);
  hold_out(dataset, 0.1);
  ASSERT_EQ(dataset.validation.size(), 100);
  ASSERT_EQ(dataset.train.size(), 900);
  EXPECT_EQ(dataset.test.size(), 2);
  std::set<std::int64_t> seen;
  for (const Examples* part : {&dataset.train, &dataset.validation}) {
    ASSERT_EQ(part->users.size(), static_cast<std::size_t>(part->size()));
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < part->size(); ++i) {
      const auto number = static_cast<std::int64_t>(part->inputs[i].item<float>());
      EXPECT_TRUE(seen.insert(number).second);
      EXPECT_GT(number, before);
      EXPECT_EQ(part->targets[i].item<std::int64_t>(), number % 3);
      EXPECT_EQ(part->users[static_cast<std::size_t>(i)], number / 10);
      before = number;
    }
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(HoldOut, IsTheSameEveryTime) {
  Dataset first = numbered(50), second = numbered(50);
  hold_out(first, 0.5);
  hold_out(second, 0.5);
  EXPECT_TRUE(torch::equal(first.validation.inputs, second.validation.inputs));
}

TEST(HoldOut, RefusesToLeaveASideEmpty) {
  Dataset dataset = numbered(4);
  EXPECT_THAT(message_of([&] { hold_out(dataset, 0.01); }),
              HasSubstr("a validation fraction of 0.01 holds out 0 of 4 training examples"));
  EXPECT_THAT(message_of([&] { hold_out(dataset, 0.99); }), HasSubstr("holds out 4 of 4"));
}

}  // namespace
}  // namespace fedarena
