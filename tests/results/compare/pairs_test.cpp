#include "results/compare/pairs.hpp"

#include <cmath>

#include "fedarena/base/stream.hpp"

#include "results/compare/compared_rows.hpp"
#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/compare/pair_samples.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/recorded_run.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::results {
namespace {

Pairs compare(const std::vector<std::vector<FoundRun>>& rows, const PairOptions& options = {}) {
  return compare_rows(folder_of(rows), options);
}

std::vector<std::string> names(const Pairs& pairs) {
  std::vector<std::string> found;
  for (const Pair& pair : pairs.pairs) found.push_back(pair.first + " : " + pair.second);
  return found;
}

const std::vector<double> kWorse = {0.60, 0.55, 0.65, 0.58, 0.62};
const std::vector<double> kBetter = {0.64, 0.58, 0.69, 0.61, 0.65};

std::vector<FoundRun> at_rate(const std::string& label, const std::string& rate) {
  return row_of(label, kWorse, [&](Summary& summary) { summary.sweep = {{"training.rate", rate}}; });
}

TEST(Pairs, ArePairedBySeed) {
  const Pairs pairs = compare({row_of("fedavg", kWorse), row_of("scaffold", kBetter)});
  ASSERT_THAT(pairs.pairs, SizeIs(1));
  const Pair& pair = pairs.pairs.front();
  ASSERT_THAT(pair.seeds, SizeIs(5));
  EXPECT_EQ(pair.seeds[2].seed, 3);
  EXPECT_EQ(pair.seeds[2].first, 0.65);
  EXPECT_EQ(pair.seeds[2].second, 0.69);
  // The differences are 4, 3, 4, 3, 3 points: mean 3.4, variance 0.3, t = 3.4 / sqrt(0.06).
  EXPECT_NEAR(*pair.mean, -0.034, 1e-11);
  EXPECT_NEAR(*pair.deviation, std::sqrt(0.3) / 100, 1e-11);
  EXPECT_NEAR(pair.judgement.t->statistic, -3.4 / std::sqrt(0.06), 1e-8);
  EXPECT_EQ(pair.judgement.ranks->p, 0.0625);
  EXPECT_EQ(pair.judgement.holm, pair.judgement.p);
  EXPECT_EQ(verdict_text(pair, pairs.metric), "scaffold is better");
  const Pairs turned = compare({row_of("a", kBetter), row_of("b", kWorse)});
  EXPECT_EQ(verdict_text(turned.pairs.front(), turned.metric), "a is better");
}

// One's own algorithm against each of the others, of which there are two: nothing is corrected for the third.
TEST(Pairs, AreThoseWithOneLabelWhereThatIsAskedFor) {
  const std::vector rows{row_of("fedavg", kWorse), row_of("mine", kBetter), row_of("scaffold", kWorse)};
  const Pairs pairs = compare(rows, {.against = "mine"});
  EXPECT_THAT(names(pairs), ElementsAre("fedavg : mine", "scaffold : mine"));
  EXPECT_NEAR(*pairs.pairs[0].judgement.holm, 2 * *pairs.pairs[0].judgement.p, 1e-15);
  EXPECT_EQ(verdict_text(pairs.pairs[1], pairs.metric), "mine is better");
  EXPECT_THAT(pairs.notes, Contains("each row is compared with mine alone, and corrected for these pairs"));
  EXPECT_THAT(names(compare(rows, {.labels = {"fedavg"}, .against = "mine"})), ElementsAre("fedavg : mine"));
  expect_refused("--against: no finished run is labelled \"min\"",
                 [&] { compare(rows, {.against = "min"}); });
}

TEST(Pairs, AreAllOfThePairsOfAFolder) {
  const Pairs pairs =
      compare({row_of("fedprox", kWorse), row_of("fedavg", kWorse), row_of("scaffold", kBetter)});
  EXPECT_THAT(names(pairs), ElementsAre("fedavg : fedprox", "fedavg : scaffold", "fedprox : scaffold"));
  EXPECT_EQ(verdict_text(pairs.pairs[0], pairs.metric), "no difference shown");
  // Holm: the two clear pairs are equal, each times 3.
  EXPECT_NEAR(*pairs.pairs[1].judgement.holm, 3 * *pairs.pairs[1].judgement.p, 1e-15);
  EXPECT_NEAR(*pairs.pairs[2].judgement.holm, 3 * *pairs.pairs[2].judgement.p, 1e-15);
  EXPECT_THAT(pairs.notes, Contains("fedavg and fedprox: equal with every seed"));
}

TEST(Pairs, AreOfTheLabelsThatAreAskedFor) {
  const std::vector<std::vector<FoundRun>> rows = {row_of("fedprox", kWorse), row_of("fedavg", kWorse),
                                                   row_of("scaffold", kBetter)};
  const Pairs pairs = compare(rows, {.labels = {"scaffold", "fedavg"}});
  EXPECT_THAT(names(pairs), ElementsAre("fedavg : scaffold"));
  EXPECT_EQ(pairs.pairs.front().judgement.holm, pairs.pairs.front().judgement.p);
}

// Which is no merit, as in a table.
TEST(Pairs, SayNothingByWhatWasSpentWhereOneEndedEarly) {
  const Scratch folder;
  std::vector<FoundRun> runs;
  for (const char* label : {"fedavg", "fedprox"}) {
    const RecordedRun run(folder / label, {.policy = "none", .label = label});
    runs.push_back({.path = run.path(), .summary = RunDirectory::open(run.path()).summary()});
  }
  const auto verdict_by = [&](const char* metric) {
    const Pairs pairs = compare_rows(runs, {.metric = parse_round_metric(metric)});
    return verdict_text(pairs.pairs.front(), pairs.metric);
  };
  EXPECT_EQ(verdict_by("round"), "one seed: no statement");
  runs[1].summary->stopped = kStoppedByPatience;
  EXPECT_EQ(verdict_by("round"), "fedprox ended early (seed 1): no statement");
  EXPECT_EQ(verdict_by("accuracy"), "one seed: no statement");
}

// What a folder's name may not tell; what a grid gives stands in the names of rows.
TEST(Pairs, SayInWhichSettingsRowsOfOneLabelDiffer) {
  const auto with = [](const std::string& rate) {
    return [rate](Summary& summary) {
      summary.algorithm_parameters = {{"rate", rate}, {"schedule", "\"constant\""}};
    };
  };
  const auto notes = [&](const char* rate, const std::function<void(Summary&)>& change) {
    return compare_rows(folders_of({folder_of({row_of("fedavg", kWorse, with("0.05"))}),
                                    folder_of({row_of(
                                                  "fedavg", kBetter,
                                                  [&](Summary& summary) {
                                                    with(rate)(summary);
                                                    change(summary);
                                                  },
                                                  "runs/b")},
                                              "runs/b")}),
                        {.across = {kAcrossGrid}})
        .notes;
  };
  EXPECT_THAT(notes("0.1", [](Summary&) {}), Contains("rows of fedavg differ in rate: 0.05, 0.1"));
  EXPECT_THAT(notes("0.05", [](Summary&) {}), Not(Contains(HasSubstr("differ in"))));
  EXPECT_THAT(notes("0.1",
                    [](Summary& summary) {
                      summary.sweep = {{"training.rate", "0.1"}};
                    }),
              Not(Contains(HasSubstr("differ in"))));
}

TEST(Pairs, AreOfOnePointOfAGrid) {
  const std::vector<std::vector<FoundRun>> rows = {at_rate("fedavg", "0.1"), at_rate("scaffold", "0.1"),
                                                   at_rate("fedavg", "0.02"), at_rate("scaffold", "0.02"),
                                                   at_rate("fedavg", "0.5")};
  const Pairs pairs = compare(rows);
  EXPECT_THAT(names(pairs), ElementsAre("fedavg : scaffold", "fedavg : scaffold"));
  EXPECT_THAT(pair_keys(pairs), ElementsAre("training.rate"));
  EXPECT_EQ(pairs.pairs[0].point.front().second, "0.02");
  EXPECT_THAT(pairs.notes,
              Contains("fedavg is compared with nothing, because it stands alone at training.rate=0.5"));
  const Pairs against = compare(rows, {.against = "scaffold"});
  EXPECT_THAT(against.pairs, SizeIs(2));
  const std::vector<std::vector<FoundRun>> apart = {at_rate("fedavg", "0.1"), at_rate("scaffold", "0.1"),
                                                    at_rate("fedavg", "0.5"), at_rate("fedprox", "0.5")};
  EXPECT_THAT(
      compare(apart, {.against = "scaffold"}).notes,
      Contains(
          "fedavg, fedprox are compared with nothing, because there is no scaffold at training.rate=0.5"));
  const auto private_at = [](const std::string& label, double epsilon, const std::string& rate) {
    return row_of(label, kWorse, [=](Summary& summary) {
      with_privacy(epsilon)(summary);
      summary.privacy->varied = true;
      summary.sweep = {{"training.rate", rate}};
    });
  };
  const std::vector<std::vector<FoundRun>> privately = {
      private_at("dp-fedavg", 2, "0.1"), private_at("dp-fedprox", 3, "0.1"),
      private_at("dp-fedavg", 2, "0.5"), private_at("dp-fedprox", 3, "0.5")};
  const std::vector<std::string> notes = compare(privately, {.across = {kAcrossEpsilon}}).notes;
  EXPECT_THAT(notes,
              Contains(StartsWith("dp-fedavg and dp-fedprox (training.rate=0.5) are compared across")));
  EXPECT_THAT(notes, Contains(StartsWith("dp-fedavg (training.rate=0.1): accesses changed from round")));
  expect_refused(StartsWith("dp-fedavg and dp-fedprox (training.rate=0.1) differ in largest epsilon: "),
                 [&] { compare(privately); });
  const Pairs across = compare(rows, {.across = {kAcrossGrid}});
  EXPECT_THAT(across.pairs, SizeIs(10));
  EXPECT_THAT(pair_keys(across), ElementsAre());
  EXPECT_EQ(names(across).front(), "fedavg (training.rate=0.02) : scaffold (training.rate=0.02)");
}

TEST(Pairs, NeedTwoRows) {
  expect_refused("\n  --across grid compares the points of a grid with each other", [] {
    compare({at_rate("fedavg", "0.1"), at_rate("fedavg", "0.2")});
  });
  expect_refused("there is nothing to compare: no run is finished",
                 [] { compare_rows(std::vector{found(unfinished("fedavg", 1, 2))}, {}); });
}

TEST(Pairs, NoteWhatIsNotCounted) {
  std::vector<FoundRun> folder = folder_of({row_of("fedavg", kWorse), row_of("scaffold", kWorse)});
  Summary failed = unfinished("fedavg", 7, 3);
  failed.state = kFailed;
  failed.failure = "no\nmemory";
  folder.push_back({.path = "runs/x", .summary = {}, .problem = "summary.json: not valid JSON"});
  folder.push_back(found(unfinished("fedprox", 8, 12)));
  folder.push_back(found(failed));
  std::vector<std::string> notes = compare_rows(folder, {}).notes;
  notes.erase(notes.begin(), notes.end() - 3);
  EXPECT_THAT(notes,
              ElementsAre("runs/fedavg-seed-7: seed 7 failed after 3 of 20 rounds and is not counted: "
                          "no memory",
                          "runs/fedprox-seed-8: seed 8 is unfinished (12 of 20 rounds) and not counted",
                          "runs/x: summary.json: not valid JSON; not counted"));
}

TEST(Pairs, AreAsManyAsSomebodyMayRead) {
  std::vector<std::vector<FoundRun>> rows;
  for (int i = 0; i <= 200; ++i) rows.push_back(at_rate("fedavg", std::to_string(i)));
  expect_refused(
      StartsWith("there are 20100 pairs of rows; allowed: at most 20000\n  choose rows with --labels"),
      [&] { compare(rows, {.across = {kAcrossGrid}}); });
}

TEST(Pairs, AreRefusedWhereMoreThanTheAlgorithmDiffers) {
  const auto other = [](Summary& summary) {
    summary.dataset = "letters";
    summary.partition_hash = "other";
  };
  const std::vector<std::vector<FoundRun>> rows = {row_of("fedavg", kWorse), row_of("fedprox", kWorse),
                                                   row_of("scaffold", kBetter, other)};
  EXPECT_EQ(
      message_of([&] { compare(rows); }),
      "fedavg and scaffold differ in data set: \"digits\" and \"letters\"; index hash of seed 1: \"hash1\" "
      "and \"other\" (and 1 more pair differs)\n  --across data,partition compares them anyway, and says "
      "so; --labels A,B compares fewer rows");
  expect_refused("fedavg and scaffold differ in index hash of seed 1",
                 [&] { compare(rows, {.across = {kAcrossData}}); });
  const Pairs pairs = compare(rows, {.across = {kAcrossData, kAcrossPartition}});
  EXPECT_THAT(pairs.pairs, SizeIs(3));
  EXPECT_THAT(pairs.notes,
              Contains("fedavg and scaffold are compared across data: data set: \"digits\" and \"letters\""));
  EXPECT_THAT(pairs.caption, Not(HasSubstr("digits")));
}

TEST(Pairs, AreRefusedWhereEpsilonsDiffer) {
  const std::vector<std::vector<FoundRun>> rows = {row_of("dp-fedavg", kWorse, with_privacy(2)),
                                                   row_of("dp-fedprox", kBetter, with_privacy(3))};
  expect_refused("\n  --across epsilon compares them anyway", [&] { compare(rows); });
  const Pairs pairs = compare(rows, {.across = {kAcrossEpsilon}});
  EXPECT_EQ(pairs.caption, "Experiment quickstart, data set digits, partition iid, model mlp, 20 rounds");
  EXPECT_THAT(pairs.notes, Contains(HasSubstr("are compared across epsilon: largest epsilon: 2.0000")));
}

TEST(Pairs, NameRowsOfOneLabelThatWereTunedOtherwise) {
  const auto by = [](std::int64_t trials) {
    return [trials](Summary& summary) { summary.tuning = tuned_by(trials); };
  };
  const Pairs pairs =
      compare_rows(folders_of({folder_of({row_of("fedavg", kWorse, by(6))}),
                               folder_of({row_of("fedavg", kWorse, by(12), "runs/b")}, "runs/b")}),
                   {.across = {kAcrossTuning}});
  EXPECT_THAT(names(pairs), ElementsAre("fedavg (runs/a) : fedavg (runs/b)"));
  EXPECT_THAT(pairs.notes,
              Contains("tuned unequally: fedavg (runs/b) by 12 trials; fedavg (runs/a) by 6 trials"));
}

TEST(Pairs, StateWhatTheyShare) {
  const Pairs pairs =
      compare({row_of("a", kWorse, with_privacy(2)), row_of("b", kBetter, with_privacy(2.001))});
  EXPECT_THAT(pairs.caption,
              HasSubstr(", 20 rounds, epsilon 2.01 (RDP), 2.50 (PLD) at delta 1e-5, unit record, "
                        "adjacency zero-out"));
}

TEST(Pairs, LeaveOutSeedsThatOnlyOneHas) {
  auto longer = row_of("scaffold", kBetter);
  longer.erase(longer.begin());
  const Pairs pairs = compare({row_of("fedavg", {0.6, 0.55, 0.65, 0.58}), longer});
  const Pair& pair = pairs.pairs.front();
  ASSERT_THAT(pair.seeds, SizeIs(3));
  EXPECT_EQ(pair.seeds.front().seed, 2);
  EXPECT_THAT(pair.unpaired, ElementsAre(1, 5));
  EXPECT_THAT(pairs.notes,
              Contains("fedavg and scaffold: not compared, because only one of them has it: seeds 1, 5"));
}

TEST(Pairs, SayNothingOfFewerThanThreeSeeds) {
  const auto verdict = [](std::size_t seeds) {
    const std::vector<double> worse(kWorse.begin(), kWorse.begin() + static_cast<std::ptrdiff_t>(seeds));
    const Pairs pairs = compare({row_of("a", worse), row_of("b", kBetter)});
    return verdict_text(pairs.pairs.front(), pairs.metric);
  };
  EXPECT_EQ(verdict(1), "one seed: no statement");
  EXPECT_EQ(verdict(2), "two seeds: no statement");
  EXPECT_EQ(verdict(3), "b is better");
  const auto later = [](Summary& summary) { summary.seed += 10; };
  const Pairs none = compare({row_of("a", kWorse), row_of("b", kBetter, later)});
  EXPECT_EQ(verdict_text(none.pairs.front(), none.metric), "no seed in common: no statement");
}

TEST(Pairs, NoteNoLimitOfWilcoxonFromSixSeeds) {
  const std::vector<double> six = {0.60, 0.55, 0.65, 0.58, 0.62, 0.61};
  EXPECT_THAT(compare({row_of("a", six), row_of("b", six)}).notes, Not(Contains(HasSubstr("Wilcoxon"))));
}

TEST(Pairs, NoteADifferenceWithoutSpread) {
  const Pairs pairs = compare({row_of("a", {0.3, 0.4, 0.5}), row_of("b", {0.1, 0.2, 0.3})});
  EXPECT_EQ(verdict_text(pairs.pairs.front(), pairs.metric), "no difference shown");
  EXPECT_THAT(pairs.notes,
              Contains("a and b: the same difference with every seed, so there is no t; the signed "
                       "ranks decide"));
  const Pairs two = compare({row_of("a", {0.3, 0.4}), row_of("b", {0.1, 0.2})});
  EXPECT_THAT(two.notes, Contains("a and b: the same difference with every seed, so there is no t"));
}

// Root mean squared errors of 2, 3, 4 and of 1, 2.1, 2.9: less is better.
TEST(Pairs, OfARegressionCompareItsError) {
  const auto losses = [](std::vector<double> errors) {
    return [errors = std::move(errors)](Summary& summary) {
      const double error = errors[static_cast<std::size_t>(summary.seed) - 1];
      summary.final_test_accuracy = std::nullopt;
      summary.final_test_loss = error * error / 2;
    };
  };
  const Pairs pairs =
      compare({row_of("a", {0, 0, 0}, losses({2, 3, 4})), row_of("b", {0, 0, 0}, losses({1, 2.1, 2.9}))});
  EXPECT_EQ(pairs.metric.text, "rmse");
  EXPECT_NEAR(*pairs.pairs.front().mean, 1, 1e-11);
  EXPECT_EQ(verdict_text(pairs.pairs.front(), pairs.metric), "b is better");
  EXPECT_THAT(to_markdown(reader_table(pairs)), HasSubstr("+1.000 ± 0.100"));

  const double nothing = std::nan("");
  const Pairs diverged =
      compare({row_of("a", {0, 0, 0}, losses({2, nothing, 4})), row_of("b", {0, 0, 0}, losses({1, 2, 3}))});
  EXPECT_EQ(verdict_text(diverged.pairs.front(), diverged.metric), "a diverged (seed 2): no statement");
  EXPECT_FALSE(diverged.pairs.front().judgement.p);
}

TEST(Pairs, SayNothingOfARunThatDivergedThoughItHasAnAccuracy) {
  const auto lose_seed_4 = [](Summary& summary) {
    if (summary.seed == 4) summary.final_test_loss = std::nan("");
  };
  const Pairs pairs = compare({row_of("a", kWorse, lose_seed_4), row_of("b", kBetter)});
  EXPECT_EQ(verdict_text(pairs.pairs.front(), pairs.metric), "a diverged (seed 4): no statement");
  EXPECT_FALSE(pairs.pairs.front().mean);
}

// Whose loss after the last round is finite.
TEST(Pairs, NameTheMetricWhereThatAloneIsNotFinite) {
  const Scratch scratch;
  for (const std::int64_t seed : {1, 2, 3}) {
    write_run(scratch / fmt::format("a-{}", seed), "a", seed, 0.5);
    write_run(scratch / fmt::format("b-{}", seed), "b", seed, 0.5, {.round = [&](RoundRecord& round) {
                if (round.round == 1 && seed == 2) round.test_loss = kInfinity;
              }});
  }
  const Pairs pairs =
      compare_rows(find_runs(std::vector{scratch.path()}), {.metric = parse_round_metric("loss@round=1")});
  EXPECT_EQ(verdict_text(pairs.pairs.front(), pairs.metric),
            "loss@round=1 of b is infinite (seed 2): no statement");
}

// A loss may be absurd and still a number.
TEST(Pairs, NoteRunsThatRoundsMadeWorse) {
  const Scratch scratch;
  const auto add = [&](const std::string& label, std::int64_t seed, double last_loss, double last_accuracy) {
    write_run(scratch / fmt::format("{}-{}", label, seed), label, seed, last_accuracy,
              {.summary = [&](Summary& summary) { summary.final_test_loss = last_loss; },
               .round =
                   [](RoundRecord& round) {
                     round.test_loss = 0.25;
                     round.test_accuracy = 0.75;
                   }},
              2);
  };
  for (std::int64_t seed = 1; seed <= 3; ++seed) {
    add("absurd", seed, seed == 1 ? 0.2 : 1e27, 0.1);
    add("overfitted", seed, 3, 0.8);  // more confident, also where it errs, and right more often
    add("learned", seed, 0.2, 0.8);
  }
  const Pairs pairs = compare_rows(find_runs(std::vector{scratch.path()}), {});
  EXPECT_THAT(pairs.notes, Contains("ended with a larger loss than at the first evaluation, and with no "
                                    "better accuracy: absurd, seeds 2, 3"));
}

TEST(Pairs, ReadAnotherMetricFromTheRounds) {
  const Scratch scratch;
  for (const char* label : {"a", "b"}) {
    for (std::int64_t seed = 1; seed <= 3; ++seed) {
      const auto change = [&](RoundRecord& record) {
        record.test_loss = *label == 'a' ? 1 + 0.01 * static_cast<double>(seed * record.round) : 0.5;
      };
      write_run(scratch / fmt::format("{}-{}", label, seed), label, seed, 0.5, {.round = change}, 20);
    }
  }
  const std::vector<FoundRun> folders = find_runs(std::vector{scratch.path()});
  const Pairs pairs = compare_rows(folders, {.metric = parse_round_metric("loss@round=10")});
  EXPECT_NEAR(*pairs.pairs.front().mean, 0.7, 1e-11);
  EXPECT_EQ(verdict_text(pairs.pairs.front(), pairs.metric), "b is better");
  expect_refused("a-1 has no worst-client",
                 [&] { compare_rows(folders, {.metric = parse_round_metric("worst-client")}); });
}

// A comparison depends on the runs, not on the order in which they were found.
TEST(Pairs, AreTheSameForAnyOrderOfTheirRuns) {
  Stream stream({.seed = 11});
  std::vector<std::vector<FoundRun>> rows;
  for (const char* label : {"fedavg", "fedprox", "scaffold"}) {
    std::vector<double> accuracies(5);
    for (double& accuracy : accuracies) accuracy = stream.uniform();
    rows.push_back(row_of(label, accuracies));
  }
  const std::vector<FoundRun> folder = folder_of(rows);
  const std::string expected = render_pairs_json(compare_rows(folder, {}));
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<FoundRun> shuffled;
    for (const std::int64_t i : stream.permutation(static_cast<std::int64_t>(folder.size())))
      shuffled.push_back(folder[static_cast<std::size_t>(i)]);
    ASSERT_EQ(render_pairs_json(compare_rows(shuffled, {})), expected);
  }
}

}  // namespace
}  // namespace fedarena::results
