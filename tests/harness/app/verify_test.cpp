// `fedarena verify` on what the program wrote and on what was done to it since.

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/app/command_line.hpp"
#include "results/images/image_grid.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using VerifyCommand = ScratchTest;

TEST_F(VerifyCommand, CountsWhatItRecomputedAndFailsOnADifference) {
  const std::string shared = "policy none, which claims no epsilon, and none is recorded\n";
  run_small(scratch, {.seeds = "[1, 2]"});
  EXPECT_THAT(
      succeed("verify out/fedavg-seed-1").out,
      MatchesRegex("note: out/fedavg-seed-1: " + shared + "verified: 1 run, [0-9]+ values, 0 differences\n"));
  EXPECT_THAT(succeed("verify out").out, MatchesRegex("note: 2 runs, out/fedavg-seed-1 the first: " + shared +
                                                      "verified: 2 runs, [0-9]+ values, 0 differences\n"));
  edit_summary(scratch / "out/fedavg-seed-1",
               [](results::Summary& summary) { summary.final_test_accuracy = 0.85; });
  const Outcome bad = failed("verify out");
  EXPECT_THAT(
      bad.out,
      HasSubstr("differs: out/fedavg-seed-1/summary.json: final_test_accuracy is 0.85; recomputed: "));
  EXPECT_THAT(bad.err, has_all("fedarena: the records hold ", "Records were edited or damaged"));
}

// Messages are then as long as declared, which no round tells.
TEST_F(VerifyCommand, FindsNothingWhereNoCohortHadAnybody) {
  run_small(scratch, {.seeds = "[1, 2, 3, 4, 5, 6]",
                      .rounds = 1,
                      .cohort = "size = 1",
                      .training = "local_steps = 1\nweighting = \"uniform\"",
                      .more = "\n[privacy]\npolicy = \"client\"\nnoise_multiplier = 1.0\n"});
  int empty = 0;
  for (int seed = 1; seed <= 6; ++seed) {
    const std::string run = fmt::format("out/fedavg-seed-{}", seed);
    empty += rounds_of(scratch / run).front().clients == 0 ? 1 : 0;
    succeed("verify " + run);
  }
  EXPECT_GT(empty, 0);
}

