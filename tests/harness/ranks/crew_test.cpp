// A loop that ranks share gives what one rank gives, and says what went wrong where.
#include "harness/ranks/crew.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/ranks/tree.hpp"
#include "harness/wire/parts.hpp"
#include "tests/harness/ranks/threads_as_ranks.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

TEST(Tree, ReachesEveryRankOnceInFewSteps) {
  for (int count = 1; count <= 70; ++count) {
    std::vector<int> steps(static_cast<std::size_t>(count), -1);
    steps.front() = 0;
    for (int rank = 0; rank < count; ++rank) {
      const std::vector<int> all_below = below_in_tree(rank, count);
      EXPECT_LE(all_below.size(), 2U);
      for (const int below : all_below) {
        int& step = steps.at(static_cast<std::size_t>(below));
        EXPECT_EQ(step, -1);
        step = steps[static_cast<std::size_t>(rank)] + 1;
      }
    }
    EXPECT_THAT(steps, testing::Each(AllOf(testing::Ge(0), testing::Le(std::log2(count))))) << count;
  }
}

// Two hosts of eight: one message goes from the first to the second.
TEST(Tree, StaysOnAHostWhereItCan) {
  int between = 0;
  for (int rank = 0; rank < 16; ++rank) {
    for (const int below : below_in_tree(rank, 16)) between += (rank < 8) != (below < 8) ? 1 : 0;
  }
  EXPECT_EQ(between, 1);
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
    return [](std::span<const std::byte> item) { return packed(square(Parts(item).next<double>())); };
  };
  worker.work = [] { return packed(1); };
  return std::make_shared<const Worker>(std::move(worker));
}

class Crews : public ::testing::TestWithParam<int> {
 protected:
  static void serve_squares(Ranks& ranks) {
    const WorkPool pool(2);
    serve(ranks, pool, "build 1", squaring);
  }
  std::vector<double> squares(const std::vector<double>& numbers, int* works = nullptr,
                              std::atomic<int>* there = nullptr) {
    std::vector<double> results(numbers.size());
    SharedLoop loop;
    loop.costs.assign(numbers.size(), 1);
    loop.item = [&](std::size_t index) { return packed(numbers[index]); };
    loop.here = [&](std::size_t index) { results[index] = square(numbers[index]); };
    loop.there = [&](std::size_t index, std::span<const std::byte> bytes) {
      results[index] = Parts(bytes).next<double>();
      if (there != nullptr) ++*there;
    };
    crew_.share(loop, [&](std::span<const std::byte> work) {
      if (works != nullptr) *works += Parts(work).next<int>();
    });
    return results;
  }

  WorkPool pool_{2};
  test::ThreadsAsRanks ranks_{GetParam(), serve_squares};
  Crew crew_{ranks_.first(), pool_, "build 1"};
};

class CrewsOfSeveral : public Crews {};

INSTANTIATE_TEST_SUITE_P(Ranks, Crews, ::testing::Values(1, 2, 3));
INSTANTIATE_TEST_SUITE_P(Ranks, CrewsOfSeveral, ::testing::Values(2, 3));

TEST_P(Crews, ShareLoopsOneAfterTheOther) {
  crew_.begin("squares");
  int works = 0;
  std::atomic<int> there = 0;
  EXPECT_THAT(squares({1, 2, 3, 4, 5}, &works, &there), ElementsAre(1, 4, 9, 16, 25));
  EXPECT_THAT(squares({}, &works, &there), ElementsAre());
  EXPECT_EQ(works, there);  // told with each answer
  crew_.end();
  crew_.begin("squares");
  EXPECT_THAT(squares({6}), ElementsAre(36));
  crew_.end();
}

TEST_P(Crews, ThrowTheExceptionOfTheFirstItemAndGoOn) {
  crew_.begin("squares");
  // In every place of the list, whoever gets it.
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<double> numbers{1, 2, 3, 17};
    numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(place), 13);
    if (place == 3) numbers.pop_back();
    expect_refused(has_all("a.toml:3:4", "13 is unlucky", "Take 12"), [&] { squares(numbers); });
  }
  EXPECT_THROW(squares({1, 2, 17, 13}), Bug);
  EXPECT_THAT(squares({7, 8}), ElementsAre(49, 64));
  crew_.end();
}

// States of clients are read from a file, for example, which somebody may have cut.
TEST_P(CrewsOfSeveral, GoOnWhereAnItemCannotBeSent) {
  crew_.begin("squares");
  SharedLoop loop;
  loop.costs.assign(6, 1);
  std::atomic<int> done = 0;
  loop.item = [](std::size_t index) {
    if (index == 0) throw Error::of("no state of {}", index);  // the first that another rank is given
    return packed(1.0);
  };
  loop.here = [&](std::size_t) { ++done; };
  loop.there = [&](std::size_t, std::span<const std::byte>) { ++done; };
  const auto share = [&] { crew_.share(loop, [](std::span<const std::byte>) {}); };
  expect_refused("no state of 0", share);
  EXPECT_EQ(done.load(), 5);
  EXPECT_THAT(squares({2, 3, 4}), ElementsAre(4, 9, 16));
  crew_.end();
}

