
#include "datasets/glyph_forms.hpp"
#include "datasets/registry.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

const Dataset& glyphs() {
  static const Dataset drawn = load_dataset("glyphs", {}, {});
  return drawn;
}

std::string digest(const torch::Tensor& bytes) {
  const auto plain = bytes.to(torch::kUInt8).contiguous();
  return sha256_of({plain.data_ptr<std::uint8_t>(), static_cast<std::size_t>(plain.numel())});
}

TEST(Glyphs, HaveTheShapeOfAPublishedSet) {
  const Dataset& set = glyphs();
  EXPECT_EQ(set.name, "glyphs");
  EXPECT_EQ(set.train.inputs.sizes(), (std::vector<std::int64_t>{12'000, 1, 28, 28}));
  EXPECT_EQ(set.test.inputs.sizes(), (std::vector<std::int64_t>{2'000, 1, 28, 28}));
  EXPECT_EQ(set.train.inputs.scalar_type(), torch::kUInt8);
  EXPECT_EQ(set.train.targets.scalar_type(), torch::kInt64);
  EXPECT_EQ(set.classes, 10);
  EXPECT_THAT(set.note, HasSubstr("synthetic"));
}

TEST(Glyphs, AreBalancedInRandomOrder) {
  for (const Examples* part : {&glyphs().train, &glyphs().test}) {
    const auto counts = torch::bincount(part->targets, {}, 10);
    EXPECT_TRUE(torch::all(counts == part->size() / 10).item<bool>()) << counts;
    // Sorted labels would have 9 changes, labels that count 0 1 2 ... only changes; a random order has 90 %.
    const auto changes = (part->targets.slice(0, 1) != part->targets.slice(0, 0, -1)).to(torch::kDouble);
    EXPECT_NEAR(changes.mean().item<double>(), 0.9, 0.03);
  }
}

// Every recorded result on glyphs rests on these bytes. A change of the generator that moves them needs a new
// name.
TEST(Glyphs, AreTheSameBytesOnEveryMachine) {
  EXPECT_EQ(digest(glyphs().train.inputs),
            "c54c51d46880737a479f570ef1033726280a25da37b8d481bdba806ca428492e");
  EXPECT_EQ(digest(glyphs().train.targets),
            "52aec77db6ab4ab8fad05aa1115921e2cf0ab46d97d3fa8f091cee8b2595d5ab");
  EXPECT_EQ(digest(glyphs().test.inputs), "c071c2e1348a7f6073f37ae305de8e3e2c8ba8d29cb4b56a9a3727da52414d7e");
  EXPECT_EQ(digest(glyphs().test.targets),
            "c3a6c94426fab17a1f48076ba8dc1f06743010eff2863e970bb8ce2119c19d61");
}

TEST(Glyphs, AreAsManyAsAreAskedFor) {
  const Dataset set = load_dataset("glyphs", {{"train", 2'010}}, {});  // not what a core draws at a time
  EXPECT_TRUE(torch::all(torch::bincount(set.train.targets, {}, 10) == 201).item<bool>());
  EXPECT_GT(set.train.inputs[2'009].max().item<int>(), 0);
  EXPECT_TRUE(torch::equal(set.test.inputs, glyphs().test.inputs));
}

TEST(Glyphs, StateTheMeanAndDeviationOfTheirTrainingPixels) {
  const auto pixels = glyphs().train.inputs.to(torch::kDouble) / 255;
  EXPECT_NEAR(pixels.mean().item<double>(), glyphs().mean.at(0), 5e-5);
  EXPECT_NEAR(pixels.std(false).item<double>(), glyphs().deviation.at(0), 5e-5);
}

TEST(Glyphs, ShowInkOnDarkerPaperInEveryImage) {
  const auto images = glyphs().train.inputs.flatten(1).to(torch::kInt32);
  const auto darkest = std::get<0>(images.min(1));
  const auto brightest = std::get<0>(images.max(1));
  EXPECT_GE((brightest - darkest).min().item<int>(), 90);
  EXPECT_EQ(darkest.min().item<int>(), 0);
  EXPECT_EQ(brightest.max().item<int>(), 255);
}

TEST(Glyphs, NeverRepeatAnImage) {
  const auto all = torch::cat({glyphs().train.inputs, glyphs().test.inputs}).flatten(1).to(torch::kInt64);
  const auto weights = torch::arange(1, 785).pow(3);
  const auto hashes = std::get<0>(torch::_unique(all.matmul(weights)));
  EXPECT_EQ(hashes.size(0), all.size(0));
}

// The nearest mean image is the weakest classifier that looks at pixels: far above chance, far from solved.
TEST(Glyphs, AreNeitherTrivialNorUnlearnable) {
  const auto prepare = [](const Examples& part) { return part.inputs.flatten(1).to(torch::kFloat) / 255; };
  const auto train = prepare(glyphs().train);
  std::vector<torch::Tensor> means;
  for (std::int64_t label = 0; label < 10; ++label)
    means.push_back(train.index_select(0, (glyphs().train.targets == label).nonzero().flatten()).mean(0));
  const auto guesses = torch::cdist(prepare(glyphs().test), torch::stack(means)).argmin(1);
  const double accuracy = (guesses == glyphs().test.targets).to(torch::kDouble).mean().item<double>();
  EXPECT_GT(accuracy, 0.4);
  EXPECT_LT(accuracy, 0.75);
}

TEST(GlyphForms, StayNearTheirBoxAndMoveThePen) {
  for (int digit = 0; digit < 10; ++digit) {
    EXPECT_GE(glyph_forms(digit).size(), 2U);
    for (const GlyphForm& form : glyph_forms(digit))
      for (const GlyphStroke& stroke : form) {
        EXPECT_GE(stroke.points.size(), 2U);
        for (const GlyphPoint& point : stroke.points) {
          EXPECT_TRUE(point.x >= 0 && point.x <= 1) << digit;
          EXPECT_TRUE(point.y >= 0 && point.y <= 1) << digit;
        }
      }
  }
}

}  // namespace
}  // namespace fedarena
