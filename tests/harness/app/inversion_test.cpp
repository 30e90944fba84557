// `fedarena attack --invert`: gradients turned back into images, and what is not a gradient.
#include <signal.h>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using Inversions = ScratchTest;

// Gradients of one image each, as they are.
SmallExperiment sharing_gradients(const std::string& batch_size) {
  return {.rounds = 1,
          .partition = "kind = \"iid\"\nclients = 3\ntrain_fraction = 0.01",
          .model = "name = \"dlg-lenet\"",
          .training = "batch_size = " + batch_size + "\nrate = 0.01",
          .algorithms = {"fedsgd"}};
}

TEST_F(Inversions, TurnsGradientsBackIntoImages) {
  run_small(scratch, sharing_gradients("1"));
  const std::string command = "attack out --invert idlg --clients 2 --starts 6 --iterations 60 --format json";
  const auto first = nlohmann::json::parse(succeed(command + " -o pairs.png").out)[0];
  EXPECT_EQ(first["images"], 2);
  EXPECT_EQ(first["recognisable"], 1);
  for (const auto& client : first["clients"]) {
    EXPECT_EQ(client["examples"][0]["guess"], client["examples"][0]["label"]);
    EXPECT_GT(client["examples"][0]["ssim"], 0.9);
  }
  EXPECT_THAT(content_of(scratch / "pairs.png"), StartsWith("\x89PNG"));
  EXPECT_FALSE(fs::exists(scratch / "out/fedsgd-seed-1/attack.json"));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(" 0 differences"));
  auto other = nlohmann::json::parse(succeed(command + " --workers 3").out)[0];
  EXPECT_EQ(other["picture"], "fedsgd-seed-1-idlg.png");
  EXPECT_TRUE(fs::exists(scratch / "fedsgd-seed-1-idlg.png"));
  other["picture"] = first["picture"];
  EXPECT_EQ(other, first);
}

// The network has moved by then.
TEST_F(Inversions, InvertsTheRoundAfterTheLast) {
  run_small(scratch, sharing_gradients("1"));
  const auto inverted = [&](const std::string& round) {
    return nlohmann::json::parse(
        succeed("attack out --invert dlg --iterations 1 --format json --round " + round).out)[0];
  };
  const auto first = inverted("first"), next = inverted("next");
  EXPECT_EQ(first["round"], "first");
  EXPECT_NE(first["clients"], next["clients"]);
}

TEST_F(Inversions, RefusesInversionsThatCannotBe) {
  run_small(scratch, sharing_gradients("2"));
  EXPECT_THAT(refused("attack out --invert idlg"), HasSubstr("the gradient is of 2"));
  EXPECT_THAT(refused("attack out --invert dlg --clients 9"), HasSubstr("allowed: 1 to 3"));
  EXPECT_THAT(refused("attack out --invert dlg --score loss"), HasSubstr("--score"));
  EXPECT_THAT(refused("attack out --clients 2"), HasSubstr("--invert"));
}

// Of what clients send, the rate of a step makes no gradient: others than at the global model are in it, or
// other steps than SGD's.
TEST_F(Inversions, RefusesToInvertWhatIsNoGradient) {
  const std::string steps = "local_steps = 2\nbatch_size = 4\nrate = 0.01\n";
  struct Sent {
    std::string algorithm, training, round;
    bool gradient = false;
  };
  const std::vector<Sent> all = {{"fedavg", "momentum = 0.9", "first"},
                                 {"fedavg", "weight_decay = 0.01", "first"},
                                 {"fedavg", "", "next", true},
                                 {"fednova", "", "first"},
                                 {"ditto", "", "first"},
                                 {"per-fedavg", "", "first"},
                                 {"scaffold", "", "next"},
                                 {"scaffold", "", "first", true}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Sent& sent = all[i];
    SmallExperiment experiment = sharing_gradients("4");
    experiment.algorithms = {sent.algorithm};
    experiment.training = steps + sent.training;
    const std::string out = fmt::format("out-{}", i);
    run_small(scratch, experiment, "--out " + out);
    const std::string command = "attack " + out + " --invert dlg --iterations 1 --round " + sent.round;
    if (sent.gradient) {
      succeed(command);
      continue;
    }
    EXPECT_THAT(refused(command), HasSubstr("client 0 sends is not the mean of its gradients")) << command;
  }
}

// Of eight images, and each start too short to find them: a million of them have no end.
TEST_F(Inversions, StopsAnInversionWithoutAPicture) {
  run_small(scratch, sharing_gradients("8"));
  const Outcome stopped = signal_once_it_says(
      scratch, "attack out --invert dlg --iterations 1 --starts 1000000", "the run is opened", SIGINT);
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("Stopped; nothing was written."));
  EXPECT_THAT(files_named(scratch.path(), ".png"), IsEmpty());
}

TEST_F(Inversions, RefusesTwoInversionsWithOnePicture) {
  run_small(scratch, sharing_gradients("1"));
  fs::copy(scratch / "out", scratch / "again", fs::copy_options::recursive);
  EXPECT_THAT(refused("attack out again --invert dlg"),
              HasSubstr("again/fedsgd-seed-1 and out/fedsgd-seed-1 would both write fedsgd-seed-1-dlg.png"));
  EXPECT_THAT(refused("attack out again --invert dlg -o a.png"), HasSubstr("--output names one picture"));
}

}  // namespace
}  // namespace fedarena::test