// A loop whose items wait for each other, with 20 seconds to fail where one waits in vain.
class CrewThatWaits : public ::testing::Test {
 protected:
  void wait_for_done(std::size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return done_ >= count; }))
      throw Bug(fmt::format("only {} of {} items were done", done_, count));
  }
  void do_one() {
    const std::lock_guard lock(mutex_);
    ++done_;
    changed_.notify_all();
  }
  void share(int count, std::size_t items, const std::function<void()>& here,
             const std::function<void(int)>& there) {
    test::ThreadsAsRanks ranks(count, [&](Ranks& ranks) {
      const WorkPool one(1);
      const int rank = ranks.rank();
      serve(ranks, one, "build", [&there, rank](const RunRequest&) {
        Worker worker;
        worker.open = [&there, rank](std::span<const std::byte>) {
          return [&there, rank](std::span<const std::byte>) {
            there(rank);
            return Bytes();
          };
        };
        worker.work = [] { return Bytes(); };
        return std::make_shared<const Worker>(std::move(worker));
      });
    });
    const WorkPool one(1);
    Crew crew(ranks.first(), one, "build");
    crew.begin("run");
    SharedLoop loop;
    loop.costs.assign(items, 1);
    loop.item = [](std::size_t) { return Bytes(); };
    loop.here = [&](std::size_t) { here(); };
    loop.there = [](std::size_t, std::span<const std::byte>) {};
    EXPECT_NO_THROW(crew.share(loop, [](std::span<const std::byte>) {}));
    crew.end();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t done_ = 0;
};

// Rank 1's first item takes as long as rank 0's first eight of ten.
TEST_F(CrewThatWaits, HasTheOthersDoWhatASlowRankDoesNot) {
  share(
      2, 10, [&] { do_one(); }, [&](int) { wait_for_done(8); });
}

// Rank 0's first item takes as long as nine others, so while it computes, others are given more as they
// answer; rank 1's first takes as long as six of rank 2.
TEST_F(CrewThatWaits, GivesMoreToWhoAnswers) {
  share(
      3, 10, [&] { wait_for_done(8); },
      [&](int rank) {
        if (rank == 1) wait_for_done(6);
        do_one();
      });
}

// The rank stays, so that rank 0 can end the run in order.
TEST_P(CrewsOfSeveral, StopWhereOneRankIsTold) {
  crew_.begin("squares");
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<double> numbers{1, 2, 3};
    numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(place), 19);
    EXPECT_THROW(squares(numbers), Interrupted);
  }
  EXPECT_THAT(squares({4, 5}), ElementsAre(16, 25));
  crew_.end();
  EXPECT_THROW(crew_.begin("stopped"), Interrupted);
  crew_.begin("squares");
  crew_.end();
}

TEST_P(CrewsOfSeveral, NameTheRankThatIsNotReady) {
  expect_refused("no data here", [&] { crew_.begin("missing"); });
  crew_.begin("squares");
  EXPECT_THAT(squares({9, 10, 11}), ElementsAre(81, 100, 121));
  crew_.end();
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
      worker.for_host = packed(rank);
      return std::make_shared<const Worker>(std::move(worker));
    });
  }

  const WorkPool pool_{1};
  std::vector<RunRequest> asked_ = std::vector<RunRequest>(5);
  test::ThreadsAsRanks ranks_{5, [this](Ranks& ranks) { serve_on_host(ranks); }, 2};
  Crew crew_{ranks_.first(), pool_, "build"};
};

TEST_F(CrewOnHosts, HandsWhatTheFirstRankOfAHostHasToTheOthersThere) {
  EXPECT_TRUE(crew_.shares_host());
  crew_.begin("run", packed(0));
  EXPECT_EQ(asked_[1].from_host, packed(0));
  EXPECT_EQ(asked_[2].from_host, Bytes());
  EXPECT_EQ(asked_[3].from_host, packed(2));
  EXPECT_EQ(asked_[4].from_host, Bytes());
  const std::vector<bool> firsts{false, false, true, false, false};  // of several, but for rank 0
  for (std::size_t rank = 1; rank < firsts.size(); ++rank) EXPECT_EQ(asked_[rank].hands_on, firsts[rank]);
  crew_.end();
}

TEST_F(CrewOnHosts, LetsOthersTryWhereTheFirstRankOfTheirHostFails) {
  expect_refused("no data on host-1", [&] { crew_.begin("not on 2", packed(0)); });
  EXPECT_EQ(asked_[3].run, "not on 2");
  EXPECT_EQ(asked_[3].from_host, Bytes());
}

TEST_P(CrewsOfSeveral, ShareNoHostWhereEachHasItsOwn) { EXPECT_FALSE(crew_.shares_host()); }

TEST_P(CrewsOfSeveral, RefuseAnotherBuild) {
  expect_refused("rank 1 on host-1 runs another fedarena", [&] { Crew(ranks_.first(), pool_, "build 2"); });
}

}  // namespace
}  // namespace fedarena
