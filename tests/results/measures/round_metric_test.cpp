// Metrics of single rounds, and tables by them.
#include "results/measures/round_metric.hpp"

#include <cmath>

#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

// Ten rounds of 1,000 bytes up and 3,000 down, evaluated at every second one: accuracy goes up to round 6 and
// down after it. Epsilon of round r is r / 4.
std::vector<RoundRecord> ten_rounds(double shift = 0) {
  std::vector<RoundRecord> rounds;
  for (std::int64_t round = 1; round <= 10; ++round) {
    RoundRecord& record = rounds.emplace_back(round_record(round));
    record.uplink_bytes = 1000;
    record.downlink_bytes = 3000;
    record.epsilon = static_cast<double>(round) / 4;
    record.test_accuracy = record.test_loss = std::nullopt;
    if (round % 2 == 1) continue;
    const double best = 0.75 + shift;
    record.test_accuracy = best - 0.0625 * std::abs(static_cast<double>(round - 6));
    record.test_loss = 1 - *record.test_accuracy;
    record.classes = ClassMetrics{.accuracy = {0.5}, .macro_f1 = *record.test_accuracy / 2};
    record.per_client = ClientMetrics{.tested = 3,
                                      .accuracy_mean = *record.test_accuracy / 2,
                                      .accuracy_worst = *record.test_accuracy / 4,
                                      .macro_f1_mean = *record.test_accuracy / 8};
  }
  return rounds;
}

Reading read(const std::string& text, const std::vector<RoundRecord>& rounds = ten_rounds()) {
  return read_metric(parse_round_metric(text), {}, rounds);
}

TEST(RoundMetric, OfTheLastRoundIsNotTheBestOnTest) {
  EXPECT_EQ(read("accuracy").value, 0.5);
  EXPECT_EQ(read("accuracy").round, 10);
  EXPECT_EQ(read("loss").value, 0.5);
  EXPECT_EQ(read("macro-f1").value, 0.25);
  EXPECT_EQ(read("client-accuracy").value, 0.25);
  EXPECT_EQ(read("worst-client").value, 0.125);
  EXPECT_EQ(read("client-macro-f1").value, 0.0625);
  EXPECT_EQ(read("client-rmse").value, std::nullopt);
  std::vector<RoundRecord> errors = ten_rounds();
  errors[9].client_errors = ClientErrors{.tested = 3, .rmse_mean = 2, .rmse_worst = 5, .rmse_std = 1};
  EXPECT_EQ(read("client-rmse", errors).value, 2);
  EXPECT_EQ(read("worst-client-rmse", errors).value, 5);
}

TEST(RoundMetric, OfAClassIsOfThatClassAlone) {
  std::vector<RoundRecord> rounds = ten_rounds();
  rounds[9].classes->accuracy = {0.75, std::nullopt, 0.25, 0.5};
  EXPECT_EQ(read("class:0", rounds).value, 0.75);
  EXPECT_EQ(read("class:2", rounds).value, 0.25);
  EXPECT_EQ(read("class:0@round=8", rounds).value, 0.5);
  EXPECT_EQ(read("worst-class", rounds).value, 0.25) << "classes without test examples are none of them";
  EXPECT_EQ(read("class:1", rounds).missing, "no class:1 in the rounds") << "it has no test examples";
  EXPECT_EQ(read("class:4", rounds).missing, "no class:4 in the rounds, whose classes are 0 to 3");
}

TEST(RoundMetric, OfTheBestMeanOverClientsIsItsLargestSoFar) {
  EXPECT_EQ(read("bmta").value, 0.375) << "of round 6, which was the best";
  EXPECT_EQ(read("bmta").round, 10) << "where it was asked";
  EXPECT_EQ(read("bmta@round=4").value, 0.3125) << "round 6 was yet to come";
  EXPECT_EQ(read("bmt-f1").value, 0.09375);
  EXPECT_EQ(read("bmt-f1@round=5").missing, "no evaluation of round 5");
  std::vector<RoundRecord> untested = ten_rounds();
  for (RoundRecord& round : untested) round.per_client = std::nullopt;
  EXPECT_EQ(read("bmta", untested).missing,
            "no bmta in the rounds, which record it with [evaluation] per_client = true");
  EXPECT_EQ(describe(parse_round_metric("bmta")),
            "BMTA (best mean over clients of accuracy of any round evaluated so far, hence chosen on test "
            "examples) "
            "after the last round");
}

