#include "results/record/roc_file.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/results/roc_samples.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Class 2 has no example.
TestRoc roc_file_sample() {
  TestRoc roc = two_class_roc(false);
  roc.classes.push_back({.positives = 0, .negatives = 4, .curve = std::nullopt});
  return roc;
}

std::string roc_refusal(const std::function<void(nlohmann::json&)>& damage) {
  nlohmann::json json = nlohmann::json::parse(to_json_text(roc_file_sample()));
  damage(json);
  return message_of([&] { parse_roc(json.dump(), "runs/a/roc.json"); });
}

TEST(RocFile, ReadsWhatItWrote) {
  const std::string text = to_json_text(roc_file_sample());
  EXPECT_EQ(parse_roc(text, "roc.json"), roc_file_sample());
  EXPECT_THAT(text, HasSubstr("{\"class\":0,\"positives\":2,\"negatives\":2,\"auc\":0.75,"
                              "\"true_positive_rates\":[0.5,0.5,"));
  EXPECT_THAT(text, HasSubstr("{\"class\":2,\"positives\":0,\"negatives\":4,\"auc\":null,"
                              "\"true_positive_rates\":null}\n]\n}\n"));
}

TEST(RocFile, IsOnDiskInItsRun) {
  const Scratch folder;
  const RunDirectory run = RunDirectory::create(folder / "a", "", "{}", finished("fedavg", 1, 0.5));
  EXPECT_EQ(read_roc(run), std::nullopt);
  write_roc(run, roc_file_sample());
  EXPECT_EQ(read_roc(run), roc_file_sample());
  EXPECT_TRUE(std::filesystem::is_regular_file(folder / "a/roc.json"));
  put(folder / "a/roc.json", "{");
  EXPECT_THAT(message_of([&] { read_roc(run); }),
              AllOf(HasSubstr("a/roc.json"), HasSubstr("not valid JSON")));
}

TEST(RocFile, DamageNamesFileAndField) {
  EXPECT_THAT(roc_refusal([](auto& json) { json["schema"] = 2; }),
              HasSubstr("runs/a/roc.json: field \"schema\" is 2; allowed: 1"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["test_examples"] = 0; }),
              HasSubstr("\"test_examples\" is 0"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"] = nlohmann::json::array(); }),
              HasSubstr("allowed: at least one class"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"][1]["class"] = 0; }),
              HasSubstr("\"class\" is 0; allowed: 1, the next one"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"][1]["positives"] = -1; }),
              HasSubstr("\"positives\" is -1"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"][0]["auc"] = 1.5; }),
              HasSubstr("\"auc\" is 1.5; allowed: a fraction from 0 to 1"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"][0]["auc"] = nullptr; }),
              HasSubstr("allowed: null exactly where \"auc\" is null"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"][0].erase("negatives"); }),
              HasSubstr("\"negatives\" is missing"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"][0]["threshold"] = 1; }),
              HasSubstr("\"threshold\" is unknown"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["classes"][2] = json["classes"][0]; }),
              HasSubstr("\"class\" is 0"));
}

TEST(RocFile, DamagedRatesAreRefused) {
  const auto rates_of = [](nlohmann::json& json) -> nlohmann::json& {
    return json["classes"][0]["true_positive_rates"];
  };
  EXPECT_THAT(roc_refusal([&](auto& json) { rates_of(json).erase(3); }), HasSubstr("allowed: 101 rates"));
  EXPECT_THAT(roc_refusal([&](auto& json) { rates_of(json)[3] = nullptr; }),
              HasSubstr("allowed: a number at each false positive rate"));
  EXPECT_THAT(roc_refusal([&](auto& json) { rates_of(json)[3] = 0.25; }),
              HasSubstr("allowed: rates of which none is below the one before"));
  EXPECT_THAT(roc_refusal([&](auto& json) { rates_of(json)[3] = -0.25; }),
              HasSubstr("fractions from 0 to 1"));
  EXPECT_THAT(roc_refusal([&](auto& json) {
                for (auto& rate : rates_of(json)) rate = 0.5;
              }),
              HasSubstr("allowed: 1 at the end, where every example counts"));
  EXPECT_THAT(roc_refusal([&](auto& json) { json["classes"][0]["positives"] = 0; }),
              HasSubstr("\"auc\" is 0.75; allowed: null for a class without examples"));
}

TEST(RocFile, WhatCannotBeReadBackIsABug) { EXPECT_THROW(to_json_text(TestRoc{}), Bug); }

}  // namespace
}  // namespace fedarena::results
