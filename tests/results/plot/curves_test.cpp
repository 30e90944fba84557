#include "results/plot/curves.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fedarena/base/error.hpp"

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

class CurvesTest : public ::testing::Test {
 protected:
  using Edit = std::function<void(RoundRecord&)>;

  // A finished run with these accuracies in its rounds; none: not evaluated.
  void record(
      Summary summary, const std::vector<std::optional<double>>& accuracies,
      const Edit& edit = [](RoundRecord&) {}) const {
    summary.rounds_done = std::ssize(accuracies);
    summary.rounds = summary.rounds_done + (summary.stopped.empty() ? 0 : 1);
    const auto path =
        scratch_ / "runs" / (summary.label + "-" + std::to_string(summary.seed) + summary.model);
    RunDirectory run = RunDirectory::create(path, "", "{}", summary);
    for (std::size_t index = 0; index < accuracies.size(); ++index) {
      RoundRecord round = round_record(static_cast<std::int64_t>(index) + 1);
      round.test_accuracy = accuracies[index];
      if (!round.test_accuracy) round.test_loss = std::nullopt;
      edit(round);
      run.append(round);
    }
  }

  Curves curves(std::string_view x = "round", const Quantity& y = known_quantity("accuracy")) const {
    return make_curves(runs(), *find_entry(x), y);
  }

  // Of the only curve.
  std::vector<CurvePoint> points(std::string_view x = "round",
                                 const Quantity& y = known_quantity("accuracy")) const {
    return curves(x, y).panels.at(0).curves.at(0).points;
  }

  std::vector<FoundRun> runs() const { return find_runs(std::vector{scratch_ / "runs"}); }

 private:
  Scratch scratch_;
};