TEST(RoundMetric, OfACostIsWhatWasSpentByThatRound) {
  std::vector<RoundRecord> rounds = ten_rounds();
  const double round_seconds = rounds[0].train_seconds + rounds[0].evaluation_seconds;
  EXPECT_EQ(read("total-uplink").value, 10 * 1000 / (1024.0 * 1024));
  EXPECT_EQ(read("bytes").value, 10 * 4000 / (1024.0 * 1024));
  EXPECT_EQ(read("seconds@round=5").value, 5 * round_seconds) << "which was not evaluated";
  EXPECT_EQ(read("seconds@epsilon=1.25").round, 4) << "the round whose accuracy is read";
  EXPECT_EQ(read("examples@round=2").value, 2 * static_cast<double>(rounds[0].examples));
  EXPECT_EQ(read("gradients@round=2").value, 2 * static_cast<double>(rounds[0].cost.gradients));
}

// What is read at a round that all have, or after the run, an early end does not make smaller.
TEST(RoundMetric, IsSpentUntilTheEndOfWhatIsCountedUpToTheLastRound) {
  for (const char* spent : {"bytes", "seconds", "examples", "round", "epsilon"})
    EXPECT_TRUE(is_spent_until_the_end(parse_round_metric(spent))) << spent;
  for (const char* other : {"accuracy", "bytes@round=3", "attack-auc:loss"})
    EXPECT_FALSE(is_spent_until_the_end(parse_round_metric(other))) << other;
}

TEST(RoundMetric, MayBeWhatAnAlgorithmObserves) {
  const Scratch flacking;
  RunDirectory run = RunDirectory::create(flacking / "fedlap", "", "{}", finished("fedlap", 1, 0.5));
  std::vector<RoundRecord> rounds = ten_rounds();
  for (RoundRecord& round : rounds) {
    if (round.round < 9) round.observed = {{"radius", 0.5 * static_cast<double>(round.round)}, {"walk", 7}};
    run.append(round);
  }
  const std::vector<FoundRun> runs = find_runs(std::vector{flacking.path()});
  const auto of = [&](const std::string& text) {
    return read_metric(parse_round_metric(text, runs), {}, rounds);
  };
  EXPECT_EQ(of("radius@round=3").value, 1.5);
  EXPECT_EQ(of("radius@round=9").missing, "no radius in the rounds");
  expect_refused(
      "seconds, radius, walk, round, epsilon, attack-auc:SCORE, attack-tpr-1:SCORE, attack-tpr-01:SCORE, "
      "attack-advantage:SCORE; did you mean \"radius\"?",
      [&] { parse_round_metric("radus", runs); });
  expect_refused("--metric: \"radius\" is unknown", [&] { parse_round_metric("radius"); });
}

TEST(RoundMetric, OfARoundIsOfThatRoundAlone) {
  EXPECT_EQ(read("accuracy@round=6").value, 0.75);
  EXPECT_EQ(read("accuracy@round=4").value, 0.625);
  EXPECT_EQ(read("accuracy@round=5").value, std::nullopt);
  EXPECT_EQ(read("accuracy@round=5").missing, "no evaluation of round 5");
  EXPECT_EQ(read("accuracy@round=11").missing, "no round 11");
}

TEST(RoundMetric, AtAnEpsilonIsNoneWhereDataMayHaveDecidedHowMuchWasSpent) {
  PrivacyClaim claim{
      .rdp = Claim{.epsilon = 2.0}, .made_rdp = Claim{.epsilon = 1.5}, .varied = true, .budget = 2.0};
  const auto of = [&](const std::string& text) {
    return read_metric(parse_round_metric(text), claim, ten_rounds());
  };
  EXPECT_EQ(of("accuracy@epsilon=1.9").missing,
            "no epsilon of a round, because answers may have decided what was asked for");
  EXPECT_EQ(of("accuracy@epsilon=2").round, 8) << "the budget is proven";
  EXPECT_EQ(of("accuracy@round=4").round, 4);
  const auto epsilons = [&] { return values_of(*find_entry("epsilon"), claim, ten_rounds()); };
  EXPECT_THAT(epsilons(), testing::Each(2.0));
  claim.varied = false;
  EXPECT_EQ(of("accuracy@epsilon=1.9").round, 6) << "a rule left out what was planned";
  EXPECT_EQ(epsilons().front(), 0.25);
  claim.varied = true;
  claim.budget = 0;
  EXPECT_EQ(of("accuracy@epsilon=2").value, std::nullopt);
}

