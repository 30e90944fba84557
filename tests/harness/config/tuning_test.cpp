// [tuning]: as many trials for every algorithm, of an algorithm's own settings alone.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/config/grid/grid.hpp"
#include "sample.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

const std::string kTuned = tuning_sample() + "\n[tuning]\n";

std::optional<TuningPlan> plan_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_plan(parsed(text), overrides, sample_catalog()).tuning;
}

TuningPlan tuned(const std::string& lines, const std::vector<std::string>& overrides = {}) {
  const auto plan = plan_of(kTuned + lines, overrides);
  return plan ? *plan : TuningPlan{};
}

// The settings of each algorithm's trials, as the trials' names say them.
std::map<std::string, std::vector<std::string>> trials_of(const TuningPlan& plan) {
  std::map<std::string, std::vector<std::string>> trials;
  for (const GridPoint& point : plan.points) {
    for (const AlgorithmEntry& entry : point.experiment.algorithms) trials[entry.label].push_back(point.name);
  }
  return trials;
}

double rate_of(const AlgorithmEntry& entry) { return std::get<double>(setting(entry.settings, "rate")); }

// The rates that one algorithm tries.
std::vector<double> rates_of(const TuningPlan& plan, const std::string& label) {
  std::vector<double> rates;
  for (const GridPoint& point : plan.points) {
    for (const AlgorithmEntry& entry : point.experiment.algorithms) {
      if (entry.label == label) rates.push_back(rate_of(entry));
    }
  }
  return rates;
}

TEST(Tuning, IsNothingWhereThereIsNone) { EXPECT_FALSE(plan_of(tuning_sample())); }

TEST(Tuning, TriesEveryCombinationOfAGrid) {
  const TuningPlan plan =
      tuned("\"training.rate\" = [0.1, 0.3]\n\"training.batch_size\" = [16, 32, 64]\nseed = 7\n");
  EXPECT_EQ(plan.search, "grid");
  EXPECT_EQ(plan.trials, 6);
  EXPECT_EQ(plan.seed, 7);
  ASSERT_EQ(plan.points.size(), 6U);
  for (const auto& [label, trials] : trials_of(plan)) EXPECT_EQ(trials.size(), 6U) << label;
  EXPECT_EQ(plan.points[1].name, "training.batch_size=32,training.rate=0.1");
  EXPECT_THAT(plan.points[1].swept,
              ElementsAre(Pair("training.batch_size", "32"), Pair("training.rate", "0.1")));
  for (const GridPoint& point : plan.points) {
    EXPECT_THAT(point.experiment.seeds, ElementsAre(7)) << "a trial runs once";
    EXPECT_EQ(point.experiment.rounds, 20);
  }
  EXPECT_EQ(rate_of(plan.points[1].experiment.algorithms[0]), 0.1);
}

TEST(Tuning, TellsEveryTrialThePoliciesOfAll) {
  const auto plan =
      plan_of(tuning_sample() +
              "[algorithms.privacy]\npolicy = \"record\"\n[tuning]\n\"algorithms.FedAvg.rate\" = "
              "[0.1, 0.2]\n\"algorithms.fedprox.mu\" = [0.5, 1]\n");
  ASSERT_TRUE(plan && plan->points.size() == 4);
  for (const GridPoint& point : plan->points)
    EXPECT_THAT(fedarena::names_of(point.policies, &Choice::name), ElementsAre("record")) << point.name;
}

TEST(Tuning, TakesTablesOfValues) {
  const TuningPlan plan =
      tuned("\"training\" = [{rate = 0.1, batch_size = 8}, {rate = 0.2, batch_size = 16}]\n");
  EXPECT_EQ(plan.trials, 2);
  EXPECT_EQ(plan.points[1].name, "training.batch_size=16,training.rate=0.2");
}

