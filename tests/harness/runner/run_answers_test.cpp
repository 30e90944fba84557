// Answers about runs that are worked on at once and end in any order.
#include <cstddef>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "fedarena/base/pool.hpp"

#include "harness/runner/progress/progress_line.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

class RunAnswersTest : public testing::Test {
 protected:
  // One whose answers write down which run they are about.
  std::unique_ptr<RunAnswers> answers_about(std::size_t runs) {
    return std::make_unique<RunAnswers>(messages_.get(), std::vector<std::string>(runs, "a run"));
  }
  RunAnswers::Answer answer_about(std::size_t run) {
    return [this, run] { said_.push_back(run); };
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> messages_{std::tmpfile(), &std::fclose};
  std::vector<std::size_t> said_;
};

TEST_F(RunAnswersTest, ComeInTheOrderOfTheRunsWhicheverEndsFirst) {
  const auto answers = answers_about(4);
  answers->give(2, answer_about(2));
  EXPECT_THAT(said_, IsEmpty());
  answers->give(0, answer_about(0));
  EXPECT_THAT(said_, ElementsAre(0U)) << "at once, as none is before it";
  answers->give(1, answer_about(1));
  EXPECT_THAT(said_, ElementsAre(0U, 1U, 2U));
  answers->give(3, answer_about(3));
  EXPECT_THAT(said_, ElementsAre(0U, 1U, 2U, 3U));
}

TEST_F(RunAnswersTest, ThatWaitForARunWithoutOneAreGivenInTheEnd) {
  const auto answers = answers_about(5);
  answers->give(4, answer_about(4));
  answers->give(2, answer_about(2));
  answers->give(0, answer_about(0));
  answers->give_rest();
  EXPECT_THAT(said_, ElementsAre(0U, 2U, 4U));
  answers->give_rest();
  EXPECT_THAT(said_, ElementsAre(0U, 2U, 4U)) << "each once";
}

// Nothing but the class itself keeps these threads apart.
TEST_F(RunAnswersTest, MayComeFromManyThreads) {
  constexpr std::size_t kRuns = 200;
  const auto answers = answers_about(kRuns);
  const WorkPool pool(4);
  pool.for_each(kRuns, [&](std::size_t run) {
    answers->tell(run, "at work");
    answers->give(run, answer_about(run));
  });
  std::vector<std::size_t> all(kRuns);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(said_, all);
}

}  // namespace
}  // namespace fedarena
