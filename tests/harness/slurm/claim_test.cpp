// One owner for each cell, whatever the file system knows of locks.
#include "harness/slurm/claim.hpp"

#include "tests/harness/slurm/fake_slurm.hpp"
#include "tests/matchers.hpp"

namespace fedarena::slurm {
namespace {

using test::Environment;
using test::FakeQueue;
using test::no_task;
using test::task;

const std::string kOver = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1";
const std::string kUnreachable = "echo 'Unable to contact slurm controller' >&2; exit 1";

class ClaimOf5 : public testing::Test {
 protected:
  // The claim of a task that was killed: as it was written, and never given back.
  void leave_claim(const std::optional<std::string>& restart = {}) const {
    const Environment slurm(task("5", "3", restart));
    const std::optional<Claim> claim = Claim::take(scratch.path());
    ASSERT_TRUE(claim);
    text_ = test::content_of(file);
    scratch.write("claim.json", text_ + " ");  // no longer its own, so that it stays
  }

  const test::Scratch scratch;
  const std::filesystem::path file = scratch / "claim.json";
  mutable std::string text_;
};

TEST_F(ClaimOf5, NamesJobAndHostAndIsGivenBack) {
  const Environment slurm(task("5", "3", "2"));
  {
    const std::optional<Claim> claim = Claim::take(scratch.path());
    ASSERT_TRUE(claim);
    EXPECT_FALSE(claim->taken_over());
    EXPECT_NO_THROW(claim->check());
    EXPECT_THAT(test::content_of(file),
                has_all("\"job\": \"5_3\"", "\"restart\": 2", "\"host\": \"", "\"process\": "));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(ClaimOf5, IsNotMadeOutsideOfSlurm) {
  const Environment slurm(no_task());
  EXPECT_FALSE(Claim::take(scratch.path()));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(ClaimOf5, IsHeldAgainstOthersWhileTheJobIsKnown) {
  leave_claim();
  const FakeQueue queue("echo '5_3|RUNNING|n1|None'");
  for (const auto& other : {task("6", "0"), no_task()}) {
    const Environment slurm(other);
    expect_refused(has_all("this cell belongs to job 5_3 on ", "which is queued or runs", "scancel 5_3"),
                   [&] { Claim::take(scratch.path()); });
  }
  // Nor is it taken where nobody can say.
  queue.answer(kUnreachable);
  const Environment slurm(task("6", "0"));
  expect_refused("remove " + file.string(), [&] { Claim::take(scratch.path()); });
}

TEST_F(ClaimOf5, PassesOnOnceTheJobIsOver) {
  leave_claim();
  const FakeQueue queue(kOver);
  {
    const Environment slurm(task("6", "0"));
    const std::optional<Claim> claim = Claim::take(scratch.path());
    ASSERT_TRUE(claim);
    EXPECT_TRUE(claim->taken_over());
  }
  leave_claim();
  const Environment slurm(no_task());
  EXPECT_FALSE(Claim::take(scratch.path()));
  EXPECT_FALSE(std::filesystem::exists(file)) << "whoever left it must not take it for its own";
}

// Slurm gave the first machine up for lost and began the job again elsewhere; the first process lives.
TEST_F(ClaimOf5, IsLostToALaterStartOfTheSameJob) {
  std::optional<Claim> first;
  {
    const Environment slurm(task("5", "3"));
    first.emplace(*Claim::take(scratch.path()));
  }
  const Environment slurm(task("5", "3", "1"));
  const std::optional<Claim> second = Claim::take(scratch.path());
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->taken_over());
  expect_refused("this cell belongs to job 5_3 on ", [&] { first->check(); });
  first.reset();
  EXPECT_NO_THROW(second->check()) << "who lost a claim must not give it back";
  const Environment late(task("5", "3"));
  expect_refused("a later start of job 5_3", [&] { Claim::take(scratch.path()); });
}

// As where a job starts the program several times.
TEST_F(ClaimOf5, IsNotTakenFromALivingProcessOfTheSameStart) {
  const Environment slurm(task("5", "3"));
  const std::optional<Claim> first = Claim::take(scratch.path());
  expect_refused("of the same job is running this cell", [&] { Claim::take(scratch.path()); });
  EXPECT_NO_THROW(first->check());
}

TEST_F(ClaimOf5, IsNobodysWhereItIsDamaged) {
  scratch.write("claim.json", "{\"job\": \"5_3\"");
  const Environment slurm(task("6", "0"));
  EXPECT_TRUE(Claim::take(scratch.path()));
}

}  // namespace
}  // namespace fedarena::slurm
