// What a user gets to read after a mistake, in tests/golden/bad_*.txt: command lines, experiments, data and
// folders of runs.
#include <string>
#include <vector>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using BadInput = ScratchTest;

TEST_F(BadInput, CommandLinesAreRefusedWithARemedy) {
  SmallExperiment{}.write_to(scratch);
  scratch.write("a-file", "");
  expect_refusals(scratch, "bad_command_lines.txt");
  EXPECT_FALSE(fs::exists(scratch / "q.zip"));
}

// One of each kind; tests/harness/config has all that the file alone decides.
TEST_F(BadInput, ExperimentFilesAreRefusedWithThePlaceAndTheNearestName) {
  const std::string good = SmallExperiment{}.toml();
  scratch.write("small.toml", good);
  scratch.write("key.toml", good + "raet = 0.1\n");
  scratch.write("p.csv", "x,y\n0,a\n1,b\n2,a\n3,b\n4,a\n5,b\n");
  // What papers and other programs call our keys; the last ones are ours in another section.
  for (const std::string theirs : {"epochs", "n_epochs", "learning_rate", "batch", "sample_rate",
                                   "num_clients", "max_grad_norm", "target_epsilon"}) {
    scratch.write(theirs + ".toml",
                  SmallExperiment{.training = "local_steps = 1\n" + theirs + " = 1"}.toml());
  }
  expect_refusals(scratch, "bad_experiments.txt");
  EXPECT_FALSE(fs::exists(scratch / "out")) << "a run directory was left";
}

TEST_F(BadInput, DataThatIsMissingOrDamagedIsNamed) {
  SmallExperiment{.data = "mnist"}.write_to(scratch);
  fs::create_directories(scratch / "empty");
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                           "t10k-labels-idx1-ubyte"}) {
    scratch.write(fs::path("corrupt/mnist") / name, "This is no image.\n");
  }
  std::string text;
  for (const char* folder : {"empty", "corrupt"}) {
    text += refusals(scratch, {"run small.toml --out out"},
                     {.environment = {{"FEDARENA_DATA", (scratch / folder).string()}}});
  }
  expect_golden("bad_data.txt", text);
  EXPECT_FALSE(fs::exists(scratch / "out")) << "a run directory was left";
}

TEST_F(BadInput, OutputThatCannotBeWrittenIsAnError) {
  ASSERT_TRUE(fs::exists("/dev/full"));
  for (const char* command : {"plugins", "--version", "table --help"}) {
    EXPECT_EQ(refused(command, {.out = "/dev/full"}),
              "fedarena: the output cannot be written: No space left on device\n");
  }
}

class BadRunFolder : public ScratchTest {
 protected:
  BadRunFolder() { run_small(scratch, {.seeds = "[1, 2]"}); }
  fs::path cell(const std::string& folder) const { return scratch / folder / "fedavg-seed-1"; }
  std::string resume(const std::string& name, const std::string& setting = "training.rate=0.05") const {
    return refusals(scratch, {"run small.toml --out " + name + " --resume --set " + setting});
  }
  // In a copy of the folder, whose first run was not finished and has this file.
  std::string resume_with(const std::string& name, const char* file, const std::string& content) const {
    fs::copy(scratch / "out", scratch / name, fs::copy_options::recursive);
    unfinish(cell(name));
    scratch.write(cell(name) / file, content);
    return resume(name);
  }
};

TEST_F(BadRunFolder, TakesNothingButItsRecord) {
  const auto before = snapshot_of(scratch / "out");
  for (const char* command :
       {"export out --format jsonl -o out/fedavg-seed-1/rounds.jsonl", "plot out -o out/fedavg-seed-2/p.svg",
        "report out -o out/fedavg-seed-1/r.html", "bundle out -o out/fedavg-seed-1/b.tgz",
        "partition small.toml -o out/fedavg-seed-1/m.png", "run small.toml --out out/fedavg-seed-1",
        "run small.toml --out out/fedavg-seed-1/new/runs"}) {
    EXPECT_THAT(refused(command),
                ContainsRegex("--out(put)?: lies in the run directory out/fedavg-seed-[12]\n"
                              "  choose a place outside the runs\n"))
        << command;
  }
  EXPECT_EQ(snapshot_of(scratch / "out"), before);
}

TEST_F(BadRunFolder, IsRefusedWithARemedyAndLeftAsItWas) {
  std::string text = refusals(scratch, {"run small.toml --out out"});
  text += resume("out", "experiment.rounds=4");
  text += resume("out", "model.name=mlp");

  const std::string checkpoint = content_of(cell("out") / results::kCheckpointFile);
  const std::string rounds = content_of(cell("out") / results::kRoundsFile);
  const std::string experiment = content_of(cell("out") / results::kExperimentFile);
  std::string flipped = checkpoint;
  flipped[flipped.size() / 2] ^= 1;
  text += resume_with("flipped", results::kCheckpointFile, flipped);
  EXPECT_EQ(content_of(cell("flipped") / results::kCheckpointFile), flipped);
  text += resume_with("short", results::kCheckpointFile, flipped.substr(0, 10));
  text += resume_with("lost", results::kRoundsFile, rounds.substr(0, rounds.find('\n') + 1));
  text += resume_with("broken", results::kRoundsFile, "not JSON\n" + rounds);
  scratch.write(cell("foreign") / "thesis.tex", "");
  text += resume("foreign");
  text += resume_with("empty", results::kExperimentFile, "");
  text += resume_with("half", results::kExperimentFile, experiment.substr(0, experiment.size() / 2));
  fs::remove(cell("half") / results::kExperimentFile);
  text += resume("half");
  fs::copy(scratch / "out", scratch / "other", fs::copy_options::recursive);
  fs::copy_file(scratch / "out/fedavg-seed-2/summary.json", cell("other") / results::kSummaryFile,
                fs::copy_options::overwrite_existing);
  text += resume("other");
  fs::copy(scratch / "out", scratch / "cut", fs::copy_options::recursive);
  scratch.write(cell("cut") / results::kRoundsFile, "");
  text += resume("cut");
  fs::remove(cell("out") / results::kSummaryFile);
  text += resume("out");
  text += refusals(scratch, {"run small.toml --out out"});
  expect_golden("bad_run_folders.txt", text);
  fs::remove_all(cell("out"));
  succeed("run small.toml --out out --resume --set training.rate=0.05");
}

}  // namespace
}  // namespace fedarena::test
