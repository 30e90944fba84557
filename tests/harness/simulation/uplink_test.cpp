#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "harness/simulation/cohort.hpp"

namespace fedarena {
namespace {

constexpr Key<Params> kUpdate{"update"};
constexpr Key<std::int64_t> kExamples{"examples"};

std::shared_ptr<const Layout> layout_of(std::int64_t size) {
  Layout layout;
  layout.add("tensor", {size});
  return std::make_shared<const Layout>(layout);
}

Message message(const std::vector<double>& values, std::int64_t examples) {
  const auto size = static_cast<std::int64_t>(values.size());
  return {{kUpdate, Params(layout_of(size), torch::tensor(values, torch::kFloat64))}, {kExamples, examples}};
}

std::vector<double> values(const Params& params) {
  return {params.flat().data_ptr<double>(), params.flat().data_ptr<double>() + params.flat().numel()};
}

TEST(Uplink, AveragesAlike) {
  const CohortUplink uplink(
      {message({1, 10}, 3), message({3, 30}, 0), message({5, -10}, 1), message({-1, 2}, 4)});
  EXPECT_EQ(uplink.size(), 4);
  EXPECT_EQ(values(uplink.mean(kUpdate)), (std::vector<double>{2, 8}));
}

TEST(Uplink, AveragesByAnotherEntry) {
  const CohortUplink uplink({message({1, 10}, 3), message({3, 30}, 0), message({5, -10}, 1)});
  EXPECT_EQ(values(uplink.mean(kUpdate, kExamples)), (std::vector<double>{2, 5}));
}

TEST(Uplink, OfOneClientIsItsMessage) {
  const CohortUplink uplink({message({1.1, 10.3}, 7)});
  EXPECT_EQ(values(uplink.mean(kUpdate)), (std::vector<double>{1.1, 10.3}));
  EXPECT_EQ(values(uplink.mean(kUpdate, kExamples)), (std::vector<double>{1.1, 10.3}));
}

TEST(Uplink, ShowsItsMessagesInOrder) {
  const CohortUplink uplink({message({1}, 3), message({2}, 1)});
  ASSERT_EQ(uplink.each().size(), 2U);
  EXPECT_EQ(uplink.each()[0][kExamples], 3);
  EXPECT_EQ(uplink.each()[1][kExamples], 1);
}

TEST(Uplink, LeavesItsMessagesAlone) {
  const CohortUplink uplink({message({1}, 3), message({2}, 1)});
  const double before = uplink.mean(kUpdate).flat().sum().item<double>();
  (void)uplink.mean(kUpdate, kExamples);
  EXPECT_EQ(uplink.mean(kUpdate).flat().sum().item<double>(), before);
}

// The sum runs in client order: with numbers whose sum depends on it, this is the only right answer.
TEST(Uplink, SumsInClientOrder) {
  const CohortUplink uplink({message({3e16}, 1), message({1}, 1), message({-3e16}, 1), message({1}, 1)});
  double sum = 0;
  for (const double value : {3e16, 1.0, -3e16, 1.0}) sum += 0.25 * value;
  EXPECT_EQ(values(uplink.mean(kUpdate)), std::vector<double>{sum});
}

TEST(Uplink, RefusesAMeanOfNothing) {
  const CohortUplink weightless({message({1}, 0), message({2}, 0)});
  EXPECT_THROW(weightless.mean(kUpdate, kExamples), Error);
  EXPECT_THROW(CohortUplink({}).mean(kUpdate), Error);
  try {
    weightless.mean(kUpdate, kExamples);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no client of the cohort has any weight in the mean of \"update\"");
  }
}

TEST(Uplink, RefusesWhatNoHarnessWouldSend) {
  EXPECT_THROW(CohortUplink({message({1}, -1), message({2}, 4)}).mean(kUpdate, kExamples), Bug);
  EXPECT_THROW(CohortUplink({message({1}, 1), message({2, 3}, 1)}).mean(kUpdate), Bug);
  EXPECT_THROW(CohortUplink({message({1}, 1), Message()}).mean(kUpdate), Bug);
}

}  // namespace
}  // namespace fedarena
