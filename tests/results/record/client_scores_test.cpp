// The scores of single clients, and that a run's means over clients follow from them.
#include <limits>

#include "results/audit/verify.hpp"
#include "results/record/test_metrics.hpp"
#include "tests/matchers.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

const ClientScores kScores{4, {{0, 12, 0.75, 0.5}, {2, 7, 1, 0.875}}};

TEST(ClientScores, AreOneLineAClient) {
  EXPECT_EQ(to_json_text(kScores), R"({
"schema": 1,
"round": 4,
"clients": [
{"client":0,"test_examples":12,"accuracy":0.75,"macro_f1":0.5},
{"client":2,"test_examples":7,"accuracy":1.0,"macro_f1":0.875}
]
}
)");
  EXPECT_EQ(parse_client_scores(to_json_text(kScores), ""), kScores);
}

TEST(ClientScores, RefuseWhatCannotBe) {
  const auto refused = [](const std::string& from, const std::string& to) {
    const std::string text = replaced(to_json_text(kScores), from, to);
    return message_of([&] { parse_client_scores(text, "clients.json"); });
  };
  EXPECT_THAT(refused("\"schema\": 1", "\"schema\": 2"),
              HasSubstr("field \"schema\" is 2, and this build reads 1: run the"));
  EXPECT_THAT(refused("\"client\":2", "\"client\":0"),
              HasSubstr("clients.json: field \"client\" is 0; allowed: more than 0, the one before"));
  EXPECT_THAT(refused("\"test_examples\":7", "\"test_examples\":0"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(refused("\"accuracy\":1.0", "\"accuracy\":1.5"), HasSubstr("a fraction from 0 to 1"));
  EXPECT_THAT(refused("\"accuracy\":1.0,", ""), HasSubstr("field \"accuracy\" is missing"));
  EXPECT_THAT(refused("\"accuracy\":1.0", "\"accuracy\":1.0,\"loss\":2"),
              HasSubstr("field \"loss\" is unknown"));
  EXPECT_THAT(refused("{\"client\":0,\"test_examples\":12,\"accuracy\":0.75,\"macro_f1\":0.5}", "3"),
              HasSubstr("allowed: a list of objects"));
  EXPECT_THAT(
      message_of([] { parse_client_scores(R"({"schema": 1, "round": 2, "clients": []})", "clients.json"); }),
      HasSubstr("allowed: at least one client"));
  EXPECT_THAT(refused("]\n}", "]"), HasSubstr("clients.json:8:1: not valid JSON"));
}

ClientScores with_errors(double second) {
  return {
      4,
      {{.client = 0, .test_examples = 12, .rmse = 1.5}, {.client = 2, .test_examples = 7, .rmse = second}}};
}

TEST(ClientScores, OfRegressionDataAreErrors) {
  const std::string text = to_json_text(with_errors(std::numeric_limits<double>::infinity()));
  EXPECT_THAT(text, HasSubstr(R"({"client":0,"test_examples":12,"rmse":1.5},
{"client":2,"test_examples":7,"rmse":"inf"})"));
  EXPECT_EQ(parse_client_scores(text, ""), with_errors(std::numeric_limits<double>::infinity()));
  const std::string mixed = replaced(text, R"("rmse":"inf")", R"("accuracy":1.0,"macro_f1":1.0)");
  EXPECT_THAT(message_of([&] { parse_client_scores(mixed, "clients.json"); }),
              HasSubstr("field \"rmse\" is missing"));
}

// A finished run of three clients of which two were tested after the last round.
class TestedRun {
 public:
  explicit TestedRun(const std::filesystem::path& path) : run(path, {.policy = "none"}) {
    RunDirectory directory = run.open();
    RoundRecord last = directory.rounds().back();
    last.per_client = client_metrics(kScores.clients);
    directory.replace_last(last);
    Summary summary = directory.summary();
    summary.per_client = last.per_client;
    summary.best_round = best_over_rounds(std::vector{EvaluatedRound{4, *last.per_client}});
    directory.write_summary(summary);
    directory.write_client_scores(kScores);
  }

  RecordedRun run;
};

TEST(ClientScores, GiveTheMeansOfTheirRound) {
  const Scratch folder;
  const TestedRun tested(folder / "run");
  EXPECT_EQ(tested.run.open().client_scores(), kScores);
  EXPECT_THAT(tested.run.differences(), IsEmpty());
  tested.run.edit(kClientsFile, "\"accuracy\":0.75", "\"accuracy\":0.8125");
  const std::vector<std::string> lines = tested.run.differences();
  EXPECT_THAT(lines,
              Contains(HasSubstr("rounds.jsonl: round 4 client_accuracy_worst is 0.75; recomputed: 0.8125")));
  EXPECT_THAT(lines, Contains(HasSubstr("round 4 client_accuracy_mean is 0.875; recomputed: 0.90625")));
}

TEST(ClientScores, GiveTheErrorsOfTheirRound) {
  const Scratch folder;
  const RecordedRun run(folder / "run", {.policy = "none"});
  RunDirectory directory = run.open();
  RoundRecord last = directory.rounds().back();
  last.client_errors = client_errors(with_errors(2.5).clients);
  directory.replace_last(last);
  EXPECT_THAT(run.differences(), Contains(HasSubstr("clients_tested is absent; recomputed: errors")));
  Summary summary = directory.summary();
  summary.client_errors = last.client_errors;
  directory.write_summary(summary);
  directory.write_client_scores(with_errors(2.5));
  EXPECT_THAT(run.differences(), IsEmpty());
  run.edit(kSummaryFile, "\"client_rmse_worst\": 2.5", "\"client_rmse_worst\": 2.25");
  EXPECT_THAT(run.differences(), ElementsAre("summary.json: client_rmse_worst is 2.25; recomputed: 2.5"));
  run.edit(kSummaryFile, "\"client_rmse_worst\": 2.25", "\"client_rmse_worst\": 2.5");
  run.edit(kClientsFile, "\"rmse\":1.5", "\"rmse\":0.5");
  EXPECT_THAT(run.differences(),
              Contains(HasSubstr("rounds.jsonl: round 4 client_rmse_mean is 2; recomputed: 1.5")));
  directory.write_client_scores(kScores);
  EXPECT_THAT(run.differences(), ElementsAre("clients.json: clients is accuracies; recomputed: errors"));
}

TEST(ClientScores, MustBeThoseOfTheLastRound) {
  const Scratch folder;
  const TestedRun tested(folder / "run");
  tested.run.edit(kClientsFile, "\"round\": 4", "\"round\": 3");
  EXPECT_THAT(tested.run.differences(), ElementsAre("clients.json: round is 3; recomputed: 4"));
}

TEST(ClientScores, MustBeOfClientsThatThereAre) {
  const Scratch folder;
  const TestedRun tested(folder / "run");
  tested.run.edit(kClientsFile, "\"client\":2", "\"client\":3");
  EXPECT_THAT(tested.run.differences(),
              ElementsAre("clients.json: client is 3; recomputed: below 3, the number of clients"));
}

TEST(ClientScores, ThatAreMissingAreNoted) {
  const Scratch folder;
  const TestedRun tested(folder / "run");
  const std::int64_t values = verify_run(tested.run.path()).values;
  std::filesystem::remove(tested.run.path() / kClientsFile);
  EXPECT_THAT(tested.run.differences(), IsEmpty());
  EXPECT_EQ(verify_run(tested.run.path()).values, values - 7);
  EXPECT_THAT(verify_run(tested.run.path()).notes,
              Contains(HasSubstr("has no clients.json, so the means over clients are not recomputed")));
}

// After a crash the file may be ahead of the rounds that a resumed run goes on from.
TEST(ClientScores, OfAnUnfinishedRunMayBeOfARoundThatIsRunAgain) {
  const Scratch folder;
  const RecordedRun run(folder / "run", {.policy = "none", .finished = false});
  run.open().write_client_scores({9, kScores.clients});
  EXPECT_THAT(verify_run(run.path()).differences, IsEmpty());
}

TEST(ClientScores, ThatAreDamagedAreAnError) {
  const Scratch folder;
  const TestedRun tested(folder / "run");
  put(tested.run.path() / kClientsFile, "{");
  EXPECT_THAT(message_of([&] { verify_run(tested.run.path()); }), HasSubstr("clients.json:1:"));
}

}  // namespace
}  // namespace fedarena::results
