#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/config/grid/grid.hpp"
#include "sample.hpp"

namespace fedarena {
namespace {

TEST(ReadExperiment, TakesWhatTheFileSays) {
  const Experiment experiment = parse_sample(kSample);
  EXPECT_EQ(experiment.name, "quickstart");
  EXPECT_EQ(experiment.seeds, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(experiment.rounds, 20);
  EXPECT_EQ(experiment.data, (Choice{"glyphs", {}}));
  EXPECT_EQ(setting(experiment.partition.settings, "clients"), Value(std::int64_t{5}));
  EXPECT_EQ(setting(experiment.model.settings, "width"), Value(std::int64_t{64}));
  EXPECT_EQ(experiment.cohort.size, 5);
  EXPECT_EQ(experiment.evaluation.every, 2);
  EXPECT_EQ(experiment.privacy, (Choice{"none", {}}));
}

TEST(ReadExperiment, FillsInEveryDefault) {
  const Experiment experiment = parse_sample(R"(
    experiment = {name = "least", seeds = [0], rounds = 1}
    data.name = "glyphs"
    partition.kind = "classes"
    model.name = "convnet"
    algorithms = [{name = "fedavg"}])");
  EXPECT_EQ(experiment.device, "cpu");
  EXPECT_EQ(experiment.dtype, "float32");
  EXPECT_EQ(experiment.cohort, Cohort{});
  EXPECT_EQ(experiment.evaluation, Evaluation{});
  EXPECT_EQ(experiment.privacy.name, "none");
  EXPECT_EQ(experiment.partition.settings,
            (Settings{{"clients", std::int64_t{10}}, {"classes_per_client", std::int64_t{2}}}));
  EXPECT_EQ(setting(experiment.model.settings, "layers"), Value(std::vector<std::int64_t>{64, 64}));
  EXPECT_EQ(
      experiment.algorithms.front(),
      (AlgorithmEntry{"fedavg", "fedavg", {{"rate", 0.01}, {"batch_size", std::int64_t{32}}}, {"none", {}}}));
}

TEST(ReadExperiment, GivesTrainingToEveryAlgorithmThatHasNoOwn) {
  const Experiment experiment = parse_sample(kSample);
  ASSERT_EQ(experiment.algorithms.size(), 2U);
  EXPECT_EQ(experiment.algorithms[0].label, "FedAvg");
  EXPECT_EQ(experiment.algorithms[0].settings, (Settings{{"rate", 0.5}, {"batch_size", std::int64_t{64}}}));
  EXPECT_EQ(experiment.algorithms[1].label, "fedprox");
  EXPECT_EQ(experiment.algorithms[1].settings, (Settings{{"rate", 0.25},
                                                         {"batch_size", std::int64_t{64}},
                                                         {"mu", 1.0},
                                                         {"average", std::string("examples")},
                                                         {"nesterov", false}}));
}

TEST(ReadExperiment, AcceptsAFileWithAByteOrderMarkAndWindowsLineEnds) {
  std::string text = "\xef\xbb\xbf";
  for (const char letter : kSample) text += letter == '\n' ? std::string("\r\n") : std::string(1, letter);
  EXPECT_EQ(parse_sample(text), parse_sample(kSample));
}

TEST(CohortSize, IsEverybodyUnlessSaidOtherwise) {
  Experiment experiment;
  EXPECT_EQ(experiment.cohort_size(7), 7);
  experiment.cohort.size = 3;
  EXPECT_EQ(experiment.cohort_size(7), 3);
  EXPECT_THROW(experiment.cohort_size(2), Error);
}

TEST(CohortSize, RoundsAFractionAndNeverTakesNobody) {
  Experiment experiment;
  experiment.cohort.fraction = 0.29;
  EXPECT_EQ(experiment.cohort_size(100), 29);
  experiment.cohort.fraction = 0.001;
  EXPECT_EQ(experiment.cohort_size(100), 1);
  experiment.cohort.fraction = 1;
  EXPECT_EQ(experiment.cohort_size(3), 3);
}

}  // namespace
}  // namespace fedarena
