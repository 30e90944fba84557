#include "fedarena/params.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/sdk/numbers_of.hpp"

namespace fedarena {
namespace {

std::shared_ptr<const Layout> layout_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  Layout layout;
  for (const auto& shape : shapes) layout.add(shape);
  return std::make_shared<const Layout>(layout);
}

const std::shared_ptr<const Layout> kLayout = layout_of({{2, 3}, {2}});

Params counting(double first, torch::ScalarType type = torch::kFloat64) {
  return {kLayout, torch::arange(8, torch::kFloat64).add(first).to(type)};
}

using Values = std::vector<double>;

TEST(Layout, PlacesTensorsOneBehindTheOther) {
  EXPECT_EQ(kLayout->size(), 2U);
  EXPECT_EQ(kLayout->numel(), 8);
  EXPECT_EQ((*kLayout)[0].offset, 0);
  EXPECT_EQ((*kLayout)[0].numel, 6);
  EXPECT_EQ((*kLayout)[1].offset, 6);
  EXPECT_EQ((*kLayout)[1].shape, (std::vector<std::int64_t>{2}));
}

TEST(Layout, HasAFingerprintOfItsShapes) {
  const std::vector<std::vector<std::vector<std::int64_t>>> different{
      {},          {{}},  {{1}},           {{6}, {2}}, {{2, 3}, {2}}, {{3, 2}, {2}}, {{2}, {2, 3}},
      {{2, 3, 2}}, {{8}}, {{2, 3}, {2, 1}}};
  for (std::size_t i = 0; i < different.size(); ++i) {
    EXPECT_EQ(layout_of(different[i])->fingerprint(), layout_of(different[i])->fingerprint());
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(layout_of(different[i])->fingerprint(), layout_of(different[j])->fingerprint())
          << i << " " << j;
    }
  }
}

// Or a cohort's size could be read from the pointers to its model's layout.
TEST(Params, DoNotTellHowManyShareALayout) {
  const Params one = counting(0);
  const std::vector<Params> others(5, one);
  EXPECT_EQ(one.layout().use_count(), 0);
  EXPECT_EQ(one.layout(), others.back().layout());
  EXPECT_EQ(one.layout(), counting(1).layout());
  EXPECT_EQ(*one.layout(), *kLayout);
  EXPECT_NE(one.layout(), Params::zeros(layout_of({{8}}), torch::kFloat64).layout());
}

TEST(Params, AreAVectorSpace) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const Params a = counting(0, type), b = counting(10, type);
    EXPECT_EQ(numbers_of(a + b), (Values{10, 12, 14, 16, 18, 20, 22, 24}));
    EXPECT_EQ(numbers_of(b - a), Values(8, 10.0));
    EXPECT_EQ(numbers_of(-2 * a), (Values{0, -2, -4, -6, -8, -10, -12, -14}));
    EXPECT_EQ(numbers_of(a + b), numbers_of(b + a));
    EXPECT_EQ(numbers_of(2 * (a + b)), numbers_of(2 * a + 2 * b));
    EXPECT_EQ(numbers_of(a + zeros_like(a)), numbers_of(a));
    Params sum = a;
    sum.add_scaled(0.5, b);
    EXPECT_EQ(numbers_of(sum), numbers_of(a + 0.5 * b));
    sum -= 0.5 * b;
    sum *= 3;
    EXPECT_EQ(numbers_of(sum), numbers_of(3 * a));
    EXPECT_EQ(sum.flat().scalar_type(), type);
  }
}

TEST(Params, BecomeInfiniteByFactorsThatTheyCannotHold) {
  const Params ones(kLayout, torch::ones({kLayout->numel()}, torch::kFloat32));
  Params sum = ones;
  sum.add_scaled(-1e300, ones);
  EXPECT_TRUE(torch::isneginf(sum.flat()).all().item<bool>());
  EXPECT_TRUE(torch::isposinf((1e300 * ones).flat()).all().item<bool>());
  EXPECT_EQ((1e30 * ones).flat().max().item<float>(), 1e30F);
}

TEST(Params, CanBeAddedToThemselves) {
  Params a = counting(1);
  a += a;
  EXPECT_EQ(numbers_of(a), numbers_of(2 * counting(1)));
  a -= a;
  EXPECT_EQ(numbers_of(a), Values(8, 0.0));
}

