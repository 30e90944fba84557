// `fedarena attack` and `fedarena fid` on images that clients sent.
#include <cstdint>
#include <limits>
#include <signal.h>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "results/images/image_grid.hpp"
#include "results/images/synthetic_folder.hpp"
#include "results/record/attack_file.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using SharedImages = ScratchTest;

// FedLAP's images begin as real ones, which the server sees.
SmallExperiment sharing_images() {
  SmallExperiment fedlap{.rounds = 1,
                         .partition = "kind = \"iid\"\nclients = 2\ntrain_fraction = 0.01",
                         .training = "batch_size = 16\nrate = 0.05",
                         .algorithms = {"fedlap"}};
  fedlap.more =
      "image_init = \"real\"\nimages_per_class = 3\nouter_steps = 1\nreal_batches = 1\nimage_updates = 1\n"
      "server_epochs = 2\naugmentation = \"none\"\n";
  return fedlap;
}

TEST_F(SharedImages, FindsImagesThatBeganAsRealOnes) {
  run_small(scratch, sharing_images());
  succeed("attack out --score image-distance,loss");
  const results::MembershipAttacks measured = results::read_attacks(scratch / "out/fedlap-seed-1").value();
  ASSERT_EQ(measured.attacks.size(), 2U);
  EXPECT_GT(measured.attacks[0].separation.auc, 0.6);
  EXPECT_GT(measured.attacks[0].separation.auc, measured.attacks[1].separation.auc);
}

// Of a run that was trained elsewhere, on a GPU.
TEST_F(SharedImages, TakesADeviceInPlaceOfOneThatIsNotHere) {
  run_small(scratch, sharing_images());
  const std::string run = "out/fedlap-seed-1";
  replace_in(scratch / run / "experiment.toml", "device = \"cpu\"", "device = \"cuda:99\"");
  for (const std::string command : {"attack ", "fid "}) {
    EXPECT_THAT(refused(command + run), has_all("cuda:99", "--device cpu")) << command;
    EXPECT_NE(succeed(command + run + " --device cpu").out, "") << command;
    EXPECT_THAT(refused(command + run + " --device gpu"), HasSubstr("did you mean \"cpu\"?"));
  }
}

// The distances of a set come with those of as many examples and of noise; what is no such set is told.
TEST_F(SharedImages, LeavesDistancesOfImageSetsToFid) {
  run_small(scratch, sharing_images());
  const nlohmann::json measured = nlohmann::json::parse(succeed("fid out --format json").out).at(0);
  EXPECT_EQ(measured.at("images"), 60);
  EXPECT_LT(measured.at("fid_of_training_examples").get<double>(), measured.at("fid_of_noise").get<double>());
  EXPECT_LT(measured.at("fid").get<double>(), measured.at("fid_of_noise").get<double>());
  EXPECT_THAT(measured.at("features").get<std::string>(), HasSubstr("niid-cnn"));
  const results::SyntheticFolder kept(scratch / "out/fedlap-seed-1");
  results::SyntheticSet set = kept.read(1);
  std::get<std::vector<float>>(set.images.values).front() = std::numeric_limits<float>::quiet_NaN();
  kept.write(1, set);
  for (const char* command : {"fid out", "attack out --score image-distance"})
    EXPECT_THAT(refused(command), HasSubstr("pixels that are not numbers"));
  kept.write(1, {{{2, 1, 2, 2}, std::vector<float>(8)}, {{2}, std::vector<std::int64_t>{1, 1}}});
  for (const char* command : {"fid out", "attack out --score image-distance"})
    EXPECT_THAT(refused(command), HasSubstr("images of shape [1, 2, 2]"));
  fs::remove_all(scratch / "out/fedlap-seed-1/synthetic");
  EXPECT_THAT(refused("fid out"), HasSubstr("holds no synthetic images"));
}

// Of one image there is no covariance, and of small ones the network leaves nothing.
TEST_F(SharedImages, FidRefusesDataThatItCannotMeasure) {
  const auto refusal_of = [&](std::int64_t side, int tests) {
    SmallExperiment pictures = sharing_images();
    pictures.data = "image-folder\"\npath = \"own";
    pictures.partition = "kind = \"iid\"\nclients = 2";
    for (std::uint8_t shade = 0; shade < 16 + tests; ++shade) {
      const std::string name = fmt::format("{}/{}.png", shade % 2 == 0 ? "cat" : "dog", shade);
      pictures.files[(shade < 16 ? "own/train/" : "own/test/") + name] =
          results::to_png({.width = side,
                           .height = 16,
                           .channels = 1,
                           .samples = std::vector<std::uint8_t>(static_cast<std::size_t>(side * 16), shade)});
    }
    fs::remove_all(scratch / "own");
    const std::string out = fmt::format("out-{}-{}", side, tests);
    run_small(scratch, pictures, "--out " + out);
    return refused("fid " + out);
  };
  EXPECT_THAT(refusal_of(16, 1), HasSubstr("the data have 1 test image; allowed: two images or more"));
  EXPECT_THAT(refusal_of(15, 2), HasSubstr("the images have 16x15 pixels; allowed: 16x16 or more"));
}

TEST_F(SharedImages, AnEndOfFidOnCtrlCIsOneLine) {
  run_small(scratch, sharing_images());
  const Outcome stopped =
      signal_once_it_says(scratch, "fid out --workers 1", "the network of the features", SIGINT);
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("Stopped; distances are printed once all are measured."));
  EXPECT_EQ(stopped.out, "");
}

}  // namespace
}  // namespace fedarena::test
