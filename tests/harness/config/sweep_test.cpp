// [sweep]: one file, a grid of experiments.
#include <string>
#include <vector>

#include "sample.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using testing::Pair;

std::vector<GridPoint> grid_of(const std::string& text, const std::vector<std::string>& overrides = {},
                               const std::optional<std::string>& profile = {}) {
  return read_grid(parsed(text), overrides, sample_catalog(), profile);
}

std::vector<GridPoint> swept(const std::string& lines, const std::vector<std::string>& overrides = {}) {
  return grid_of(kSample + "\n[sweep]\n" + lines, overrides);
}

std::vector<std::string> names_of(const std::vector<GridPoint>& points) {
  return fedarena::names_of(points, &GridPoint::name);
}

std::vector<std::string> labels_of(const GridPoint& point) {
  return fedarena::names_of(point.experiment.algorithms, &AlgorithmEntry::label);
}

TEST(Sweep, IsOnePointWithoutANameWhereThereIsNone) {
  const std::vector<GridPoint> points = grid_of(kSample);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].name, "");
  EXPECT_THAT(points[0].swept, IsEmpty());
  EXPECT_EQ(points[0].experiment, parse_sample(kSample));
  EXPECT_EQ(grid_of(kSample + "[sweep]\n"), points);
}

TEST(Sweep, IsTheProductOfItsListsWithTheLastChangingFastest) {
  const std::vector<GridPoint> points =
      swept("\"partition.clients\" = [5, 6]\n\"model.width\" = [8, 16, 32]\n");
  EXPECT_THAT(names_of(points),
              ElementsAre("model.width=8,partition.clients=5", "model.width=16,partition.clients=5",
                          "model.width=32,partition.clients=5", "model.width=8,partition.clients=6",
                          "model.width=16,partition.clients=6", "model.width=32,partition.clients=6"));
  for (const GridPoint& point : points) EXPECT_THAT(labels_of(point), ElementsAre("FedAvg", "fedprox"));
  // Each is what the same values in the file make of it.
  EXPECT_EQ(points[4].experiment, parse_sample(kSample, {"partition.clients=6", "model.width=16"}));
  EXPECT_THAT(points[4].swept, ElementsAre(Pair("model.width", "16"), Pair("partition.clients", "6")));
}

TEST(Sweep, HasTheSameNamesInAnyOrderAndSpelling) {
  EXPECT_THAT(names_of(swept(
                  "\"model.width\" = [8]\n\"algorithms.fedprox.mu\" = [1.0]\n\"partition.clients\" = [5]\n")),
              ElementsAre("model.width=8,partition.clients=5",
                          "algorithms.fedprox.mu=1,model.width=8,partition.clients=5"));
  EXPECT_THAT(names_of(swept(
                  "\"partition.clients\" = [5]\n\"algorithms.fedprox.mu\" = [1]\n\"model.width\" = [8]\n")),
              ElementsAre("model.width=8,partition.clients=5",
                          "algorithms.fedprox.mu=1,model.width=8,partition.clients=5"));
}

TEST(Sweep, TakesTablesWhereKeysDependOnAKind) {
  const std::vector<GridPoint> points = swept(
      "\"partition\" = [{kind = \"classes\", classes_per_client = 3}, {kind = \"dirichlet\", alpha = "
      "0.1}]\n");
  ASSERT_THAT(names_of(points), ElementsAre("partition.classes_per_client=3,partition.kind=classes",
                                            "partition.alpha=0.1,partition.kind=dirichlet"));
  // What the file says of the section stays.
  EXPECT_EQ(points[0].experiment.partition,
            (Choice{"classes", {{"clients", std::int64_t{5}}, {"classes_per_client", std::int64_t{3}}}}));
  EXPECT_EQ(points[1].experiment.partition,
            (Choice{"dirichlet", {{"clients", std::int64_t{5}}, {"alpha", 0.1}}}));
}