TEST(Params, ShareNoMemoryWithTheirCopies) {
  const Params original = counting(0);
  Params copy = original, assigned;
  assigned = original;
  copy *= 5;
  assigned += original;
  copy[0].fill_(7);
  EXPECT_EQ(numbers_of(original), numbers_of(counting(0)));
  EXPECT_EQ(numbers_of(assigned), numbers_of(2 * counting(0)));
}

TEST(Params, LeaveTheOperandsOfFreeOperatorsAlone) {
  const Params a = counting(0), b = counting(3);
  (void)(a + b);
  (void)(a - b);
  (void)(2 * a);
  (void)zeros_like(a);
  EXPECT_EQ(numbers_of(a), numbers_of(counting(0)));
  EXPECT_EQ(numbers_of(b), numbers_of(counting(3)));
}

TEST(Params, SurviveAssignmentToThemselves) {
  Params a = counting(4);
  const Params& alias = a;
  a = alias;
  EXPECT_EQ(numbers_of(a), numbers_of(counting(4)));
}

TEST(Params, MoveWithoutACopy) {
  Params a = counting(4);
  const void* memory = a.flat().data_ptr();
  const Params b = std::move(a);
  EXPECT_EQ(b.flat().data_ptr(), memory);
  EXPECT_EQ(numbers_of(b), numbers_of(counting(4)));
}

// Kernels read numbers by their places.
TEST(Params, LieSideBySideWhateverTheyAreMadeOf) {
  const auto layout = counting(0).layout();
  const torch::Tensor columns = torch::arange(16, torch::kFloat64).view({8, 2});
  const Params column(layout, columns.select(1, 1)), alike(layout, columns[0].narrow(0, 1, 1).expand({8}));
  EXPECT_TRUE(column.flat().is_contiguous());
  EXPECT_EQ(numbers_of(column), (Values{1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_TRUE(alike.flat().is_contiguous());
}

TEST(Params, ShowTheirTensorsAsViews) {
  const Params a = counting(0);
  EXPECT_EQ(a.size(), 2U);
  EXPECT_EQ(a[0].sizes().vec(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(a[0][1][2].item<double>(), 5);
  EXPECT_EQ(a[1][1].item<double>(), 7);
  a[1].fill_(-1);
  EXPECT_EQ(numbers_of(a), (Values{0, 1, 2, 3, 4, 5, -1, -1}));
}

TEST(Params, HaveAnInnerProductAndANorm) {
  const Params a = counting(0), b = counting(1);
  EXPECT_EQ(dot(a, b), 0 + 2 + 6 + 12 + 20 + 30 + 42 + 56);
  EXPECT_DOUBLE_EQ(norm(a), std::sqrt(140.0));
  EXPECT_EQ(norm(zeros_like(a)), 0);
}

TEST(Params, SumInDoubleWhateverTheirType) {
  const auto layout = layout_of({{100'000}});
  const Params tenths(layout, torch::full({100'000}, 0.1, torch::kFloat32));
  const double tenth = 0.1F;
  EXPECT_NEAR(dot(tenths, tenths), 100'000 * tenth * tenth, 1e-9);
}

TEST(Params, OfOtherLayoutsCannotBeCombined) {
  Params a = counting(0);
  for (const auto& layout : {layout_of({{7}}), layout_of({{8}}), layout_of({{3, 2}, {2}})}) {
    const Params other = Params::zeros(layout, torch::kFloat64);
    EXPECT_THROW(a += other, Bug);
    EXPECT_THROW(a -= other, Bug);
    EXPECT_THROW(a.add_scaled(0, other), Bug);
    EXPECT_THROW(dot(a, other), Bug);
  }
  EXPECT_EQ(numbers_of(a), numbers_of(counting(0)));
  a += Params::zeros(layout_of({{2, 3}, {2}}), torch::kFloat64);  // an equal layout of its own
}

TEST(Params, AreEmptyUntilAssigned) {
  Params none;
  EXPECT_TRUE(none.empty());
  const Params copy = none;
  EXPECT_TRUE(copy.empty());
  EXPECT_THROW(none += counting(0), Bug);
  EXPECT_THROW(counting(0) + none, Bug);
  none = counting(0);
  EXPECT_FALSE(none.empty());
}

TEST(Params, RefuseAVectorOfAnotherLength) { EXPECT_THROW(Params(kLayout, torch::zeros({7})), Bug); }

}  // namespace
}  // namespace fedarena
