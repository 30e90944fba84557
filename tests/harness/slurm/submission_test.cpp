// What is known of cells that were submitted: the record, squeue's answer, and both in lists.
#include "harness/slurm/submission.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "results/live/live_text.hpp"
#include "tests/harness/slurm/fake_slurm.hpp"
#include "tests/matchers.hpp"

namespace fedarena::slurm {
namespace {

using test::FakeQueue;

Submission submission() {
  return {.job = "5",
          .experiment = "small",
          .cells = {{"fedavg-seed-1", "fedavg, seed 1", "fedavg", 1, 20},
                    {"fedprox-seed-1", "fedprox, seed 1", "fedprox", 1, 20}}};
}

TEST(Queue, IsReadLineByLine) {
  const std::vector<Task> tasks = parse_queue(
      "5_0|RUNNING|n1|None\n5_1|PENDING||Resources\nslurm: hello\n7|COMPLETING|n2|None\n-1|R|n|r\n");
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].text(), "5_0 on n1");
  EXPECT_EQ(tasks[1].text(), "5_1: Resources");
  EXPECT_TRUE(tasks[0].running());
  EXPECT_FALSE(tasks[1].running() || tasks[2].running());
}

TEST(Queue, TellsWhatIsOverFromWhatCannotBeTold) {
  const FakeQueue queue("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
  EXPECT_THAT(ask_queue({"5"}).value(), IsEmpty());
  queue.answer("echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1");
  EXPECT_FALSE(ask_queue({"5"}));
  // The user's own settings would hide what waits.
  queue.answer("echo \"5|PENDING||${SQUEUE_STATES-all}\"");
  const test::Environment settings(test::Variables{{"SQUEUE_STATES", "RUNNING"}});
  EXPECT_EQ(ask_queue({"5"}).value().at(0).reason, "all");
}

TEST(Submission, ComesBackAsItWasWritten) {
  const test::Scratch scratch;
  EXPECT_FALSE(read_submission(scratch.path()));
  scratch.write("slurm/job.sh", "");
  write_submission(scratch.path(), submission());
  EXPECT_EQ(read_submission(scratch.path()), submission());
}

TEST(Submission, IsRefusedWhereItWouldLeadElsewhere) {
  const auto refused = [](auto change) {
    Submission other = submission();
    change(other);
    return message_of([&] { parse_submission(to_json_text(other), "s.json"); });
  };
  EXPECT_THAT(refused([](Submission& other) { other.job = "5 --me"; }), HasSubstr("the number of a job"));
  for (const char* folder : {"/etc", "../other", ""})
    EXPECT_THAT(refused([&](Submission& other) { other.cells[0].folder = folder; }), HasSubstr("\"folder\""));
}

TEST(Submission, IsMadeByOneProcessAtATime) {
  const test::Scratch scratch;
  scratch.write("slurm/job.sh", "");
  const auto submit = [&] { const Submitting alone(scratch.path()); };
  {
    const Submitting alone(scratch.path());
    expect_refused(has_all(fmt::format("process {} on ", ::getpid()), "squeue --me", "remove this file"),
                   submit);
    EXPECT_THAT(message_of(submit), HasSubstr("at work here")) << "the refused one took the file along";
  }
  submit();
}

TEST(Submission, KnowsHowManyTasksTheClusterAllows) {
  const FakeQueue slurm("exit 1");
  slurm.answer("echo 'MaxArraySize            = 1001'; echo 'MaxDBDMsgs = 20012'", "scontrol");
  EXPECT_EQ(most_tasks(), 1001U);
  slurm.answer("exit 1", "scontrol");
  EXPECT_EQ(most_tasks(), std::nullopt);
}

TEST(CellTasks, OfOtherFoldersAreShownBesideARecordThatCannotBeRead) {
  const test::Scratch scratch;
  scratch.write("runs/small/slurm/job.sh", "");
  write_submission(scratch / "runs/small", submission());
  scratch.write("runs/damaged/slurm/submission.json", "{\"schema\": 1, \"job\"");
  const FakeQueue queue("echo '5_0|RUNNING|n1|None'");
  const std::vector<std::filesystem::path> overlapping = {scratch / "runs", scratch / "runs/damaged/"};
  const auto tasks = cell_tasks(overlapping);
  ASSERT_TRUE(tasks);
  std::vector<results::LiveCell> cells;
  add_tasks(cells, *tasks);
  ASSERT_THAT(cells, SizeIs(2));
  EXPECT_EQ(cells[0].path, scratch / "runs/damaged/slurm");
  EXPECT_THAT(cells[0].problem, AllOf(HasSubstr("submission.json"), HasSubstr("remove it"),
                                      HasSubstr("scancel"), Not(HasSubstr("run this cell again"))));
  EXPECT_EQ(cells[1].summary.label, "fedavg");
}

TEST(CellTasks, ShowWhatIsQueuedAndWhatRunsElsewhere) {
  const test::Scratch scratch;
  const std::filesystem::path out = scratch / "runs/small";
  scratch.write("runs/small/slurm/job.sh", "");
  write_submission(out, submission());
  const FakeQueue queue("echo '5_0|RUNNING|n1|None'; echo '5_1|PENDING||Resources'");
  const std::filesystem::path folder = scratch / "runs/";
  const auto tasks = cell_tasks({&folder, 1});
  ASSERT_TRUE(tasks);

  // The first has begun, as far as its record says; no process of this machine is at it.
  results::Summary begun;
  begun.experiment = "small";
  begun.label = "fedavg";
  begun.seed = 1;
  begun.rounds = 20;
  begun.state = results::kRunning;
  const std::vector<results::RoundRecord> rounds(4);
  std::vector<results::LiveCell> cells = {results::live_cell(out / "fedavg-seed-1", begun, rounds, false, 1)};
  add_tasks(cells, *tasks);
  EXPECT_EQ(cells[0].work, results::Work::kRunning);
  EXPECT_TRUE(cells[0].seconds_left);
  EXPECT_THAT(results::render_list(cells),
              has_all("running (5_0 on n1)        4/20", "queued (5_1: Resources)    0/20"));
  EXPECT_THAT(results::live_text(cells, {}),
              has_all("1 cell begun: 1 running, 1 queued;", "queued   fedprox, seed 1", "5_1: Resources"));

  // A finished one stays so, though its task takes a while to end.
  cells[0].work = results::Work::kFinished;
  add_tasks(cells, *tasks);
  EXPECT_EQ(cells[0].work, results::Work::kFinished);
}

}  // namespace
}  // namespace fedarena::slurm
