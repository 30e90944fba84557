#include <algorithm>
#include <vector>

#include "fedarena/augmentation.hpp"
#include "fedarena/base/error.hpp"

#include "tests/harness/oracle/bench.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

// 30 images of three classes and a small convolutional model.
struct Pictures : Bench {
  explicit Pictures(int workers = 2)
      : Bench(images(), 3,
              {.input_shape = {3, 8, 6},
               .outputs = 3,
               .layers = {Conv2d{3, 4, 3, 1}, GroupNorm{4, 4}, Relu{}, AveragePool{2}, Flatten{},
                          Linear{48, 3}}},
              workers) {}
  static Examples images() {
    Stream stream({.seed = 3});
    return {normal(stream, {30, 3, 8, 6}), torch::arange(30).remainder(3)};
  }
  ExactOracle exact() const { return Bench::exact(range(0, 30)); }
  RecordOracle record(double clip_norm, double noise_multiplier) const {
    return Bench::record(range(0, 30), record_policy(clip_norm, noise_multiplier));
  }
  // The gradient of one image or of all, changed beforehand.
  Params gradient(const Augmentation& augmentation, std::int64_t begin, std::int64_t count) const {
    return model.gradient(at(), {augmentation(dataset.train.inputs.narrow(0, begin, count)),
                                 dataset.train.targets.narrow(0, begin, count)});
  }
};

const std::vector<Augmentation>& augmentations() {
  using A = Augmentation;
  static const std::vector<A> kAugmentations{A(A::Color{0.3, 1.7, 0.6}), A(A::Crop{0.9, 0.05}),
                                             A(A::Cutout{0.2, 0.7}),     A(A::Flip{true}),
                                             A(A::Scale{0.9, 1.15}),     A(A::Rotate{-11})};
  return kAugmentations;
}

TEST(AugmentedGradient, IsTheGradientOfTheChangedImages) {
  const Pictures pictures;
  for (const Augmentation& augmentation : augmentations()) {
    SCOPED_TRACE(augmentation.operation().index());
    ExactOracle exact = pictures.exact();
    RecordOracle record = pictures.record(kNoClipping, 0);
    const Query query{.batch_size = 0, .augmentation = &augmentation};
    const Params expected = pictures.gradient(augmentation, 0, 30);
    EXPECT_LE(norm(exact.gradient(pictures.at(), query) - expected), 1e-12 * norm(expected));
    EXPECT_LE(norm(record.gradient(pictures.at(), query) - expected), 1e-12 * norm(expected));
    EXPECT_GT(norm(expected - pictures.gradient(Augmentation(), 0, 30)), 1e-2 * norm(expected));
  }
}

// Changed first, clipped afterwards: what a record can contribute stays bounded.
TEST(AugmentedGradient, IsClippedExampleByExample) {
  const Pictures pictures;
  constexpr double kClip = 3.2;
  for (const Augmentation& augmentation : augmentations()) {
    SCOPED_TRACE(augmentation.operation().index());
    RecordOracle oracle = pictures.record(kClip, 0);
    Params expected = zeros_like(pictures.at());
    int clipped = 0;
    for (std::int64_t example = 0; example < 30; ++example) {
      const Params gradient = pictures.gradient(augmentation, example, 1);
      clipped += norm(gradient) > kClip ? 1 : 0;
      expected.add_scaled(std::min(1.0, kClip / norm(gradient)) / 30, gradient);
    }
    EXPECT_GT(clipped, 3);
    EXPECT_LT(clipped, 30);
    const Params answer = oracle.gradient(pictures.at(), {.batch_size = 0, .augmentation = &augmentation});
    EXPECT_LE(norm(answer - expected), 1e-11 * norm(expected));
  }
}

// Neither samples nor noise nor books know of it.
TEST(AugmentedGradient, IsDrawnAndBookedLikeAnyOther) {
  const Pictures pictures;
  const Augmentation none, unflipped(Augmentation::Flip{false}), turn(Augmentation::Rotate{10});
  RecordOracle plain = pictures.record(1, 2), alike = pictures.record(1, 2), turned = pictures.record(1, 2);
  for (int i = 0; i < 4; ++i) {
    const Params expected = plain.gradient(pictures.at(), {.batch_size = 7});
    const Augmentation& idle = i % 2 == 0 ? none : unflipped;
    EXPECT_TRUE(same_bits(alike.gradient(pictures.at(), {.batch_size = 7, .augmentation = &idle}), expected));
    EXPECT_FALSE(
        same_bits(turned.gradient(pictures.at(), {.batch_size = 7, .augmentation = &turn}), expected));
    EXPECT_EQ(turned.gradient_examples(), plain.gradient_examples());
  }
  EXPECT_EQ(turned.accesses().list(), plain.accesses().list());
  EXPECT_EQ(alike.accesses().list(), plain.accesses().list());
}

TEST(AugmentedGradient, LeavesOtherAnswersAlone) {
  const Pictures pictures;
  const Augmentation turn(Augmentation::Rotate{10});
  ExactOracle oracle = pictures.exact();
  const double loss = oracle.loss(pictures.at());
  (void)oracle.gradient(pictures.at(), {.batch_size = 0, .augmentation = &turn});
  EXPECT_EQ(oracle.loss(pictures.at()), loss);
  EXPECT_TRUE(torch::equal(oracle.exact_batch().inputs, pictures.dataset.train.inputs));
}

TEST(AugmentedGradient, HasTheSameBitsForAnyNumberOfWorkers) {
  for (const Augmentation& augmentation : augmentations()) {
    const Query query{.batch_size = 12, .augmentation = &augmentation};
    const Pictures one(1), three(3);
    EXPECT_TRUE(
        same_bits(one.record(1, 1).gradient(one.at(), query), three.record(1, 1).gradient(three.at(), query)))
        << augmentation.operation().index();
  }
}

TEST(AugmentedGradient, NeedsImages) {
  const Bench bench;  // three features an example
  const Augmentation turn(Augmentation::Rotate{10}), none;
  ExactOracle exact = bench.exact(range(0, 10));
  RecordOracle record = bench.record(range(0, 10), record_policy(1, 1)),
               untouched = bench.record(range(0, 10), record_policy(1, 1));
  const Query query{.batch_size = 4, .augmentation = &turn};
  EXPECT_THROW(exact.gradient(bench.at(), query), Error);
  expect_refused(
      "the algorithm augments images, but the model's inputs are of shape [3]; allowed: [channels, height, "
      "width]",
      [&] { (void)record.gradient(bench.at(), query); });
  EXPECT_TRUE(exact.accesses().list().empty());
  EXPECT_TRUE(record.accesses().list().empty());
  // Nothing was drawn, and what changes nothing fits anything.
  EXPECT_TRUE(same_bits(record.gradient(bench.at(), {.batch_size = 4, .augmentation = &none}),
                        untouched.gradient(bench.at(), {.batch_size = 4})));
}

}  // namespace
}  // namespace fedarena
