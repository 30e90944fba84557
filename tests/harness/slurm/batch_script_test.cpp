// What sbatch is given: the script alone, run by bash without Slurm.
#include "fedarena/base/child_program.hpp"

#include "harness/slurm/submission.hpp"
#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena::slurm {
namespace {

// Everything that a shell or sbatch might read as its own.
const std::string kHostile = "a b'c\"d\\e$(touch hit)`touch hit`;touch hit #%A";

BatchJob hostile_job(const test::Scratch& scratch) {
  return {.name = kHostile,
          .cells = {"fedavg-seed-1", kHostile},
          .array_limit = 3,
          .out = scratch / "out % dir",
          .folder = scratch.path(),
          .command = {"printf", "<%s>", kHostile},
          .options = {{"account", kHostile}, {"exclusive", ""}}};
}

// What bash makes of the script as the task of that number.
ChildOutcome run_task(const test::Scratch& scratch, const std::string& number) {
  scratch.write("job.sh", batch_script(hostile_job(scratch)));
  return call_program(
             {"env", "-C", scratch.path().string(), "SLURM_ARRAY_TASK_ID=" + number, "bash", "job.sh"})
      .value_or(ChildOutcome{});
}

TEST(BatchScript, NamesEachOptionOnALineOfItsOwn) {
  const test::Scratch scratch;
  EXPECT_THAT(batch_script(hostile_job(scratch)),
              has_all("#SBATCH --array=\"0-1%3\"\n", "#SBATCH --exclusive\n",
                      "#SBATCH --account=\"a b'c\\\"d\\\\e$(touch hit)`touch hit`;touch hit #%A\"\n",
                      "/out %% dir/slurm/%A_%a.log\"\n", "#SBATCH --open-mode=\"append\"\n"));
}

TEST(BatchScript, PassesEveryValueAsOneWordThatNobodyExecutes) {
  const test::Scratch scratch;
  const ChildOutcome first = run_task(scratch, "0");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "<" + kHostile + "><--workers><1><--only><fedavg-seed-1>") << first.err;
  EXPECT_EQ(run_task(scratch, "1").out, "<" + kHostile + "><--workers><1><--only><" + kHostile + ">");
  EXPECT_FALSE(std::filesystem::exists(scratch / "hit"));
}

TEST(BatchScript, StartsRanksInAStepOfTheirOwn) {
  const test::Scratch scratch;
  BatchJob job = hostile_job(scratch);
  EXPECT_THAT(batch_script(job), Not(HasSubstr("srun")));
  job.ranks = 3;
  EXPECT_THAT(batch_script(job),
              HasSubstr("\nsrun --mpi=\"${SLURM_MPI_TYPE:-pmix}\" --ntasks=3 "
                        "--cpus-per-task=\"${SLURM_CPUS_PER_TASK:-1}\" \\\n  --kill-on-bad-exit=1 "
                        "printf '<%s>' "));
  EXPECT_THAT(batch_script(job), HasSubstr("scancel --signal=TERM \"$task\"' USR1\n"));
}

TEST(BatchScript, RefusesWhatWouldBeAnotherLine) {
  const test::Scratch scratch;
  BatchJob job = hostile_job(scratch);
  job.options = {{"account", "a\n#SBATCH --wrap=x"}};
  expect_refused("\"a\\n#SBATCH --wrap=x\" cannot stand in a batch script", [&] { batch_script(job); });
  job.options = {};
  job.out = "/shared/a\\b";
  expect_refused("no logs into a folder with a backslash", [&] { batch_script(job); });
}

}  // namespace
}  // namespace fedarena::slurm