TEST(Sweep, OfASectionNeedsNothingInTheFile) {
  const std::string text = with("[evaluation]\nevery = 2\n", "") + "[sweep]\n\"evaluation.every\" = [3, 4]\n";
  const std::vector<GridPoint> points = grid_of(text);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].experiment.evaluation.every, 4);
}

TEST(Sweep, OfOneAlgorithmConcernsItsCellsAlone) {
  const std::vector<GridPoint> points =
      swept("\"partition.clients\" = [5, 6]\n\"algorithms.fedprox.mu\" = [0.1, 0.2]\n");
  EXPECT_THAT(names_of(points),
              ElementsAre("partition.clients=5", "algorithms.fedprox.mu=0.1,partition.clients=5",
                          "algorithms.fedprox.mu=0.2,partition.clients=5", "partition.clients=6",
                          "algorithms.fedprox.mu=0.1,partition.clients=6",
                          "algorithms.fedprox.mu=0.2,partition.clients=6"));
  EXPECT_THAT(labels_of(points[0]), ElementsAre("FedAvg"));
  EXPECT_THAT(labels_of(points[2]), ElementsAre("fedprox"));
  EXPECT_EQ(setting(points[2].experiment.algorithms[0].settings, "mu"), Value(0.2));
  EXPECT_EQ(points[5].experiment.partition.settings[0].second, Value(std::int64_t{6}));
}

TEST(Sweep, OfTwoAlgorithmsAddsUpAndDoesNotMultiply) {
  const std::vector<GridPoint> points = swept(
      "\"algorithms.fedprox.mu\" = [0.1, 0.2]\n\"algorithms.FedAvg\" = [{rate = 1}, {rate = 2, batch_size = "
      "8}]\n");
  EXPECT_THAT(names_of(points), ElementsAre("algorithms.FedAvg.rate=1",
                                            "algorithms.FedAvg.batch_size=8,algorithms.FedAvg.rate=2",
                                            "algorithms.fedprox.mu=0.1", "algorithms.fedprox.mu=0.2"));
  EXPECT_EQ(points[1].experiment.algorithms[0].settings,
            (Settings{{"rate", 2.0}, {"batch_size", std::int64_t{8}}}));
}

TEST(Sweep, OfTrainingDoesNotRepeatAlgorithmsThatSetTheirOwn) {
  // fedprox has a rate of its own.
  const std::vector<GridPoint> points = swept("\"training.rate\" = [0.1, 0.2, 0.3]\n");
  EXPECT_THAT(names_of(points),
              ElementsAre("training.rate=0.1", "", "training.rate=0.2", "training.rate=0.3"));
  EXPECT_THAT(labels_of(points[0]), ElementsAre("FedAvg"));
  EXPECT_THAT(labels_of(points[1]), ElementsAre("fedprox"));
  EXPECT_EQ(setting(points[1].experiment.algorithms[0].settings, "rate"), Value(0.25));
}

TEST(Sweep, NamesStayTheSameWhenAListGrows) {
  EXPECT_THAT(names_of(swept("\"training.rate\" = [0.1]\n")), ElementsAre("training.rate=0.1", ""));
  EXPECT_THAT(names_of(swept("\"training.batch_size\" = [8]\n")), ElementsAre("training.batch_size=8"));
}

TEST(Sweep, OfAPolicyDoesNotRepeatAlgorithmsUnderAnother) {
  const std::string text = with(private_sample(), "[algorithms.privacy]\nclip_norm = 0.2\n",
                                "[algorithms.privacy]\npolicy = \"none\"\n") +
                           "[sweep]\n\"privacy.noise_multiplier\" = [1, 2]\n";
  const std::vector<GridPoint> points = grid_of(text);
  EXPECT_THAT(names_of(points), ElementsAre("privacy.noise_multiplier=1", "", "privacy.noise_multiplier=2"));
  EXPECT_THAT(labels_of(points[1]), ElementsAre("fedprox"));
  // Nothing of the swept policy is left, so that the record is the same whatever values are swept.
  EXPECT_THAT(to_toml(points[1].experiment), Not(HasSubstr("noise_multiplier")));
}

