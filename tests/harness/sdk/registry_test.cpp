#include <string>

#include <gtest/gtest.h>

#include "fedarena/algorithm.hpp"

namespace fedarena {
namespace {

class Idle final : public Algorithm {
 public:
  struct Config {
    double rate = 0.5;
  };
  static Schema<Config> schema() { return {{"rate", &Config::rate, "a rate", Constraint::positive()}}; }
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
  try {
    registry.add<Idle>("idle", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the algorithm name \"idle\" is already taken by the same plugin");
  }
  EXPECT_EQ(registry.algorithms().size(), 1U);
}

}  // namespace
}  // namespace fedarena
