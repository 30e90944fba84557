// `fedarena images`: pictures of what a round's model was trained on, from a run directory alone.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/results/images/decoded_png.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::test {
namespace {

using results::RunDirectory;
using results::SyntheticSet;

// Four grey images of 2 x 2 pixels in classes 3 and 1; the first pixel of image i is i / 10 + round.
SyntheticSet set_of(std::int64_t round) {
  std::vector<float> pixels;
  for (int image = 0; image < 4; ++image) {
    pixels.insert(pixels.end(), {static_cast<float>(image) / 10 + static_cast<float>(round), 0, 0.5, 1});
  }
  return {{{4, 1, 2, 2}, pixels}, {{4}, std::vector<std::int64_t>{3, 1, 3, 3}}};
}

// A run of the algorithm that is called `label`, with these rounds done and a set of each, if it makes any.
RunDirectory record_sets(const Scratch& scratch, const std::string& label, std::int64_t rounds,
                         bool synthetic = true) {
  RunDirectory run = RunDirectory::create(scratch / "runs" / (label + "-seed-1"), "[experiment]\n", "{}\n",
                                          results::unfinished(label, 1, 0));
  for (std::int64_t round = 1; round <= rounds; ++round) {
    if (synthetic) run.synthetic().write(round, set_of(round));
    run.append(results::round_record(round));
  }
  return run;
}

using Images = ScratchTest;

TEST_F(Images, WritesTheGridOfTheLatestRound) {
  record_sets(scratch, "fedlap", 3);
  EXPECT_EQ(succeed("images runs/fedlap-seed-1 --scale 3").out,
            "round 3: 4 images of 2 classes (1 to 3), 2 x 2 pixels, grey\n"
            "pixel values: 0 to 3.3; 25.00 % lie outside 0 to 1 and are clipped\n"
            "fedlap-seed-1-round-3.png: 22 x 14 pixels\n");
  const results::Raster grid = results::decoded_png(content_of(scratch / "fedlap-seed-1-round-3.png"));
  ASSERT_EQ(grid.width, 22);
  ASSERT_EQ(grid.height, 14);
  EXPECT_EQ(grid.at(0, 0, 0), 255) << "class 1 first; its first pixel is 3.1";
  EXPECT_EQ(grid.at(2, 3, 0), 0);
  EXPECT_EQ(grid.at(5, 2, 0), 128);
  EXPECT_EQ(grid.at(0, 8, 0), 255) << "an empty place";
  EXPECT_EQ(grid.at(8, 11, 0), 0) << "class 3, second image";
  EXPECT_FALSE(fs::exists(scratch / "fedlap-seed-1-round-3.png.partial"));
}

TEST_F(Images, WritesTheRoundThatWasAskedFor) {
  record_sets(scratch, "fedlap", 3);
  const Outcome outcome = call("images runs --round 1 -o one.png");
  EXPECT_THAT(outcome.out, HasSubstr("round 1: "));
  // 64 times: each pixel a tile's half.
  EXPECT_THAT(outcome.out, HasSubstr("one.png: 196 x 130 pixels\n"));
  EXPECT_EQ(results::decoded_png(content_of(scratch / "one.png")).width, 3 * 64 + 2 * 2);
  EXPECT_FALSE(fs::exists(scratch / "fedlap-seed-1-round-1.png"));
}

TEST_F(Images, PlotsTheHistogram) {
  record_sets(scratch, "fedlap", 1);
  for (const auto& [file, beginning] :
       std::vector<std::pair<std::string, std::string>>{{"h.svg", "<?xml"}, {"h.png", "\x89PNG"}}) {
    EXPECT_THAT(
        succeed("images runs --histogram " + file).out,
        HasSubstr(file + ": histogram, which leaves out at most 0.1 % of the pixels at either end\n"));
    EXPECT_THAT(content_of(scratch / file), StartsWith(beginning));
  }
}

TEST_F(Images, LeavesBothPicturesOrNone) {
  record_sets(scratch, "fedlap", 1);
  fs::create_directory(scratch / "bins.png");
  EXPECT_THAT(refused("images runs/fedlap-seed-1 -o grid.png --histogram bins.png"), HasSubstr("bins.png: "));
  EXPECT_FALSE(fs::exists(scratch / "grid.png"));
  EXPECT_THAT(refused("images runs/fedlap-seed-1 -o grid.png --histogram ./grid.png"),
              HasSubstr("is the picture of the images\n  Give the plot another name"));
  EXPECT_FALSE(fs::exists(scratch / "grid.png"));
}

TEST_F(Images, PrintsTheBinsAsJson) {
  record_sets(scratch, "fedlap", 1);
  const Outcome outcome = call("images runs --format json");
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("round"), 1);
  EXPECT_EQ(json.at("images"), 4);
  EXPECT_EQ(json.at("classes"), (std::vector<int>{1, 3}));
  EXPECT_EQ(json.at("smallest"), 0);
  EXPECT_NEAR(json.at("largest").get<double>(), 1.3, 1e-6);
  EXPECT_EQ(json.at("clipped"), 3.0 / 16);
  EXPECT_EQ(json.at("not_numbers"), 0);
  EXPECT_EQ(json.at("edges").size(), 101U);
  ASSERT_EQ(json.at("shares").size(), 100U);
  // The quarter that is 0 begins the bins; the largest pixel lies beyond them.
  EXPECT_EQ(json.at("shares").at(0), 4.0 / 16);
  double sum = 0;
  for (const double share : json.at("shares")) sum += share;
  EXPECT_NEAR(sum, 15.0 / 16, 1e-12);
  EXPECT_TRUE(fs::exists(scratch / "fedlap-seed-1-round-1.png"));
}