TEST(Sweep, TellsEveryPointThePoliciesOfAll) {
  const std::vector<GridPoint> points =
      grid_of(with(private_sample(), "[algorithms.privacy]\nclip_norm = 0.2\n",
                   "[algorithms.privacy]\npolicy = \"none\"\n") +
              "[sweep]\n\"algorithms.fedprox.mu\" = [0.1, 0.2]\n");
  ASSERT_THAT(names_of(points), ElementsAre("", "algorithms.fedprox.mu=0.1", "algorithms.fedprox.mu=0.2"));
  for (const GridPoint& point : points)
    EXPECT_THAT(point.policies, ElementsAre(points[0].experiment.algorithms[0].privacy)) << point.name;
  EXPECT_THAT(grid_of(kSample).front().policies, IsEmpty());
}

TEST(Sweep, LeavesNoTraceInTheRecordedExperiment) {
  for (const GridPoint& point :
       swept("\"partition.clients\" = [5, 6]\n\"algorithms.fedprox.mu\" = [0.1, 0.2]\n")) {
    const std::string recorded = to_toml(point.experiment);
    EXPECT_THAT(recorded, Not(HasSubstr("sweep")));
    EXPECT_EQ(parse_sample(recorded), point.experiment);
  }
}

TEST(Sweep, NamesArePlainAndDifferentWhateverValuesHold) {
  const std::vector<GridPoint> lists = swept("\"model.layers\" = [[64, 64], [6, 464]]\n");
  ASSERT_EQ(lists.size(), 2U);
  EXPECT_NE(lists[0].name, lists[1].name);
  for (const GridPoint& point : lists) {
    EXPECT_EQ(point.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789=._-"), std::string::npos);
    EXPECT_LT(point.name.size(), 230U);
  }
  EXPECT_EQ(lists[0].swept[0].second, "[64, 64]");
}

TEST(Sweep, IsReplacedFromTheCommandLineAndByProfiles) {
  const std::string text = kSample + "\n[sweep]\n\"model.width\" = [8, 16]\n";
  EXPECT_THAT(names_of(grid_of(text, {"sweep.model.width=[32]"})), ElementsAre("model.width=32"));
  EXPECT_THAT(names_of(grid_of(kSample, {"sweep.partition=[{kind = \"dirichlet\"}]"})),
              ElementsAre("partition.kind=dirichlet"));
  const std::string profiled = text + "[profiles.one]\n\"sweep.model.width\" = [64]\n";
  const std::vector<GridPoint> points = grid_of(profiled, {}, "one");
  EXPECT_THAT(names_of(points), ElementsAre("model.width=64"));
  EXPECT_EQ(points[0].experiment.name, "quickstart-one");
}

TEST(Sweep, HasAThousandPointsAtMost) {
  std::string widths;
  for (int width = 1; width <= 1001; ++width) widths += fmt::format("{}{}", width == 1 ? "" : ", ", width);
  EXPECT_THAT(refusal(kSample + "\n[sweep]\n" + fmt::format("\"model.width\" = [{}]\n", widths)),
              ContainsRegex("^e.toml:41:[0-9]+: more than 1000 values; allowed: at most 1000$"));
  const std::string hundred = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
  EXPECT_EQ(refusal(kSample + "\n[sweep]\n" +
                    fmt::format(
                        "\"model.width\" = {0}\n\"experiment.rounds\" = {0}\n\"training.batch_size\" = {0}\n"
                        "\"evaluation.every\" = [1, 2]\n",
                        hundred)),
            "e.toml:44:1: up to here, [sweep] spans 2000 points; allowed: at most 1000");
}

}  // namespace
}  // namespace fedarena
