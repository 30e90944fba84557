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

Summary tuned(const Tuning& tuning = tuned_by(6)) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.tuning = tuning;
  return summary;
}

// The message about a summary whose tuning has another value for a field.
std::string refused(const std::string& field, const Json& value, const Tuning& tuning = tuned_by(6)) {
  Json json = Json::parse(to_json_text(tuned(tuning)));
  json["tuning"][field] = value;
  return message_of([&] { parse_summary(json.dump(), "summary.json"); });
}

TEST(TuningJson, IsAnObjectOfTheSummary) {
  const std::string text = to_json_text(tuned());
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
  EXPECT_EQ(parse_summary(text, ""), tuned());
}

TEST(TuningJson, ComesBackAsItWent) {
  Tuning tuning = tuned_by(12, {{"training.rate", "0.3"}, {"algorithms.\"a b\".name", "\"quoted\""}});
  tuning.search = "random";
  tuning.seed = 7;
  tuning.criterion = kByValidationLoss;
  for (const double loss : {0.25, 1e-300, std::numeric_limits<double>::infinity()}) {
    tuning.score = loss;
    EXPECT_EQ(parse_summary(to_json_text(tuned(tuning)), ""), tuned(tuning));
  }
  tuning.score = std::nan("");
  EXPECT_TRUE(std::isnan(parse_summary(to_json_text(tuned(tuning)), "").tuning->score));
  Summary running = unfinished("fedavg", 1, 3);
  running.tuning = tuned_by(1);
  EXPECT_EQ(parse_summary(to_json_text(running), ""), running);
}

TEST(TuningJson, IsAbsentWithoutTuningAndInOlderRecords) {
  const std::string text = to_json_text(finished("fedavg", 1, 0.5));
  EXPECT_THAT(text, Not(HasSubstr("tuning")));
  EXPECT_EQ(parse_summary(text, "").tuning, std::nullopt);
}

TEST(TuningJson, RefusesWhatCannotBe) {
  EXPECT_EQ(refused("search", "gird"),
            "summary.json: field \"tuning.search\" is \"gird\"; allowed: grid, random\n  the file is damaged "
            "or was "
            "edited; restore it, or run this cell again");
  EXPECT_THAT(refused("trials", 0),
              HasSubstr(R"(field "tuning.trials" is 0; allowed: a whole number from 1)"));
  EXPECT_THAT(refused("trials", 2.5), HasSubstr(R"("tuning.trials" is 2.5)"));
  EXPECT_THAT(refused("seed", "0"), HasSubstr(R"(field "tuning.seed" is "0"; allowed: a whole number)"));
  EXPECT_THAT(refused("chosen", Json::object()),
              HasSubstr(R"(field "tuning.chosen" is {}; allowed: the settings of the best trial)"));
  EXPECT_THAT(refused("chosen", Json{{"training.rate", 0.1}}),
              HasSubstr(R"(field "tuning.chosen" is {"training.rate":0.1}; allowed: an object of texts)"));
  EXPECT_THAT(refused("criterion", "test accuracy"),
              HasSubstr("\"tuning.criterion\" is \"test accuracy\"; allowed: validation accuracy, validation "
                        "loss"));
  EXPECT_THAT(refused("examples", -1),
              HasSubstr(R"("tuning.examples" is -1; allowed: a whole number from 0)"));
  EXPECT_THAT(refused("seconds", -0.5), HasSubstr(R"("tuning.seconds" is -0.5; allowed: a number from 0)"));
  EXPECT_THAT(refused("seconds", "inf"), HasSubstr(R"("tuning.seconds" is "inf")"));
  EXPECT_THAT(refused("best", 1), HasSubstr(R"(field "tuning.best" is unknown)"));
}

TEST(TuningJson, HasAFractionOrALossAsTheScore) {
  EXPECT_THAT(refused("score", "nan"),
              HasSubstr(R"("tuning.score" is "nan"; allowed: a fraction from 0 to 1)"));
  EXPECT_THAT(refused("score", 1.5), HasSubstr(R"("tuning.score" is 1.5; allowed: a fraction from 0 to 1)"));
  Tuning by_loss = tuned_by(6);
  by_loss.criterion = kByValidationLoss;
  by_loss.score = 1.5;
  EXPECT_EQ(parse_summary(to_json_text(tuned(by_loss)), "").tuning->score, 1.5);
  EXPECT_THAT(refused("score", nullptr, by_loss),
              HasSubstr(R"("tuning.score" is null; allowed: a number, "nan")"));
}

TEST(TuningJson, IsWholeOrNotThere) {
  const Json whole = Json::parse(to_json_text(tuned()));
  for (const auto& [name, value] : whole["tuning"].items()) {
    Json json = whole;
    json["tuning"].erase(name);
    EXPECT_THAT(message_of([&] { parse_summary(json.dump(), "summary.json"); }),
                HasSubstr("summary.json: field \"tuning." + name + "\" is missing"));
  }
  for (const Json& other : {Json(nullptr), Json("grid"), Json::array(), Json(6)}) {
    Json json = whole;
    json["tuning"] = other;
    EXPECT_THAT(message_of([&] { parse_summary(json.dump(), "summary.json"); }),
                HasSubstr("summary.json: field \"tuning\" is " + other.dump() + "; allowed: an object"));
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
