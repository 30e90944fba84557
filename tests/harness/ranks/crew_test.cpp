// A loop that ranks share gives what one rank gives, and says what went wrong where.
#include "harness/ranks/crew.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/wire/parts.hpp"
#include "tests/harness/ranks/threads_as_ranks.hpp"
#include "tests/matchers.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

TEST(Deal, GivesTheMostExpensiveItemsFirstToWhoIsThroughFirst) {
  EXPECT_THAT(deal({1, 4, 2, 3}, {1, 1}), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  // One rank with three workers: the sums over workers are 3 and 1.
  EXPECT_THAT(deal({1, 1, 1, 1}, {3, 1}), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3)));
  EXPECT_THAT(deal({}, {1, 1}), ElementsAre(ElementsAre(), ElementsAre()));
}

// Rank 0's loop squares numbers; an item of 13 is an Error, one of 17 a fault of ours, and at 19 a rank is
// told to stop.
double square(double x) {
  if (x == 13)
    throw Error(Complaint{.place = {"a.toml", 3, 4}, .found = "13 is unlucky", .remedy = "Take 12"});
  if (x == 17) throw Bug("17 is broken");
  if (x == 19) throw Interrupted();
  return x * x;
}

std::shared_ptr<const Worker> squaring(const RunRequest& request) {
  if (request.run == "missing") throw Error::of("no data here");
  if (request.run == "stopped") throw Interrupted();
  Worker worker;
  worker.open = [](std::span<const std::byte>) {
    return [](std::span<const std::byte> item) {
      Bytes result;
      put_double(result, square(Parts(item).floating()));
      return result;
    };
  };
  worker.work = [] {
    Bytes one;
    put_number(one, 1);
    return one;
  };
  return std::make_shared<const Worker>(std::move(worker));
}

class Crews : public ::testing::TestWithParam<int> {
 protected:
  static void serve_squares(Ranks& ranks) {
    const WorkPool pool(2);
    serve(ranks, pool, "build 1", squaring);
  }
  static std::vector<double> squares(Crew& crew, const std::vector<double>& numbers, int* works = nullptr) {
    std::vector<double> results(numbers.size());
    SharedLoop loop;
    loop.costs.assign(numbers.size(), 1);
    loop.item = [&](std::size_t index) {
      Bytes item;
      put_double(item, numbers[index]);
      return item;
    };
    loop.here = [&](std::size_t index) { results[index] = square(numbers[index]); };
    loop.there = [&](std::size_t index, std::span<const std::byte> bytes) {
      results[index] = Parts(bytes).floating();
    };
    crew.share(loop, [&](std::span<const std::byte> work) {
      if (works != nullptr) *works += static_cast<int>(Parts(work).number());
    });
    return results;
  }

  WorkPool pool_{2};
  test::ThreadsAsRanks ranks_{GetParam(), serve_squares};
};

class CrewsOfSeveral : public Crews {};

INSTANTIATE_TEST_SUITE_P(Ranks, Crews, ::testing::Values(1, 2, 3));
INSTANTIATE_TEST_SUITE_P(Ranks, CrewsOfSeveral, ::testing::Values(2, 3));

TEST_P(Crews, ShareLoopsOneAfterTheOther) {
  Crew crew(ranks_.first(), pool_, "build 1");
  crew.begin("squares");
  int works = 0;
  EXPECT_THAT(squares(crew, {1, 2, 3, 4, 5}, &works), ElementsAre(1, 4, 9, 16, 25));
  EXPECT_THAT(squares(crew, {}, &works), ElementsAre());
  EXPECT_EQ(works, 2 * (GetParam() - 1));  // each other rank is asked once a loop
  crew.end();
  crew.begin("squares");
  EXPECT_THAT(squares(crew, {6}), ElementsAre(36));
  crew.end();
}

TEST_P(Crews, ThrowTheExceptionOfTheFirstItemAndGoOn) {
  Crew crew(ranks_.first(), pool_, "build 1");
  crew.begin("squares");
  // In every place of the list, so on every rank.
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<double> numbers{1, 2, 3, 17};
    numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(place), 13);
    if (place == 3) numbers.pop_back();
    EXPECT_THAT(test::message_of([&] { squares(crew, numbers); }),
                AllOf(HasSubstr("a.toml:3:4"), HasSubstr("13 is unlucky"), HasSubstr("Take 12")));
  }
  EXPECT_THROW(squares(crew, {1, 2, 17, 13}), Bug);
  EXPECT_THAT(squares(crew, {7, 8}), ElementsAre(49, 64));
  crew.end();
}