TEST(RoundMetric, AtAnEpsilonIsOfTheLastEvaluatedRoundWithin) {
  EXPECT_EQ(read("accuracy@epsilon=1").round, 4);
  EXPECT_EQ(read("accuracy@epsilon=1.25").round, 4) << "round 5 is within, but was not evaluated";
  EXPECT_EQ(read("accuracy@epsilon=1.4999").round, 4);
  EXPECT_EQ(read("accuracy@epsilon=1.5").round, 6);
  EXPECT_EQ(read("accuracy@epsilon=100").round, 10);
  EXPECT_EQ(read("accuracy@epsilon=0.4").missing, "no evaluated round with an epsilon of at most 0.4");
  std::vector<RoundRecord> open = ten_rounds();
  for (RoundRecord& round : open) round.epsilon = std::nullopt;
  EXPECT_EQ(read("accuracy@epsilon=3", open).missing, "no epsilon");
}

TEST(RoundMetric, AtTheBestValidationLooksAtNoTest) {
  std::vector<RoundRecord> rounds = ten_rounds();  // best on tests in round 6
  for (RoundRecord& round : rounds) {
    if (!round.test_loss) continue;
    const bool best = round.round == 4 || round.round == 8;
    round.validation_loss = best ? 3 : 1;  // which counts only without accuracies
    round.validation_accuracy = best ? 0.9 : 0.5;
  }
  EXPECT_EQ(read("accuracy@best-validation", rounds).round, 4) << "the first of equal ones";
  EXPECT_EQ(read("accuracy@best-validation", rounds).value, 0.625);
  EXPECT_EQ(read("worst-client@best-validation", rounds).round, 4);
  rounds[3].validation_loss = std::nan("");
  EXPECT_EQ(read("accuracy@best-validation", rounds).round, 8) << "what diverged has an accuracy, too";
  rounds[3].validation_loss = 3;
  for (RoundRecord& round : rounds) round.validation_accuracy.reset();
  EXPECT_EQ(read("accuracy@best-validation", rounds).round, 2) << "the smallest loss";
  rounds[1].validation_loss = std::nan("");
  EXPECT_EQ(read("accuracy@best-validation", rounds).round, 6);
  EXPECT_EQ(read("accuracy@best-validation").missing, "no validation examples");
}

TEST(RoundMetric, UntilAValidationAccuracyIsACostThatLooksAtNoTest) {
  std::vector<RoundRecord> rounds = ten_rounds();  // tests go down after round 6
  for (RoundRecord& round : rounds) {
    if (!round.test_loss) continue;
    round.validation_loss = 1;
    round.validation_accuracy = static_cast<double>(round.round) / 10;
  }
  EXPECT_EQ(read("round@validation-accuracy=0.7", rounds).value, 8);
  EXPECT_EQ(read("round@validation-accuracy=0.8", rounds).value, 8);
  EXPECT_EQ(read("round@validation-accuracy=0", rounds).value, 2);
  EXPECT_EQ(read("bytes@validation-accuracy=0.7", rounds).value, 8 * 4000 / (1024.0 * 1024));
  EXPECT_EQ(read("accuracy@validation-accuracy=0.7", rounds).value, 0.625);
  EXPECT_EQ(read("round", rounds).value, 10);
  rounds[7].validation_loss = std::nan("");
  EXPECT_EQ(read("round@validation-accuracy=0.7", rounds).value, 10) << "what diverged has an accuracy, too";
  EXPECT_EQ(read("round@validation-accuracy=1", rounds).value, 10);
  rounds.back().validation_accuracy = 0.9;
  EXPECT_EQ(read("round@validation-accuracy=0.95", rounds).missing,
            "no evaluated round with a validation accuracy of at least 0.95");
  EXPECT_EQ(read("round@validation-accuracy=0.5").missing, "no validation accuracy");
  EXPECT_EQ(heading(parse_round_metric("round@validation-accuracy=0.7")), "round at validation ≥ 0.7");
  EXPECT_EQ(describe(parse_round_metric("round@validation-accuracy=0.7")),
            "Rounds done after the first evaluated round whose validation accuracy is at least 0.7");
}