TEST_F(Images, IgnoresASetWhoseRoundIsNotRecorded) {
  record_sets(scratch, "fedlap", 1).synthetic().write(2, set_of(2));
  EXPECT_THAT(call("images runs").out, HasSubstr("round 1: "));
}

// Synthetic images that begin as examples and move by nothing.
SmallExperiment still_images() {
  return {.rounds = 4,
          .partition = "kind = \"iid\"\nclients = 2",
          .training =
              "images_per_class = 2\nbatch_size = 16\nimage_rate = 1e-12\naugmentation = \"none\"\n"
              "outer_steps = 1\nreal_batches = 1\nimage_updates = 1\nserver_epochs = 1",
          .algorithms = {"fedlap"}};
}

TEST_F(Images, AreInTheUnitsOfTheDataSet) {
  run_small(scratch, still_images());
  const results::SyntheticFolder kept(scratch / "out/fedlap-seed-1");
  EXPECT_EQ(kept.rounds(), (std::vector<std::int64_t>{1, 2, 4}));
  const SyntheticSet set = kept.read(4);
  EXPECT_EQ(set.images.shape, (std::vector<std::int64_t>{40, 1, 28, 28}));
  std::size_t bright = 0;
  for (const float pixel : std::get<std::vector<float>>(set.images.values)) {
    ASSERT_NEAR(pixel * 255, std::round(pixel * 255), 1e-2) << "no shade of an example";
    ASSERT_GE(pixel, -1e-4);
    ASSERT_LE(pixel, 1 + 1e-4);
    bright += pixel > 0.5 ? 1 : 0;
  }
  EXPECT_GT(bright, 1000U);
  EXPECT_THAT(call("images out").out, HasSubstr("; 0.00 % lie outside 0 to 1"));
}

TEST_F(Images, AreMadeAgainWithTheirRounds) {
  run_small(scratch, still_images());
  const RunDirectory run = RunDirectory::open(scratch / "out/fedlap-seed-1");
  const results::SyntheticFolder kept = run.synthetic();
  const SyntheticSet second = kept.read(2);
  const SyntheticSet last = kept.read(4);
  // As a crash would have left it before the first checkpoint, in round 10 of a longer run.
  fs::remove(run.path() / results::kCheckpointFile);
  unfinish(run.path());
  kept.write(2, set_of(2));
  kept.write(10, set_of(10));

  succeed("run small.toml --out out --resume");
  EXPECT_EQ(kept.rounds(), (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(kept.read(2), second);
  EXPECT_EQ(kept.read(4), last);
}

TEST_F(Images, AreRefusedWithARemedy) {
  record_sets(scratch, "fedlap", 7);
  record_sets(scratch, "fedavg", 2, false);
  record_sets(scratch, "new", 0);
  record_sets(scratch, "numbers", 1)
      .synthetic()
      .write(1, {{{2, 3}, std::vector<float>(6)}, {{2}, std::vector<std::int64_t>(2)}});
  record_sets(scratch, "broken", 1);
  scratch.write("runs/broken-seed-1/synthetic/round-0001/images.npy", "no array");
  record_sets(scratch, "half", 1);
  fs::remove(scratch / "runs/half-seed-1/synthetic/round-0001/labels.npy");
  scratch.write("a-file", "");
  expect_refusals(scratch, "bad_images.txt");
}

TEST_F(Images, LeaveNothingWhenGnuplotIsNotThere) {
  record_sets(scratch, "fedlap", 1);
  EXPECT_THAT(refused("images runs --histogram h.png", {.environment = {{"PATH", scratch.path().string()}}}),
              HasSubstr("fedarena: gnuplot, which draws the plots, is not installed\n  Install it"));
  EXPECT_FALSE(fs::exists(scratch / "h.png"));
  EXPECT_FALSE(fs::exists(scratch / "fedlap-seed-1-round-1.png"));
}

}  // namespace
}  // namespace fedarena::test
