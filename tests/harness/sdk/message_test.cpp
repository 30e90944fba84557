#include "fedarena/message.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "fedarena/algorithm.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/observations.hpp"
#include "fedarena/random.hpp"

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

constexpr Key<double> kRadius{"radius"};
constexpr Key<std::int64_t> kCount{"count"};
constexpr Key<torch::Tensor> kPixels{"images"};
constexpr Key<Params> kWeights{"weights"};

Params some_params() {
  Layout layout;
  layout.add({2});
  return {std::make_shared<const Layout>(layout), torch::ones({2})};
}

TEST(Message, HoldsOneValueOfEachKind) {
  const Message message{
      {kRadius, 0.5}, {kCount, std::int64_t{7}}, {kPixels, torch::ones({2, 2})}, {kWeights, some_params()}};
  EXPECT_EQ(message[kRadius], 0.5);
  EXPECT_EQ(message[kCount], 7);
  EXPECT_EQ(message[kPixels].numel(), 4);
  EXPECT_EQ(message[kWeights].flat().numel(), 2);
}

TEST(Message, KeepsTheOrderOfItsEntries) {
  Message message{{kRadius, 0.5}};
  message.put(kCount, std::int64_t{1});
  message.put(kPixels, torch::ones({1}));
  message.put(kRadius, 2.5);
  ASSERT_EQ(message.entries().size(), 3U);
  EXPECT_EQ(message.entries()[0].name, "radius");
  EXPECT_EQ(message.entries()[1].name, "count");
  EXPECT_EQ(message.entries()[2].name, "images");
  EXPECT_EQ(message[kRadius], 2.5);
}

TEST(Message, NamesWhatItHasWhenAKeyIsMissing) {
  const Message message{{kRadius, 0.5}, {kCount, std::int64_t{7}}};
  EXPECT_EQ(message_of<Bug>([&] { (void)message[kWeights]; }),
            "a message has no \"weights\" of type Params; it has: \"radius\" (double), \"count\" (int64)");
  EXPECT_EQ(message_of<Bug>([&] { (void)Message()[kPixels]; }),
            "a message has no \"images\" of type Tensor; it has: nothing");
}

TEST(Message, NamesTheTypeWhenAKeyHasAnother) {
  const Message message{{kRadius, 0.5}};
  const Key<std::int64_t> mistaken{"radius"};
  EXPECT_EQ(message_of<Bug>([&] { (void)message[mistaken]; }),
            "a message has no \"radius\" of type int64; it has: \"radius\" (double)");
  EXPECT_THROW(message.get_or(mistaken, std::int64_t{3}), Bug);
}

TEST(Message, FallsBackWhereAKeyIsMissing) {
  Message message;
  EXPECT_EQ(message.get_or(kRadius, 4.0), 4.0);
  message.put(kRadius, 5.0);
  EXPECT_EQ(message.get_or(kRadius, 4.0), 5.0);
  EXPECT_TRUE(message.contains("radius"));
  EXPECT_FALSE(message.contains("radius "));
}

TEST(Message, SharesNoParamsWithItsCopies) {
  Message original{{kWeights, some_params()}};
  Message copy = original;
  Params doubled = 2 * copy[kWeights];
  copy.put(kWeights, doubled);
  doubled *= 10;
  EXPECT_EQ(original[kWeights].flat()[0].item<double>(), 1);
  EXPECT_EQ(copy[kWeights].flat()[0].item<double>(), 2);
}

TEST(Message, CanChangeTheTypeOfAnEntry) {
  Message message{{kRadius, 0.5}};
  message.put(Key<std::int64_t>{"radius"}, std::int64_t{2});
  EXPECT_EQ(message.entries().size(), 1U);
  EXPECT_EQ(message[Key<std::int64_t>{"radius"}], 2);
}

TEST(Observations, AddUpByName) {
  Observations observed;
  observed.add("radius", 1.5);
  observed.add("matching-loss", 3);
  observed.add("radius", 2.5);
  Observations more;
  more.add("radius", -1);
  more.add("step2", kInfinity);
  observed.add(more);
  ASSERT_EQ(observed.values().size(), 3U);
  EXPECT_EQ(observed.values().find("radius")->second.sum, 3);
  EXPECT_EQ(observed.values().find("radius")->second.count, 3);
  EXPECT_EQ(observed.values().find("matching-loss")->second.count, 1);
  EXPECT_TRUE(std::isinf(observed.values().find("step2")->second.sum));
}

TEST(Observations, HavePlainNames) {
  Observations observed;
  for (const std::string name :
       {"", "Radius", "2nd", "-radius", "radius-", "a--b", "a b", "a_b", "r\"", "\xc3\xa4", "r\n"}) {
    EXPECT_THAT(message_of([&] { observed.add(name, 1); }), HasSubstr("an observation is called")) << name;
  }
  const std::string longest(40, 'a');
  observed.add(longest, 1);
  expect_refused("at most 40 characters", [&] { observed.add(longest + "a", 1); });
  EXPECT_EQ(observed.values().size(), 1U);
}