// fedprox gives its own rate, so that two of the three tables are the same to it.
TEST(Tuning, CountsDifferentTrialsOfEachAlgorithm) {
  const std::string tables =
      "\"training\" = [{rate = 0.1, batch_size = 8}, {rate = 0.2, batch_size = 8}, {rate = 0.2, batch_size = "
      "16}]\n";
  const std::vector<std::string> own = {"algorithms.fedprox.rate=0.1"};
  EXPECT_THAT(refusal(kTuned + tables, own),
              HasSubstr("fedprox has 2 different combinations of values, those before it have 3"));
  EXPECT_THAT(refusal(kTuned + "search = \"random\"\ntrials = 3\n" + tables, own),
              HasSubstr("3 trials, and fedprox has 2 different combinations of values; allowed: at most 2"));
  const auto trials = trials_of(tuned("search = \"random\"\ntrials = 2\n" + tables, own));
  EXPECT_THAT(trials.at("fedprox"), UnorderedElementsAre("training.batch_size=16", "training.batch_size=8"))
      << "named by what it heeds, whatever value it has of its own";
}

TEST(Tuning, GivesEachAlgorithmValuesOfItsOwn) {
  const TuningPlan plan =
      tuned("\"algorithms.FedAvg.rate\" = [0.1, 0.2]\n\"algorithms.fedprox.mu\" = [0, 1]\n");
  EXPECT_EQ(plan.trials, 2);
  EXPECT_THAT(trials_of(plan),
              UnorderedElementsAre(
                  Pair("FedAvg", ElementsAre("algorithms.FedAvg.rate=0.1", "algorithms.FedAvg.rate=0.2")),
                  Pair("fedprox", ElementsAre("algorithms.fedprox.mu=0", "algorithms.fedprox.mu=1"))));
}

TEST(Tuning, DrawsDifferentCombinationsAtRandom) {
  const std::string lists =
      "search = \"random\"\n\"training.rate\" = [0.1, 0.2, 0.3, 0.4, 0.5]\n"
      "\"algorithms.fedprox.mu\" = [0, 0.1, 1]\n";
  const TuningPlan plan = tuned(lists + "trials = 5\n");
  EXPECT_EQ(plan.trials, 5);
  const auto trials = trials_of(plan);
  for (const auto& [label, names] : trials) {
    EXPECT_EQ(names.size(), 5U) << label;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 5U) << label;
  }
  std::vector<double> rates = rates_of(plan, "FedAvg");
  std::sort(rates.begin(), rates.end());
  EXPECT_THAT(rates, ElementsAre(0.1, 0.2, 0.3, 0.4, 0.5)) << "all that there are";
  EXPECT_EQ(plan, tuned(lists + "trials = 5\n"));
  EXPECT_NE(trials_of(plan), trials_of(tuned(lists + "trials = 5\nseed = 1\n")));
}

// So that --resume keeps the trials that are there.
TEST(Tuning, KeepsItsDrawsWhenThereAreMore) {
  const std::string lines =
      "search = \"random\"\n\"training.rate\" = {from = 0.001, to = 1.0, scale = \"log\"}\n"
      "\"algorithms.fedprox.mu\" = [0, 0.1, 1]\n";
  const auto few = trials_of(tuned(lines + "trials = 4\n"));
  const auto many = trials_of(tuned(lines + "trials = 9\n"));
  for (const auto& [label, names] : few) EXPECT_THAT(many.at(label), testing::IsSupersetOf(names));
}

TEST(Tuning, GivesEveryAlgorithmTheSameValuesOfARange) {
  const TuningPlan plan = tuned(
      "search = \"random\"\ntrials = 6\n\"training.rate\" = {from = 0.001, to = 1.0, scale = \"log\"}\n"
      "\"algorithms.fedprox.mu\" = {from = 0, to = 10}\n");
  std::vector<double> averaging = rates_of(plan, "FedAvg"), proximal = rates_of(plan, "fedprox");
  ASSERT_EQ(averaging.size(), 6U);
  std::sort(averaging.begin(), averaging.end());
  std::sort(proximal.begin(), proximal.end());
  EXPECT_EQ(averaging, proximal);
}