// At the end a run claims what its rounds were charged, and more where data ended it.
TEST(RoundMetric, OfAnEpsilonIsTheClaimAtTheEnd) {
  PrivacyClaim claim{.rdp = Claim{.epsilon = 3.0}};
  const auto of = [&](const char* text) {
    return read_metric(parse_round_metric(text), claim, ten_rounds());
  };
  EXPECT_EQ(of("epsilon").value, 3);
  EXPECT_EQ(of("epsilon@round=8").value, 2);
  std::vector<RoundRecord> validated = ten_rounds();
  validated[3].validation_loss = validated[3].validation_accuracy = 0.9;
  for (const char* text : {"epsilon@best-validation", "epsilon@validation-accuracy=0.9"}) {
    const RoundMetric metric = parse_round_metric(text);
    EXPECT_EQ(read_metric(metric, claim, validated).value, 3) << "private scores choose the round";
    EXPECT_THAT(describe(metric), EndsWith(" of the whole run, since private scores choose the round"));
  }
  claim.rdp = unproven("why");
  EXPECT_EQ(of("epsilon").missing, "no epsilon in the rounds");
  claim.varied = true;
  EXPECT_THAT(of("epsilon@round=8").missing, HasSubstr("answers may have decided"));
}

TEST(RoundMetric, AtANumberOfBytesCountsBothDirectionsFromTheStart) {
  EXPECT_EQ(read("accuracy@bytes=8000").round, 2);
  EXPECT_EQ(read("accuracy@bytes=15999").round, 2);
  EXPECT_EQ(read("accuracy@bytes=16000").round, 4);
  EXPECT_EQ(read("accuracy@bytes=1e9").round, 10);
  EXPECT_EQ(read("accuracy@bytes=7999").missing,
            "no evaluated round by which at most 7999 bytes were sent and received");
}

TEST(RoundMetric, ThatARunLacksSaysSo) {
  EXPECT_EQ(read("rmse").missing, "no rmse in the rounds");
  std::vector<RoundRecord> lacking = ten_rounds();
  for (RoundRecord& round : lacking) round.classes = std::nullopt;
  EXPECT_EQ(read("macro-f1", lacking).missing, "no macro-f1 in the rounds");
  for (RoundRecord& round : lacking) round.validation_accuracy = std::nullopt;
  EXPECT_EQ(read("validation-accuracy", lacking).missing,
            "no validation-accuracy in the rounds, which record it with [evaluation] validation_fraction "
            "or held_out_clients, of classes");
  for (RoundRecord& round : lacking) round.test_accuracy = std::nullopt;
  EXPECT_EQ(read("rmse", lacking).value, 1) << "the root of twice 0.5";
}