// Algorithms under each policy whose ledgers `verify` computes from the experiment file.
TEST_F(VerifyCommand, FindsNothingInRunsUnderAnyPolicy) {
  const auto entry = [](const std::string& label, const std::string& settings, const std::string& privacy) {
    return "\n[[algorithms]]\nlabel = \"" + label + "\"\n" + settings + "\n[algorithms.privacy]\n" + privacy +
           "\n";
  };
  const std::string record = "policy = \"record\"\nnoise_multiplier = 1.5\n";
  const std::string client = "policy = \"client\"\nnoise_multiplier = 2.0\n";
  const std::string local = "policy = \"local\"\nnoise_multiplier = 4.0\n";
  const std::string fixed = "sampling = \"without-replacement\"\nassume = \"poisson\"\n";
  const std::string fedavg = "name = \"fedavg\"\nweighting = \"uniform\"";
  run_small(
      scratch,
      {.partition = "kind = \"dirichlet\"\nalpha = 0.3\nclients = 5",
       .cohort = "size = 3",
       .training = "local_epochs = 1\nbatch_size = 400\nrate = 0.05",
       .algorithms = {},
       .more =
           entry("poisson", "name = \"dp-fedavg\"", record) +
           entry("fixed", "name = \"dp-fedavg\"", record + fixed) +
           entry("whole", "name = \"dp-fedprox\"\nbatch_size = 0\nlocal_epochs = 2", record) +
           entry("system", "name = \"fedavg\"", record + "noise_source = \"system\"") +
           entry("one-gradient", "name = \"fedsgd\"", record) +
           entry("control", "name = \"scaffold\"\noption = \"I\"\nlocal_steps = 2", record) +
           entry("walks",
                 "name = \"fedlap-dp\"\ntrajectories = 2\nouter_steps = 2\nreal_batches = 1\n"
                 "image_updates = 1\nmodel_steps = 1\nimages_per_class = 1\nserver_epochs = 1\n"
                 "augmentation = \"none\"",
                 record) +
           entry("voted-walks",
                 "name = \"fedlap\"\ntrajectories = 1\nouter_steps = 2\nreal_batches = 1\n"
                 "image_updates = 1\nmodel_steps = 1\nimages_per_class = 1\nserver_epochs = 2\n"
                 "augmentation = \"none\"\nregion = \"votes\"\nserver_radius = \"median\"",
                 record) +
           entry("measured-walks",
                 "name = \"fedlap\"\ntrajectories = 1\nouter_steps = 2\nreal_batches = 1\n"
                 "image_updates = 1\nmodel_steps = 1\nimages_per_class = 1\nserver_epochs = 2\n"
                 "augmentation = \"none\"",
                 record) +
           entry("read-one-by-one", "name = \"ifca\"\nassign = \"k-means\"\nweighting = \"uniform\"",
                 client) +
           entry("silent-at-first",
                 "name = \"pppfl\"\ngenerator = \"dp-merf\"\nmerf_steps = 2\nmost_examples = 20", client) +
           entry("clients", fedavg, client) +
           entry("clients-system", fedavg, client + "noise_source = \"system\"") +
           entry("clients-fixed", fedavg, client + fixed) +
           entry("adaptive", fedavg, client + "adaptive_clipping = true\ncount_noise = 3.0") +
           entry("as-if", fedavg, client + "as_if_cohort = 30\nas_if_population = 300") +
           entry("lists", fedavg,
                 "policy = \"record\"\nnoise_multiplier = [1.5, 3.0]\nbudget = [4.0, 1.0, 50.0]\n") +
           entry("votes-of-examples",
                 "name = \"pppfl\"\ngenerator = \"dp-merf\"\nmerf_steps = 2\nmost_examples = 20\n"
                 "weights = \"budget\"",
                 "policy = \"record\"\nnoise_multiplier = [1.5, 3.0]\nbudget = [4.0, 1.0, 50.0]\n") +
           entry("votes-of-parts",
                 "name = \"pppfl\"\nteachers = 5\nteacher_warm_up = 1\n"
                 "generator_width = 8\ngenerator_batch_size = 4\ngenerator_steps = 2\nmost_examples = 20",
                 "policy = \"record\"\nnoise_multiplier = 30.0\nbudget = 2.0\n") +
           entry("messages", fedavg, local) + entry("tensors", fedavg, local + "by_tensor = true") +
           entry("tensors-of-two-vectors", "name = \"scaffold\"",
                 local + "mechanism = \"laplace\"\nby_tensor = true") +
           entry("around-models", "name = \"ifca\"\nassign = \"k-means\"", local) +
           entry("none", fedavg, "policy = \"none\"")});
  EXPECT_THAT(succeed("verify out").out, HasSubstr("verified: 24 runs, "));
}

TEST_F(VerifyCommand, RecomputesWhatEpsilonTakesAsPublic) {
  std::string table = "x,label\n";
  std::string proxy = table;
  for (int i = 0; i < 60; ++i) {
    const std::string label = i % 2 == 0 ? ",pos\n" : ",neg\n";
    table += std::to_string(i % 7) + label;
    proxy += std::to_string(i % 4) + ".5" + label;
  }
  run_small(scratch, {.data = "csv\"\nmissing = \"drop\"\npath = \"t.csv\"\ntarget = \"label",
                      .partition = "kind = \"iid\"\nclients = 3",
                      .evaluation = "per_client = true",
                      .training = "local_steps = 2\nbatch_size = 8\nrate = 0.05\nweighting = \"uniform\"",
                      .more = "\n[algorithms.privacy]\npolicy = \"client\"\npublic_label_counts = true\n"
                              "\n[proxy]\nname = \"csv\"\npath = \"p.csv\"\ntarget = \"label\"\n",
                      .files = {{"t.csv", table}, {"p.csv", proxy}}});
  const std::string others =
      "which columns hold numbers, the classes, which rows have missing values, means and deviations of the "
      "features, the clients' own test examples";
  EXPECT_THAT(
      succeed("table out").out,
      HasSubstr("- fedavg: epsilon takes as public, beside sizes: each client's label counts, means and "
                "deviations of the features, the classes, the clients' own test examples, the server's proxy "
                "data, which columns hold numbers, which rows have missing values\n"));
  EXPECT_THAT(succeed("privacy out/fedavg-seed-1").out,
              HasSubstr("\npublic      each client's label counts, "));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences"));
  replace_in(scratch / "out/fedavg-seed-1/ledger.json", "the server's proxy data", "x");
  const Outcome edited = failed("verify out");
  EXPECT_THAT(edited.out, HasSubstr("ledger.json: public_data is \"x, " + others +
                                    "\"; recomputed: \"the server's proxy data, " + others + "\"\n"));
}

