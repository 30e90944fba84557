// How the settings of a run were chosen, in summary.json.
#include <cmath>
#include <functional>
#include <limits>

#include <nlohmann/json.hpp>

#include "results/record/record.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using Json = nlohmann::ordered_json;

Summary tuned(const Tuning& tuning) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.tuning = tuning;
  return summary;
}

TEST(TuningJson, IsAnObjectOfTheSummary) {
  const std::string text = to_json_text(tuned(tuned_by(6)));
  EXPECT_THAT(text, HasSubstr(R"(
  "tuning": {
    "search": "grid",
    "trials": 6,
    "seed": 0,
    "chosen": {
      "training.rate": "0.1"
    },
    "criterion": "validation accuracy",
    "score": 0.7123,
    "examples": 48000,
    "seconds": 12.3
  },
)"));
  EXPECT_EQ(parse_summary(text, ""), tuned(tuned_by(6)));
}

TEST(TuningJson, IsAbsentWithoutTuningAndInOlderRecords) {
  const std::string text = to_json_text(finished("fedavg", 1, 0.5));
  EXPECT_THAT(text, Not(HasSubstr("tuning")));
  EXPECT_EQ(parse_summary(text, "").tuning, std::nullopt);
}

TEST(TuningJson, IsWhole) {
  const Json whole = Json::parse(to_json_text(tuned(tuned_by(6))));
  for (const auto& [name, value] : whole["tuning"].items()) {
    Json json = whole;
    json["tuning"].erase(name);
    EXPECT_THAT(message_of([&] { parse_summary(json.dump(), "summary.json"); }),
                HasSubstr("summary.json: field \"tuning." + name + "\" is missing"));
  }
}

TEST(TuningJson, WritingWhatCouldNotBeReadIsABug) {
  const auto bug = [](const std::function<void(Tuning&)>& change) {
    Tuning tuning = tuned_by(6);
    change(tuning);
    EXPECT_THROW(to_json_text(tuned(tuning)), Bug);
  };
  bug([](Tuning& tuning) { tuning.search = "Grid"; });
  bug([](Tuning& tuning) { tuning.trials = 0; });
  bug([](Tuning& tuning) { tuning.chosen.clear(); });
  bug([](Tuning& tuning) { tuning.chosen.emplace_back("training.rate", "0.2"); });
  bug([](Tuning& tuning) { tuning.criterion.clear(); });
  bug([](Tuning& tuning) { tuning.score = std::nan(""); });
  bug([](Tuning& tuning) { tuning.examples = -1; });
  bug([](Tuning& tuning) { tuning.seconds = std::numeric_limits<double>::infinity(); });
}

}  // namespace
}  // namespace fedarena::results