// The mean over them is what is written down.
TEST(Observations, CountOneValueAtLeastAndNoMoreThanAnIntegerHolds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Observations observed;
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-5}, kMost}) {
    expect_refused(fmt::format("the observation \"radius\" is recorded as {} values at once", count), [&] {
      observed.add("radius", {1, count});
    });
  }
  observed.add("radius", {1, kMost / 10});
  EXPECT_NO_THROW(observed.add("radius", {1, 1}));
  EXPECT_THROW(observed.add("radius", {1, kMost / 10}), Error);
}

class Idle final : public Algorithm {
 public:
  struct Config {
    double rate = 0.5;
    static Schema<Config> schema() { return {{"rate", &Config::rate, "a rate", Constraint::positive()}}; }
  };
  explicit Idle(Config config) : rate(config.rate) {}
  Message broadcast(const Server&) const override { return {}; }
  Message train(Client&, const Message&) const override { return {}; }
  void aggregate(Server&, const Uplink&) const override {}
  double rate;
};

TEST(Registry, CreatesFromCheckedSettings) {
  Registry registry;
  registry.add<Idle>("idle", {.summary = "s", .citation = "c", .downlink = "d", .uplink = "u"});
  const AlgorithmInfo* info = registry.find("idle");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->fields.at(0).name, "rate");
  EXPECT_EQ(dynamic_cast<const Idle&>(*info->create({})).rate, 0.5);
  EXPECT_EQ(dynamic_cast<const Idle&>(*info->create({{"rate", 2.0}})).rate, 2.0);
  EXPECT_THROW(info->create({{"rate", -2.0}}), Error);
  EXPECT_THROW(info->create({{"rat", 2.0}}), Error);
  EXPECT_EQ(registry.find("idl"), nullptr);
}

TEST(Registry, RefusesANameThatIsTaken) {
  Registry registry;
  registry.add<Idle>("idle", {});
  EXPECT_EQ(message_of([&] { registry.add<Idle>("idle", {}); }),
            "the algorithm name \"idle\" is already taken by the same plugin");
  EXPECT_EQ(registry.algorithms().size(), 1U);
}

// What a file writes beside the settings of an algorithm.
TEST(Registry, RefusesSettingsThatAreNoneOfTheAlgorithms) {
  for (const std::string name : {"name", "label", "privacy"}) {
    AlgorithmInfo info;
    info.name = "idle";
    info.fields = Idle::Config::schema().fields();
    info.fields.at(0).name = name;
    expect_refused("the setting \"" + name + "\" of algorithm \"idle\" has a name that [[algorithms]]",
                   [&] { Registry().add(info); });
  }
}

std::uint64_t first(Stream stream) { return stream(); }

TEST(Streams, AreNamedByRoundClientPurposeAndIndex) {
  const Streams streams(1, 2, 3);
  const std::uint64_t expected =
      first(Stream({.seed = 1, .round = 2, .client = 3, .purpose = Purpose::kSynthetic, .index = 4}));
  EXPECT_EQ(first(streams(Purpose::kSynthetic, 4)), expected);
  EXPECT_EQ(first(streams(Purpose::kSynthetic, 4)), expected);  // whenever it is asked for
  EXPECT_NE(first(streams(Purpose::kSynthetic, 5)), expected);
  EXPECT_NE(first(streams(Purpose::kAlgorithm, 4)), expected);
  EXPECT_NE(first(Streams(0, 2, 3)(Purpose::kSynthetic, 4)), expected);
  EXPECT_NE(first(Streams(1, 3, 3)(Purpose::kSynthetic, 4)), expected);
  EXPECT_NE(first(Streams(1, 2, 2)(Purpose::kSynthetic, 4)), expected);
}

TEST(RandomTensors, HoldTheNumbersOfTheirStream) {
  Stream drawn({.seed = 9}), same({.seed = 9});
  const torch::Tensor tensor = uniform(drawn, {2, 3}, -2, 4);
  EXPECT_EQ(tensor.sizes().vec(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensor.scalar_type(), torch::kFloat64);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(tensor.data_ptr<double>()[i], -2 + 6 * same.uniform());

  Stream gaussian({.seed = 9}), same_gaussian({.seed = 9});
  const torch::Tensor normals = normal(gaussian, {5});
  std::vector<double> expected(5);
  same_gaussian.fill_normal(std::span<double>(expected));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(normals.data_ptr<double>()[i], expected[i]);
}

TEST(RandomTensors, CanBeEmpty) {
  Stream stream({.seed = 9});
  EXPECT_EQ(normal(stream, {0, 3}).numel(), 0);
  EXPECT_EQ(uniform(stream, {0}, 0, 1).numel(), 0);
}

// Else a plugin could draw the noise of a mechanism again and subtract it.
TEST(Streams, OfAlgorithmsLeaveOutWhatTheHarnessDraws) {
  const Streams streams = Streams(1, 2, 3).for_algorithm();
  EXPECT_EQ(first(streams(Purpose::kSynthetic, 4)), first(Streams(1, 2, 3)(Purpose::kSynthetic, 4)));
  EXPECT_EQ(first(streams(Purpose::kAlgorithm)), first(Streams(1, 2, 3)(Purpose::kAlgorithm)));
  for (const Purpose purpose : {Purpose::kInitialWeights, Purpose::kPartition, Purpose::kCohort,
                                Purpose::kBatches, Purpose::kNoise, Purpose::kDataset}) {
    EXPECT_THROW(streams(purpose), Error);
  }
}

}  // namespace
}  // namespace fedarena