TEST_F(VerifyCommand, RecomputesThatPeopleWhoTestAreClients) {
  run_small(scratch, {.data = "linear-mixture",
                      .partition = "kind = \"by-user\"\nclients = 5",
                      .model = "name = \"linear\"",
                      .training = "local_steps = 2\nbatch_size = 8\nrate = 0.05\nweighting = \"uniform\"",
                      .more = "\n[algorithms.privacy]\npolicy = \"client\"\n"});
  EXPECT_THAT(succeed("table out").out,
              HasSubstr("epsilon takes as public, beside sizes: the clients' own test examples\n"));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences"));
}

TEST_F(VerifyCommand, RecomputesThatPicturesAreDealtByTheirDigests) {
  SmallExperiment pictures{.data = "image-folder\"\npath = \"own",
                           .partition = "kind = \"iid\"\nclients = 2",
                           .training = "local_steps = 2\nbatch_size = 2\nrate = 0.05",
                           .more = "\n[algorithms.privacy]\npolicy = \"record\"\n"};
  for (std::uint8_t shade = 0; shade < 16; ++shade) {
    const std::string name = fmt::format("{}/{}.png", shade % 2 == 0 ? "cat" : "dog", shade);
    pictures.files[(shade < 12 ? "own/train/" : "own/test/") + name] =
        results::to_png({.width = 2, .height = 1, .channels = 1, .samples = {shade, 255}});
  }
  run_small(scratch, pictures);
  EXPECT_THAT(succeed("table out").out,
              HasSubstr("who holds which examples (dealt in the order of their digests)\n"));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences"));
}

// Whatever else of it is there.
TEST_F(VerifyCommand, NamesARunThatLostItsSummary) {
  run_small(scratch, {.seeds = "[1, 2]"});
  fs::remove(scratch / "out/fedavg-seed-2/summary.json");
  const std::string problem = "summary.json: is missing, and the rest of a run is there";
  for (const char* command : {"verify out", "verify out/fedavg-seed-2"}) {
    const Outcome outcome = failed(command);
    EXPECT_THAT(outcome.out, HasSubstr("broken: out/fedavg-seed-2: " + problem + "\n"));
    EXPECT_THAT(outcome.err, HasSubstr("1 run cannot be read"));
  }
  EXPECT_THAT(succeed("table out").out, HasSubstr("out/fedavg-seed-2: " + problem + "; not counted\n"));
  EXPECT_THAT(succeed("list out").out, ContainsRegex("out/fedavg-seed-2 +broken: " + problem));
}

TEST_F(VerifyCommand, FollowsBudgetsOfTheClientsOwn) {
  const std::string policy =
      "\n[algorithms.privacy]\npolicy = \"local\"\nmechanism = \"laplace\"\nnoise_multiplier = [2.0, 4.0]\n";
  // A message costs epsilon 1 or 0.5.
  const Outcome run = run_small(scratch, {.rounds = 5, .more = policy + "budget = [2.0, 1.0, 9.0, 9.0]\n"});
  EXPECT_THAT(run.out + run.err, HasSubstr("after round 2, the budgets of clients 0, 1 pay for no further "
                                           "round; 2 of all clients take no further part\n"));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences"));
  EXPECT_THAT(succeed("privacy out/fedavg-seed-1").out,
              HasSubstr("budget      [2, 1, 9, 9], each client its own, which pays for no round beyond those "
                        "charged of 2 clients\n"));
  EXPECT_THAT(succeed("table out").out, HasSubstr("this is the largest, the least is 1.0000 (RDP)"));
  edit_summary(scratch / "out/fedavg-seed-1",
               [](results::Summary& summary) { summary.privacy->spent_clients = 1; });
  EXPECT_THAT(call("verify out").out, HasSubstr("summary.json: spent_clients is 1; recomputed: 2"));
  replace_in(scratch / "out/fedavg-seed-1/experiment.toml", "[2.0, 1.0, 9.0, 9.0]", "[3.0, 1.0, 9.0, 9.0]");
  EXPECT_THAT(call("verify out").out,
              HasSubstr("rounds of client 0 is 2; recomputed: 5, because the budget 3 pays"));
}

