#include "results/record/roc_file.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<NamedRoc> roc_file_sample() {
  const std::vector<double> positives = {4, 2}, negatives = {3, 1};
  return {{"loss", roc_curve(positives, negatives).value()},
          {"entropy", roc_curve(negatives, positives).value()}};
}

std::string roc_refusal(const std::function<void(nlohmann::json&)>& damage) {
  nlohmann::json json = nlohmann::json::parse(to_json_text(roc_file_sample()));
  damage(json);
  return message_of([&] { parse_roc(json.dump(), "runs/a/roc.json"); });
}

TEST(RocFile, ReadsWhatItWrote) {
  const std::string text = to_json_text(roc_file_sample());
  EXPECT_EQ(parse_roc(text, "roc.json"), roc_file_sample());
  EXPECT_THAT(text, testing::StartsWith("{\n\"schema\": 2,\n\"curves\": [\n"
                                        "{\"name\":\"loss\",\"auc\":0.75,\"true_positive_rates\":[0.5,"));
  EXPECT_THAT(text, HasSubstr("1.0]},\n{\"name\":\"entropy\",\"auc\":0.25,"));
}

TEST(RocFile, IsOnDiskInItsRun) {
  const Scratch folder;
  const RunDirectory run = RunDirectory::create(folder / "a", "", "{}", finished("fedavg", 1, 0.5));
  EXPECT_THAT(read_roc(run), IsEmpty());
  write_roc(run, roc_file_sample());
  EXPECT_EQ(read_roc(run), roc_file_sample());
  put(folder / "a/roc.json", "{");
  EXPECT_THAT(message_of([&] { read_roc(run); }),
              AllOf(HasSubstr("a/roc.json"), HasSubstr("not valid JSON")));
}

TEST(RocFile, DamageNamesFileAndField) {
  EXPECT_THAT(roc_refusal([](auto& json) { json["schema"] = 1; }),
              HasSubstr("runs/a/roc.json: field \"schema\" is 1"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["curves"] = nlohmann::json::array(); }),
              HasSubstr("allowed: at least one curve"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["curves"][1]["name"] = "loss"; }),
              HasSubstr("\"name\" is \"loss\"; allowed: another text for each curve"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["curves"][1]["name"] = ""; }), HasSubstr("\"name\" is \"\""));
  EXPECT_THAT(roc_refusal([](auto& json) { json["curves"][0]["auc"] = 1.5; }),
              HasSubstr("\"auc\" is 1.5; allowed: a fraction from 0 to 1"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["curves"][0].erase("auc"); }),
              HasSubstr("\"auc\" is missing"));
  EXPECT_THAT(roc_refusal([](auto& json) { json["curves"][0]["threshold"] = 1; }),
              HasSubstr("\"threshold\" is unknown"));
}

TEST(RocFile, DamagedRatesAreRefused) {
  const auto rates_of = [](nlohmann::json& json) -> nlohmann::json& {
    return json["curves"][0]["true_positive_rates"];
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
}

TEST(RocFile, WhatCannotBeReadBackIsABug) { EXPECT_THROW(to_json_text(std::vector<NamedRoc>()), Bug); }

}  // namespace
}  // namespace fedarena::results