TEST_F(CurvesTest, AreMeansWithSampleStandardDeviations) {
  record(finished("fedavg", 1, 0.7), {0.5, 0.7});
  record(finished("fedavg", 2, 0.9), {0.6, 0.9});
  const Curves drawn = curves();
  ASSERT_EQ(drawn.panels.size(), 1U);
  EXPECT_EQ(drawn.panels[0].title, "");
  ASSERT_EQ(drawn.panels[0].curves.size(), 1U);
  const Curve& curve = drawn.panels[0].curves[0];
  EXPECT_EQ(curve.name, "fedavg");
  EXPECT_THAT(curve.seeds, ElementsAre(1, 2));
  ASSERT_EQ(curve.points.size(), 2U);
  EXPECT_EQ(curve.points[1].round, 2);
  EXPECT_EQ(curve.points[1].x, 2);
  EXPECT_DOUBLE_EQ(curve.points[0].y, 55);
  EXPECT_DOUBLE_EQ(*curve.points[0].std, 10 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(curve.points[1].y, 80);
  EXPECT_DOUBLE_EQ(*curve.points[1].std, 20 / std::sqrt(2.0));
  EXPECT_THAT(beside_partitions(drawn.notes), IsEmpty());
}

// Bytes and seconds of rounds that were not evaluated count for the later ones.
TEST_F(CurvesTest, SumWhatARunHasSpentSoFar) {
  record(finished("fedavg", 1, 0.7), {0.5, std::nullopt, 0.7},
         [](RoundRecord& round) { round.cost = Cost{.gradients = 1000, .operations = 7000}; });
  ASSERT_EQ(points("bytes").size(), 2U);
  EXPECT_DOUBLE_EQ(points("bytes")[1].x, 3 * (40960.0 + 81920) / (1024 * 1024));
  EXPECT_DOUBLE_EQ(points("total-uplink")[1].x, 3 * 40960.0 / (1024 * 1024));
  EXPECT_DOUBLE_EQ(points("total-downlink")[1].x, 3 * 81920.0 / (1024 * 1024));
  EXPECT_DOUBLE_EQ(points("seconds")[0].x, 1.625);
  EXPECT_DOUBLE_EQ(points("seconds")[1].x, 4.875);
  EXPECT_DOUBLE_EQ(points("examples")[1].x, 3 * 640);
  EXPECT_EQ(points("gradients")[1].x, 3000);
  EXPECT_EQ(points("operations")[1].x, 21000);
}

TEST_F(CurvesTest, DoNotTellSizesOfSecretSamples) {
  record(finished_privately("dp-fedavg", 1, 0.7), {0.5, 0.7});
  EXPECT_EQ(curves("bytes").panels.size(), 1U) << "all clients take part, and everybody knows";
  for (const char* secret : {"examples", "seconds"}) {
    expect_refused("no row can be drawn: no " + std::string(secret) +
                       " because of drawn samples, whose sizes privacy keeps secret",
                   [&] { curves(secret); });
  }
  record(finished("fedavg", 1, 0.7), {0.5, 0.7});
  const Curves drawn = curves("round", known_quantity("gradients"));
  ASSERT_EQ(drawn.panels.at(0).curves.size(), 1U);
  EXPECT_EQ(drawn.panels[0].curves[0].name, "fedavg");
  EXPECT_THAT(drawn.notes,
              Contains(HasSubstr("dp-fedavg: no gradients because of drawn samples, whose sizes")));
}

TEST_F(CurvesTest, MarkControls) {
  Summary control = finished_privately("dp-fedavg", 1, 0.7);
  control.audit = CanaryAudit{.kind = "gradient", .canaries = 100, .guesses = 20, .control = true};
  record(control, {0.5});
  EXPECT_EQ(curves().panels.at(0).curves.at(0).name, "dp-fedavg (control)");
}

TEST_F(CurvesTest, MarkWhatAnEpsilonAssumes) {
  Summary summary = finished_privately("dp-fedavg", 1, 0.7);
  summary.privacy->settings.assume = "poisson";
  summary.privacy->assumed = true;
  record(summary, {0.5}, [](RoundRecord& round) { round.epsilon = 1; });
  EXPECT_EQ(curves("epsilon").panels.at(0).curves.at(0).marked_name(), "dp-fedavg†");
  EXPECT_EQ(curves("round").panels.at(0).curves.at(0).marked_name(), "dp-fedavg");
  EXPECT_THAT(curves_json(curves("epsilon")), HasSubstr("\"name\":\"dp-fedavg\",\"assumed\":true"));
}

// The result of the table is that of each seed's last round.
TEST_F(CurvesTest, SayWhereTheyEndBeforeTheResult) {
  Summary stopped = finished("fedavg", 1, 0.7);
  stopped.stopped = kStoppedByTarget;
  record(stopped, {0.5, 0.7});
  record(finished("fedavg", 2, 0.9), {0.5, 0.6, 0.9});
  EXPECT_EQ(points().size(), 2U);
  EXPECT_THAT(curves().notes,
              Contains(StartsWith("fedavg: its seeds ended after rounds 2-3; the curve ends")));
}

TEST_F(CurvesTest, DrawEveryMeasure) {
  record(finished("fedavg", 1, 0.7), {0.5}, [](RoundRecord& round) {
    round.validation_accuracy = 0.25;
    round.classes = ClassMetrics{.accuracy = {0.5}, .macro_f1 = 0.375};
  });
  const auto last = [&](const char* name) { return points("round", known_quantity(name))[0].y; };
  EXPECT_EQ(last("loss"), 0.25);
  EXPECT_EQ(last("validation-accuracy"), 25);
  EXPECT_EQ(last("macro-f1"), 37.5);
}

TEST_F(CurvesTest, DrawWhatAlgorithmsObserve) {
  const auto observe = [](double factor) {
    return [factor](RoundRecord& round) {
      if (round.round > 1) round.observed = {{"radius", factor * static_cast<double>(round.round)}};
    };
  };
  record(finished("fedlap", 1, 0.7), {0.5, 0.6, 0.7}, observe(1));
  record(finished("fedlap", 2, 0.9), {0.5, std::nullopt, 0.9}, observe(3));
  record(finished("fedavg", 1, 0.7), {0.7});
  const Curves drawn = curves("round", parse_quantity("--y", "radius", runs()));
  ASSERT_EQ(drawn.panels.size(), 1U);
  ASSERT_EQ(drawn.panels[0].curves.size(), 1U);
  const std::vector<CurvePoint>& points = drawn.panels[0].curves[0].points;
  ASSERT_EQ(points.size(), 2U) << "also of rounds that were not evaluated";
  EXPECT_EQ(points[0].round, 2);
  EXPECT_EQ(points[0].y, 4);
  EXPECT_DOUBLE_EQ(*points[1].std, 6 / std::sqrt(2.0));
  EXPECT_THAT(drawn.notes,
              Contains(HasSubstr("fedavg: no round in which every seed has both round and radius")));
  expect_refused(has_all("--y: \"radus\" is unknown", "seconds, radius", "did you mean \"radius\""),
                 [&] { parse_quantity("--y", "radus", runs()); });
  expect_refused("is of attacks on finished runs", [&] { parse_quantity("--y", "attack-auc:loss", runs()); });
}

TEST_F(CurvesTest, SayThatNumbersAreTooLarge) {
  record(finished("fedavg", 1, 0.7), {0.5, 0.7}, [](RoundRecord& round) { round.test_loss = kInfinity; });
  expect_refused("has both round and loss (not finite, or too large to be drawn, in some)\n",
                 [&] { curves("round", known_quantity("loss")); });
}

TEST_F(CurvesTest, NeverUnderstateAnEpsilon) {
  const auto spend = [](double factor) {
    return [factor](RoundRecord& round) { round.epsilon = factor * static_cast<double>(round.round); };
  };
  const auto claiming = [](std::int64_t seed, double epsilon) {
    Summary summary = finished_privately("dp-fedavg", seed, 0.7);
    summary.privacy->rdp = Claim{.epsilon = epsilon};
    return summary;
  };
  record(claiming(1, 1), {0.5, 0.7}, spend(0.5));
  record(claiming(2, 4), {0.5, 0.7}, spend(0.75));
  EXPECT_DOUBLE_EQ(points("epsilon")[0].x, 0.75) << "the largest over seeds";
  EXPECT_DOUBLE_EQ(points("epsilon")[1].x, 4) << "which data ended: it is charged for more than its rounds";
}

// Each is a number, and so is their mean, but neither a deviation nor an axis can be made of them.
TEST_F(CurvesTest, LeaveOutNumbersTooLargeForAPicture) {
  const auto take = [](double factor) {
    return [factor](RoundRecord& round) {
      if (round.round > 1) round.train_seconds = round.test_loss.emplace(factor * 1e307);
    };
  };
  record(finished("fedavg", 1, 0.7), {0.5, 0.6, 0.7}, take(9));
  record(finished("fedavg", 2, 0.7), {0.5, 0.6, 0.7}, take(3));
  EXPECT_THAT(points("seconds"), SizeIs(1));
  EXPECT_THAT(points("round", known_quantity("loss")), SizeIs(1));
}

TEST_F(CurvesTest, LeaveOutWhatCannotBeDrawn) {
  Summary infinite = finished_privately("dp-fedavg", 1, 0.7);
  infinite.privacy->rdp = Claim{.epsilon = kInfinity};
  record(infinite, {0.5, 0.7}, [](RoundRecord& round) { round.epsilon = round.round == 1 ? 1 : kInfinity; });
  record(finished("fedavg", 1, 0.7), {0.5, 0.7});
  const Curves drawn = curves("epsilon");
  ASSERT_EQ(drawn.panels[0].curves.size(), 1U);
  EXPECT_EQ(drawn.panels[0].curves[0].points.size(), 1U);
  EXPECT_THAT(drawn.notes, Contains("fedavg: no round in which every seed has both epsilon and "
                                    "accuracy; not drawn"));
}

TEST_F(CurvesTest, SayWhichSettingRecordsWhatNoRunHas) {
  record(finished("fedavg", 1, 0.7), {0.5, 0.7}, [](RoundRecord& round) { round.per_client.reset(); });
  expect_refused("Rounds record worst-client with [evaluation] per_client = true.",
                 [&] { curves("round", known_quantity("worst-client")); });
}

TEST_F(CurvesTest, HaveOnlyRoundsThatEverySeedReached) {
  const auto stopped = [](std::int64_t seed) {
    Summary summary = finished("fedavg", seed, 0.7);
    summary.stopped = kStoppedByPatience;
    return summary;
  };
  record(stopped(1), {0.5, std::nullopt, 0.7, 0.8});
  record(stopped(2), {0.6, 0.6, 0.8, std::nullopt});
  std::vector<std::int64_t> rounds;
  const Curves drawn = curves();
  ASSERT_THAT(drawn.panels[0].curves[0].seeds, ElementsAre(1, 2));
  for (const CurvePoint& point : drawn.panels[0].curves[0].points) rounds.push_back(point.round);
  EXPECT_THAT(rounds, ElementsAre(1, 3));
}

TEST_F(CurvesTest, OfOtherSettingsHaveOtherPanels) {
  const auto with_model = [](const std::string& label, const std::string& model) {
    Summary summary = finished(label, 1, 0.7);
    summary.model = model;
    return summary;
  };
  record(with_model("fedavg", "cnn"), {0.5});
  record(with_model("fedprox", "cnn"), {0.6});
  record(with_model("fedavg", "mlp"), {0.7});
  const Curves drawn = curves();
  ASSERT_EQ(drawn.panels.size(), 2U);
  EXPECT_EQ(drawn.title, "Experiment quickstart, data set digits, partition iid");
  EXPECT_EQ(drawn.panels[0].title, "model cnn");
  EXPECT_EQ(drawn.panels[0].curves.size(), 2U);
  EXPECT_EQ(drawn.panels[1].title, "model mlp");
}

// Those of an algorithm that the swept key does not concern.
TEST_F(CurvesTest, OfNoPointOfAGridHaveAPanelWithAName) {
  record(finished("fedavg", 1, 0.7), {0.5});
  Summary swept = finished("fedprox", 1, 0.7);
  swept.sweep = {{"training.mu", "0.1"}};
  record(swept, {0.6});
  const Curves drawn = curves();
  ASSERT_EQ(drawn.panels.size(), 2U);
  EXPECT_EQ(drawn.panels[0].title, "no swept setting");
  EXPECT_EQ(drawn.panels[1].title, "training.mu=0.1");
}

TEST_F(CurvesTest, AreOfTheErrorWhereNoRunHasAnAccuracy) {
  EXPECT_EQ(default_quantity({}).name, "accuracy");
  Summary regression = finished("fedavg", 1, 0.7);
  regression.final_test_accuracy = std::nullopt;
  record(regression, {0.5, 0.7}, [](RoundRecord& round) {
    round.test_accuracy = std::nullopt;
    round.test_loss = 2;
  });
  EXPECT_EQ(default_quantity(runs()).name, "rmse");
  EXPECT_EQ(points("round", default_quantity(runs()))[1].y, 2);
  record(finished("fedprox", 1, 0.7), {0.5});
  EXPECT_EQ(default_quantity(runs()).name, "accuracy");
}

TEST_F(CurvesTest, RefuseWhatHasNothingToDraw) {
  record(unfinished("fedavg", 1, 1), {0.5});
  expect_refused(
      "no run is finished, so there is nothing to draw\n  fedavg: seed 1 is unfinished (1 of 1 rounds) and "
      "not counted.\n",
      [&] { curves(); });
  record(finished("fedprox", 1, 0.7), {0.5});
  EXPECT_THAT(beside_partitions(curves().notes), ElementsAre(HasSubstr("fedavg: seed 1 is unfinished")));
}

TEST_F(CurvesTest, AsJsonHoldEveryPoint) {
  record(finished("fedavg", 1, 0.7), {0.5, 0.75});
  const auto json = nlohmann::json::parse(curves_json(curves()));
  EXPECT_EQ(json["y"], "accuracy");
  const auto& curve = json["panels"][0]["curves"][0];
  EXPECT_EQ(curve["name"], "fedavg");
  EXPECT_EQ(curve["points"][1], nlohmann::json({{"round", 2}, {"x", 2.0}, {"y", 75.0}, {"std", nullptr}}));
}

}  // namespace
}  // namespace fedarena::results