// A first round that asks for nothing, and others for which no budget pays.
SmallExperiment free_first_round() {
  const std::string small =
      "generator_steps = 1\ngenerator_width = 4\nteachers = 2\nmost_examples = 20\n"
      "personal_epochs = 0\n";
  const std::string policy =
      "\n[algorithms.privacy]\npolicy = \"local\"\nnoise_multiplier = 0.0\nbudget = [2.0]\n";
  return {.rounds = 4,
          .partition = "kind = \"iid\"\nclients = 3",
          .training = "",
          .algorithms = {"pppfl"},
          .more = small + policy};
}

// That it was free says nothing of one that has no price at all.
TEST_F(VerifyCommand, FindsNothingWhereABudgetPaysForNothingButAFreeRound) {
  SmallExperiment experiment = free_first_round();
  experiment.seeds = "[1, 3]";
  experiment.cohort = "size = 1";
  run_small(scratch, experiment, "--out out --set data.train=60");
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences"));
  // No data decided: what the second round sends was declared before the first.
  EXPECT_THAT(succeed("table out").out,
              AllOf(HasSubstr("|          0.00 |"), Not(HasSubstr("data may have decided"))));
}

// The round that ends the run is in no record but that.
TEST_F(VerifyCommand, CountsWhoCannotPayForTheRoundThatEndsTheRun) {
  run_small(scratch, free_first_round(), "--out out --set data.train=60");
  EXPECT_EQ(summary_of(scratch / "out/pppfl-seed-1").privacy->spent_clients, 3);
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences"));
  edit_summary(scratch / "out/pppfl-seed-1",
               [](results::Summary& summary) { summary.privacy->spent_clients = 0; });
  EXPECT_THAT(failed("verify out").out, HasSubstr("summary.json: spent_clients is 0; recomputed: 3"));
}

// Root may read everything, so that a child becomes somebody else.
TEST_F(VerifyCommand, SaysWhyAFileIsNotReadThatNobodyMayRead) {
  run_small(scratch);
  const std::string run = scratch / "out/fedavg-seed-1";
  fs::permissions(scratch.path(), fs::perms::all);
  const auto verify_as_another = [&] {
    const bool ready = geteuid() != 0 || setuid(12345) == 0;
    const std::array<const char*, 3> words = {"fedarena", "verify", run.c_str()};
    const int code = ready ? run_command_line(3, words.data(), light_commands(), "") : 1;
    std::fflush(nullptr);
    ::_exit(code);
  };
  for (const char* file : {results::kSummaryFile, results::kLedgerFile, results::kSealFile}) {
    fs::permissions(fs::path(run) / file, fs::perms::none);
    EXPECT_EXIT(verify_as_another(), testing::ExitedWithCode(2),
                "^fedarena: 1 run cannot be read: Permission denied\n  Change the permissions of these files")
        << file;
    fs::permissions(fs::path(run) / file, fs::perms(0644));
  }
}