// The comparison raises a false alarm with probability 1e-6.
TEST(Tuning, DrawsUniformlyOnTheScaleOfARange) {
  for (const char* scale : {"linear", "log"}) {
    const TuningPlan plan =
        tuned(fmt::format("search = \"random\"\ntrials = 1000\n\"training.rate\" = {{from = 0.001, to = 1.0, "
                          "scale = \"{}\"}}\n",
                          scale));
    std::vector<double> rates = rates_of(plan, "FedAvg");
    ASSERT_EQ(rates.size(), 1000U);
    for (double& rate : rates) {
      EXPECT_GE(rate, 0.001);
      EXPECT_LE(rate, 1);
      rate = std::string(scale) == "log" ? std::log(rate / 0.001) / std::log(1000.0) : (rate - 0.001) / 0.999;
    }
    EXPECT_LT(kolmogorov_of_uniform(rates), kKolmogorovBound) << scale;
  }
}

TEST(Tuning, DrawsWholeNumbersBetweenWholeNumbers) {
  const TuningPlan plan =
      tuned("search = \"random\"\ntrials = 4\n\"training.batch_size\" = {from = 3, to = 6}\n");
  std::set<std::string> sizes;
  for (const GridPoint& point : plan.points) sizes.insert(point.name);
  EXPECT_THAT(sizes, ElementsAre("training.batch_size=3", "training.batch_size=4", "training.batch_size=5",
                                 "training.batch_size=6"));
}

TEST(Tuning, LeavesAloneWhatIsCompared) {
  for (const char* path :
       {"partition.clients", "model.width", "experiment.rounds", "data.name", "cohort.size", "privacy.policy",
        "privacy.noise_multiplier", "algorithms.FedAvg.privacy.policy", "algorithms.FedAvg.name",
        "evaluation.every"}) {
    EXPECT_THAT(
        refusal(kTuned + fmt::format("\"{}\" = [1, 2]\n", path)),
        HasSubstr(fmt::format("e.toml:41:1: \"{}\" is not an algorithm's to choose; allowed: ", path)));
  }
}

TEST(Tuning, TunesClipNorms) {
  const std::vector<std::string> record = {"privacy.policy=record"};
  const TuningPlan shared = tuned("\"privacy.clip_norm\" = [0.5, 2]\n", record);
  EXPECT_EQ(shared.trials, 2);
  EXPECT_EQ(
      std::get<double>(setting(shared.points[1].experiment.algorithms[0].privacy.settings, "clip_norm")), 2);
  const TuningPlan own = tuned(
      "\"algorithms.FedAvg.privacy.clip_norm\" = [0.5, 2]\n\"algorithms.fedprox.mu\" = [0.1, 1]\n", record);
  EXPECT_EQ(own.trials, 2);
}

TEST(Tuning, LetsNothingElseGiveWhatItTunes) {
  EXPECT_THAT(refusal(kTuned + "\"training.rate\" = [0.1, 0.2]\n", {"training.rate=0.3"}),
              has_all("--set training.rate=0.3: no effect: [tuning] gives \"training.rate\"",
                      "write tuning.training.rate=[value]"));
  const TuningPlan other = tuned("\"training.rate\" = [0.1, 0.2]\n", {"tuning.training.rate=[0.3]"});
  EXPECT_THAT(rates_of(other, "FedAvg"), ElementsAre(0.3));
}

TEST(Tuning, IsReadUnderProfilesToo) {
  const std::string text = kTuned + "\"training.rate\" = [0.1, 0.2]\n[profiles.quick]\n";
  EXPECT_EQ(read_plan(parsed(text + "\"tuning.training.rate\" = [0.5]\n"), {}, sample_catalog(), "quick")
                .tuning->trials,
            1);
  EXPECT_THAT(refusal(text + "\"tuning.training.rate\" = [-0.5]\n"), HasSubstr("rate is -0.5"));
}

}  // namespace
}  // namespace fedarena