// The rank stays, so that rank 0 can end the run in order.
TEST_P(CrewsOfSeveral, StopWhereOneRankIsTold) {
  Crew crew(ranks_.first(), pool_, "build 1");
  crew.begin("squares");
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<double> numbers{1, 2, 3};
    numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(place), 19);
    EXPECT_THROW(squares(crew, numbers), Interrupted);
  }
  EXPECT_THAT(squares(crew, {4, 5}), ElementsAre(16, 25));
  crew.end();
  EXPECT_THROW(crew.begin("stopped"), Interrupted);
  crew.begin("squares");
  crew.end();
}

TEST_P(CrewsOfSeveral, NameTheRankThatIsNotReady) {
  Crew crew(ranks_.first(), pool_, "build 1");
  EXPECT_THAT(test::message_of([&] { crew.begin("missing"); }), HasSubstr("no data here"));
  crew.begin("squares");
  EXPECT_THAT(squares(crew, {9, 10, 11}), ElementsAre(81, 100, 121));
  crew.end();
}

// Five ranks on three hosts: 0 and 1, 2 and 3, and 4. A rank hands on its number.
class CrewOnHosts : public ::testing::Test {
 protected:
  void serve_on_host(Ranks& ranks) {
    const WorkPool pool(1);
    const int rank = ranks.rank();
    serve(ranks, pool, "build", [&, rank](const RunRequest& request) {
      asked_[static_cast<std::size_t>(rank)] = request;
      if (request.run == fmt::format("not on {}", rank)) throw Error::of("no data on {}", ranks.host());
      Worker worker;
      worker.for_host = number(static_cast<std::uint64_t>(rank));
      return std::make_shared<const Worker>(std::move(worker));
    });
  }
  static Bytes number(std::uint64_t value) {
    Bytes bytes;
    put_number(bytes, value);
    return bytes;
  }

  const WorkPool pool_{1};
  std::vector<RunRequest> asked_ = std::vector<RunRequest>(5);
  test::ThreadsAsRanks ranks_{5, [this](Ranks& ranks) { serve_on_host(ranks); }, 2};
  Crew crew_{ranks_.first(), pool_, "build"};
};

TEST_F(CrewOnHosts, HandsWhatTheFirstRankOfAHostHasToTheOthersThere) {
  EXPECT_TRUE(crew_.shares_host());
  crew_.begin("run", number(0));
  EXPECT_EQ(asked_[1].from_host, number(0));
  EXPECT_EQ(asked_[2].from_host, Bytes());
  EXPECT_EQ(asked_[3].from_host, number(2));
  EXPECT_EQ(asked_[4].from_host, Bytes());
  const std::vector<bool> firsts{false, false, true, false, false};  // of several, but for rank 0
  for (std::size_t rank = 1; rank < firsts.size(); ++rank) EXPECT_EQ(asked_[rank].hands_on, firsts[rank]);
  crew_.end();
}

TEST_F(CrewOnHosts, LetsOthersTryWhereTheFirstRankOfTheirHostFails) {
  EXPECT_THAT(test::message_of([&] { crew_.begin("not on 2", number(0)); }), HasSubstr("no data on host-1"));
  EXPECT_EQ(asked_[3].run, "not on 2");
  EXPECT_EQ(asked_[3].from_host, Bytes());
}

TEST_P(CrewsOfSeveral, ShareNoHostWhereEachHasItsOwn) {
  EXPECT_FALSE(Crew(ranks_.first(), pool_, "build 1").shares_host());
}

TEST_P(CrewsOfSeveral, RefuseAnotherBuild) {
  EXPECT_THAT(test::message_of([&] { Crew(ranks_.first(), pool_, "build 2"); }),
              HasSubstr("rank 1 on host-1 runs another fedarena"));
}

}  // namespace
}  // namespace fedarena