// Nothing but `verify` and `bundle` looks at a seal.
TEST_F(VerifyCommand, IsTheOneToComplainAboutADamagedSeal) {
  run_small(scratch, {.seeds = "[1, 2]"});
  for (const std::string& seal :
       {std::string(), std::string("{"), std::string("{\"schema\": 2}\n"),
        std::string("{\"schema\": 1, \"files\": {\"../x\": \"y\"}}\n"), std::string(100'000, ' ')}) {
    scratch.write("out/fedavg-seed-1/seal.json", seal);
    for (const char* command : {"table out", "list out", "compare out", "privacy out/fedavg-seed-1",
                                "report out -o report.html", "run small.toml --out out --resume"})
      EXPECT_NE(call(command).exit_code, 1) << command;
    succeed("table out");
    EXPECT_THAT(failed("verify out").out, HasSubstr("broken: out/fedavg-seed-1/seal.json"));
    EXPECT_THAT(refused("bundle out -o a.tar.gz"), HasSubstr("out/fedavg-seed-1/seal.json"));
  }
  fs::remove(scratch / "out/fedavg-seed-1/seal.json");
  EXPECT_THAT(call("verify out").out,
              HasSubstr("out/fedavg-seed-1/seal.json: the seal of a finished run is missing; recomputed: "));
}

// What `run` leaves of a file that a run needs, when it was damaged before the end.
TEST_F(VerifyCommand, IsNotNeededToFindADamagedPartition) {
  run_small(scratch);
  const fs::path run = scratch / "out/fedavg-seed-1";
  const std::string card = content_of(run / results::kPartitionFile);
  unfinish(run);
  const auto resumed_with = [&](const std::string& content) {
    scratch.write(run / results::kPartitionFile, content);
    return refused("run small.toml --out out --resume");
  };
  std::string other = card;
  other.replace(other.find("\"sizes\":[3"), 10, "\"sizes\":[4");
  for (const std::string& damaged : {other, card.substr(0, 50), card + " ", std::string()}) {
    EXPECT_THAT(resumed_with(damaged),
                HasSubstr("partition.json: is not the card of the partition that this run has: it is damaged "
                          "or was edited\n  Restore the file, or remove the run directory"));
  }
  fs::remove(run / results::kPartitionFile);
  EXPECT_THAT(refused("run small.toml --out out --resume"), HasSubstr("partition.json: is gone"));
  scratch.write(run / results::kPartitionFile, card);
  succeed("run small.toml --out out --resume");
  succeed("verify out");
}

// Under a new seal, and alone, so that no other run has the note as it was.
TEST_F(VerifyCommand, FindsAnEditedNoteOnDataWithTheData) {
  run_small(scratch);
  edit_summary(scratch / "out/fedavg-seed-1",
               [](results::Summary& summary) { summary.dataset_note = "real handwriting"; });
  EXPECT_THAT(failed("verify --data out").out,
              has_all("summary.json: dataset_note is \"real handwriting\"; recomputed: \"glyphs is",
                      " 1 difference\n"));
}

// Also where the lines that say something are all there.
TEST_F(VerifyCommand, ReadsAnExperimentWhole) {
  run_small(scratch);
  const fs::path run = scratch / "out/fedavg-seed-1";
  std::ofstream(run / "experiment.toml", std::ios::app) << "garbage garbage\n";
  edit_summary(run, [](results::Summary&) {});
  EXPECT_THAT(failed("verify out").out, has_all("out/fedavg-seed-1/experiment.toml:", ": not TOML: "));
}

// Of twice as many examples an accuracy may be the same.
TEST_F(VerifyCommand, FindsOtherTestExamplesOfClientsThanTheDataGive) {
  run_small(scratch, {.evaluation = "per_client = true\nheld_out_clients = 0.25"});
  EXPECT_THAT(succeed("verify out --data").out, HasSubstr(", 0 differences"));
  const auto run = results::RunDirectory::open(scratch / "out/fedavg-seed-1");
  results::ClientScores scores = run.client_scores().value();
  results::ClientScore& first = scores.clients.front();
  const std::int64_t examples = std::exchange(first.test_examples, 2 * first.test_examples);
  run.write_client_scores(scores);
  run.write_summary(run.summary());  // seals that
  succeed("verify out");
  EXPECT_THAT(failed("verify --data out").out,
              HasSubstr(fmt::format("clients.json: test examples of client {} is {}; recomputed: {}\n",
                                    first.client, 2 * examples, examples)));
}

}  // namespace
}  // namespace fedarena::test