TEST(RoundMetric, IsRefusedWithTheNearestName) {
  const auto refused = [](const std::string& text) { return message_of([&] { parse_round_metric(text); }); };
  for (const char* text : {"class:", "class:-1", "class:x", "class:1x", "rounds"})
    EXPECT_THAT(refused(text), HasSubstr("is unknown; allowed: accuracy")) << text;
  EXPECT_THAT(
      refused("accuracy@best"),
      HasSubstr("\"best\" is unknown; allowed: round, epsilon, bytes, validation-accuracy, best-validation"));
  EXPECT_THAT(
      refused("accuracy@best-validation=3"),
      HasSubstr("--metric accuracy@best-validation=3: it takes no limit; allowed: accuracy@best-validation"));
  EXPECT_THAT(refused("accuracy@round"), HasSubstr("the limit is \"\"; allowed: a whole number from 1"));
  EXPECT_THAT(refused("accuracy@round=0"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(refused("accuracy@round=2.5"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(refused("accuracy@epsilon=-1"), HasSubstr("a number from 0"));
  EXPECT_THAT(refused("accuracy@epsilon=inf"), HasSubstr("a number from 0"));
  EXPECT_THAT(refused("accuracy@bytes=1e6MB"), HasSubstr("a number from 0"));
  EXPECT_THAT(refused("round@validation-accuracy=70"), HasSubstr("allowed: a fraction from 0 to 1"));
  EXPECT_THAT(refused(""), HasSubstr("--metric: \"\" is unknown"));
}

// Two algorithms with two seeds each, on disk.
class MetricTable : public ::testing::Test {
 protected:
  void add(const std::string& label, std::int64_t seed, const std::vector<RoundRecord>& rounds) {
    Summary summary = finished(label, seed, *rounds.back().test_accuracy);
    summary.rounds = 10;
    summary.rounds_done = static_cast<std::int64_t>(rounds.size());
    if (summary.rounds_done < summary.rounds) summary.stopped = kStoppedByTarget;
    const auto path = flacking_ / fmt::format("{}-seed-{}", label, seed);
    RunDirectory run = RunDirectory::create(path, "", "{}", summary);
    for (const RoundRecord& round : rounds) run.append(round);
  }
  Table table(const std::string& metric) {
    const std::vector<FoundRun> runs = find_runs(std::vector{flacking_.path()});
    return make_table(runs, parse_round_metric(metric, runs));
  }

 private:
  Scratch flacking_;
};

TEST_F(MetricTable, HasTheMetricInPlaceOfTheAccuracy) {
  for (const std::int64_t seed : {1, 2}) {
    const auto shift = 0.0625 * static_cast<double>(seed - 1);
    add("fedavg", seed, ten_rounds(shift));
    add("fedprox", seed, ten_rounds(shift - 0.25));
  }
  const Table accuracy = table("accuracy@round=6");
  EXPECT_THAT(to_markdown(reader_table(accuracy)),
              has_all("| accuracy (%) at round 6 |", "|        **78.13 ± 4.42** |",
                      "Accuracy after round 6: mean ± sample standard deviation over seeds."));
  // Less is better.
  const Table loss = table("loss@epsilon=1.5");
  EXPECT_THAT(to_markdown(reader_table(loss)), has_all("| loss at epsilon ≤ 1.5 |", "**0.2188 ± 0.0442**"));
  EXPECT_THAT(to_latex(reader_table(loss)),
              has_all("& {loss at epsilon $\\leq$ 1.5} &", "\\bfseries 0.2188 \\pm 0.0442"));
  EXPECT_THAT(render_csv(loss), HasSubstr(",loss@epsilon=1.5,0.21875,0.04419"));
  const std::string json = render_json(loss);
  EXPECT_THAT(json, has_all("\"metric\": \"loss@epsilon=1.5\",\n      \"metric_mean\": 0.21875",
                            "\"metric\": 0.25,\n          \"metric_round\": 6"));
}

// Less seconds are better; nobody knows which matching loss is.
TEST_F(MetricTable, MarksTheBestOnlyWhereOneIs) {
  std::vector<RoundRecord> rounds = ten_rounds();
  for (RoundRecord& round : rounds) round.observed = {{"radius", 2}};
  add("fedavg", 1, rounds);
  for (RoundRecord& round : rounds) {
    round.train_seconds /= 2;
    round.observed = {{"radius", 4}};
  }
  add("fedprox", 1, rounds);
  const Table seconds = table("seconds");
  EXPECT_FALSE(seconds.rows[0].best);
  EXPECT_TRUE(seconds.rows[1].best);
  const Table radius = table("radius");
  EXPECT_EQ(radius.rows[1].result->spread.mean, 4);
  EXPECT_FALSE(radius.rows[0].best);
  EXPECT_FALSE(radius.rows[1].best);
  EXPECT_THAT(to_markdown(reader_table(radius)), HasSubstr("| radius |"));
}

TEST_F(MetricTable, LeavesARowEmptyWhereASeedHasNoSuchRound) {
  for (const std::int64_t seed : {1, 2, 3}) {
    add("fedavg", seed, ten_rounds());
    std::vector<RoundRecord> rounds = ten_rounds(-0.25);
    if (seed > 1) rounds.resize(4);
    add("fedprox", seed, rounds);
  }
  const Table empty = table("accuracy@round=6");
  EXPECT_EQ(empty.rows[1].result, std::nullopt);
  EXPECT_FALSE(empty.rows[0].best);
  EXPECT_THAT(empty.notes,
              Contains("fedprox: accuracy@round=6 has no value, because seeds 2, 3 have no round 6"));
  EXPECT_THAT(to_markdown(reader_table(empty)), HasSubstr("|                       - |"));
  EXPECT_THAT(render_csv(empty), HasSubstr(",accuracy@round=6,,,"));
}

// Where it is printed; programs get every digit.
TEST_F(MetricTable, RoundsAnEpsilonUp) {
  std::vector<RoundRecord> rounds = ten_rounds();
  rounds[7].epsilon = 2.00001;
  add("fedavg", 1, rounds);
  const Table exact = table("epsilon@round=8");
  EXPECT_THAT(to_markdown(reader_table(exact)), HasSubstr(" 2.001 |"));
  EXPECT_EQ(exact.rows[0].result->spread.mean, 2.00001);
}

TEST_F(MetricTable, OfRoundsThatCannotBeReadIsAnError) {
  add("fedavg", 1, ten_rounds());
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5), "/nowhere")};
  EXPECT_FALSE(message_of([&] { make_table(runs, parse_round_metric("loss")); }).empty());
}

}  // namespace
}  // namespace fedarena::results
