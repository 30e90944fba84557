#include <algorithm>

#include "results/compare/compared_rows.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/compare/pair_samples.hpp"
#include "tests/results/record/tuning_sample.hpp"

namespace fedarena::results {
namespace {

using Change = std::function<void(Summary&)>;

// "kind | text" of each difference between the row of fedavg and that of fedprox.
std::vector<std::string> texts(const std::vector<FoundRun>& runs) {
  const auto of_label = [rows = gather_rows(runs).rows](const std::string& label) {
    return *std::ranges::find_if(rows, [&](const RowRuns& row) { return row.key.label == label; });
  };
  std::vector<std::string> found;
  for (const RowDifference& difference : row_differences(of_label("fedavg"), of_label("fedprox")))
    found.push_back(difference.across + " | " + difference.text);
  return found;
}

// The same of two rows that are alike but for these changes.
std::vector<std::string> texts(const Change& left, const Change& right) {
  return texts(folder_of({row_of("fedavg", {0.5, 0.6}, left), row_of("fedprox", {0.5, 0.6}, right)}));
}

const Change kNothing = [](Summary&) {};

TEST(RowDifferences, OfAlgorithmsAloneAreNone) {
  EXPECT_THAT(texts(kNothing, kNothing), IsEmpty());
  EXPECT_THAT(texts(with_privacy(2), with_privacy(2)), IsEmpty());
}

TEST(RowDifferences, NameDataModelAndRounds) {
  EXPECT_THAT(texts(kNothing, [](Summary& summary) { summary.dataset = "letters"; }),
              ElementsAre("data | data set: \"digits\" and \"letters\""));
  EXPECT_THAT(texts(kNothing, [](Summary& summary) { summary.dataset_note = "a tenth of it"; }),
              ElementsAre("data | note on the data: \"\" and \"a tenth of it\""));
  const auto data_of = [](char digit) -> Change {
    return [digit](Summary& summary) { summary.data_hash = std::string(64, digit); };
  };
  EXPECT_THAT(texts(data_of('a'), data_of('b')),
              ElementsAre("data | SHA-256 of the data: \"aaaaaaaaaaaa\" and \"bbbbbbbbbbbb\""));
  EXPECT_THAT(texts(data_of('a'), data_of('a')), IsEmpty());
  EXPECT_THAT(texts(kNothing, [](Summary& summary) { summary.model = "convnet"; }),
              ElementsAre("model | model: \"mlp\" and \"convnet\""));
  const auto begun = [](const std::string& file, char digit) -> Change {
    return [=](Summary& summary) {
      summary.model = fmt::format("mlp (weights = \"{}\", weights_sha256 = \"{}\")", file, digit);
    };
  };
  EXPECT_THAT(texts(begun("a.npz", '1'), begun("b.npz", '1')), IsEmpty()) << "the same, wherever it lies";
  EXPECT_THAT(texts(begun("a.npz", '1'), begun("a.npz", '2')), SizeIs(1));
  EXPECT_THAT(texts(kNothing, [](Summary& summary) { summary.parameters = 5; }),
              ElementsAre("model | number of parameters: \"1000\" and \"5\""));
  EXPECT_THAT(texts(kNothing, [](Summary& summary) { summary.rounds = summary.rounds_done = 40; }),
              ElementsAre("rounds | planned rounds: \"20\" and \"40\""));
}

// What no summary states, of experiment files of one name.
TEST(RowDifferences, NameConditionsThatExperimentFilesState) {
  const auto difference = [&](const std::string& left, const std::string& right, const Sweep& sweep = {}) {
    const auto run_of = [&](const std::string& label, const std::string& settings) {
      FoundRun run = row_of(label, {0.5}, [&](Summary& summary) { summary.sweep = sweep; }).front();
      run.settings = resolved_settings(settings);
      return run;
    };
    return texts({run_of("fedavg", left), run_of("fedprox", right)});
  };
  const std::string one = "[cohort]\nsize = 1\n", ten = "[cohort]\nsize = 10\n";
  EXPECT_THAT(difference(one, ten), ElementsAre("rounds | cohort.size: \"1\" and \"10\""));
  EXPECT_THAT(difference(one, one), IsEmpty());
  EXPECT_THAT(difference(one, ""), IsEmpty()) << "an older record lacks it";
  EXPECT_THAT(difference(one, ten, {{"cohort.size", "1"}}), IsEmpty()) << "the grid says it";
  EXPECT_THAT(difference("[stopping]\npatience = 3\n", "[stopping]\npatience = 0\n"),
              ElementsAre("rounds | stopping.patience: \"3\" and \"0\""));
  EXPECT_THAT(difference("[experiment]\ndtype = \"float32\"\n", "[experiment]\ndtype = \"float64\"\n"),
              ElementsAre("model | experiment.dtype: \"float32\" and \"float64\""));
  EXPECT_THAT(difference(one, one + "[audit]\nkind = \"gradient\"\n"),
              ElementsAre("data | audit.kind: \"none\" and \"gradient\""));
  EXPECT_THAT(
      difference("[algorithms.privacy]\nclip_norm = 1.0\n", "[algorithms.privacy]\nclip_norm = 2.0\n"),
      IsEmpty())
      << "an algorithm's own";
}

TEST(RowDifferences, LookAtTheNumberOfTrials) {
  const auto by = [](std::int64_t trials) -> Change {
    return [trials](Summary& summary) { summary.tuning = tuned_by(trials); };
  };
  EXPECT_THAT(texts(by(6), by(12)), ElementsAre("tuning | tuning: \"6 trials\" and \"12 trials\""));
  EXPECT_THAT(texts(kNothing, by(1)), ElementsAre("tuning | tuning: \"none\" and \"1 trial\""));
  // Other choices by as many trials are what tuning is for.
  EXPECT_THAT(texts(by(6),
                    [&](Summary& summary) {
                      by(6)(summary);
                      summary.tuning->chosen = {{"algorithms.fedprox.mu", "0.01"}};
                      summary.tuning->search = "random";
                    }),
              IsEmpty());
}

TEST(RowDifferences, LookAtThePartitionCardOfEverySeed) {
  EXPECT_THAT(texts(kNothing,
                    [](Summary& summary) {
                      if (summary.seed == 2) summary.partition_hash = "other";
                    }),
              ElementsAre("partition | index hash of seed 2: \"hash2\" and \"other\""));
  EXPECT_THAT(texts(kNothing, [](Summary& summary) { summary.partition_id = "classes()"; }),
              ElementsAre("partition | partition of seed 1: \"iid(clients=10,seed=1)\" and \"classes()\""));
  EXPECT_THAT(texts(kNothing, [](Summary& summary) { summary.clients = 5; }),
              ElementsAre("partition | number of clients: \"10\" and \"5\""));
}

TEST(RowDifferences, LookAtSeedsThatBothHave) {
  const Change moved = [](Summary& summary) {
    if (summary.seed == 2) summary.seed = 3, summary.partition_hash = "other";
  };
  EXPECT_THAT(texts(kNothing, moved), IsEmpty());
}

TEST(RowDifferences, MarkEpsilonsThatRestOnAnAssumption) {
  const Change assumed = [](Summary& summary) {
    with_privacy(2)(summary);
    summary.privacy->settings.assume = "poisson";
    summary.privacy->assumed = true;
    summary.privacy->pld = Claim{.unproven = "no bound"};
  };
  EXPECT_THAT(texts(assumed, kNothing),
              ElementsAre(HasSubstr("largest epsilon: 2.0000† (RDP), unproven (PLD) and none")));
}

TEST(RowDifferences, LookAtEverythingThatAnEpsilonIsAbout) {
  const std::string same = ", largest epsilon: 2.0000 (RDP), 2.5000 (PLD) and 2.0000 (RDP), 2.5000 (PLD)";
  EXPECT_THAT(texts(with_privacy(2), kNothing),
              ElementsAre("epsilon | privacy policy: \"record\" and \"none\", largest epsilon: 2.0000 "
                          "(RDP), 2.5000 (PLD) and none"));
  const auto changed = [](const std::function<void(PrivacyClaim&)>& change) -> Change {
    return [change](Summary& summary) {
      with_privacy(2)(summary);
      change(*summary.privacy);
    };
  };
  const auto difference = [&](const std::function<void(PrivacyClaim&)>& change) {
    return texts(with_privacy(2), changed(change));
  };
  EXPECT_THAT(difference([](PrivacyClaim& claim) { claim.unit = "client"; }),
              ElementsAre("epsilon | unit of privacy: \"record\" and \"client\"" + same));
  EXPECT_THAT(difference([](PrivacyClaim& claim) { claim.adjacency = "replace-one"; }),
              ElementsAre("epsilon | adjacency: \"zero-out\" and \"replace-one\"" + same));
  EXPECT_THAT(difference([](PrivacyClaim& claim) { claim.settings.delta = 1e-6; }),
              ElementsAre("epsilon | delta: \"1e-5\" and \"1e-6\"" + same));
  EXPECT_THAT(difference([](PrivacyClaim& claim) { claim.settings.orders = "default"; }),
              ElementsAre("epsilon | orders of RDP: \"opacus\" and \"default\"" + same));
  EXPECT_THAT(difference([](PrivacyClaim& claim) { claim.settings.conversion = "classic"; }),
              ElementsAre("epsilon | conversion of RDP: \"balle\" and \"classic\"" + same));
  EXPECT_THAT(difference([](PrivacyClaim& claim) { claim.settings.assume = "poisson"; }),
              ElementsAre("epsilon | assumption of the accountant: \"nothing\" and \"poisson\"" + same));
  EXPECT_THAT(
      difference([](PrivacyClaim& claim) { claim.pld = unproven("2 | 3"); }),
      ElementsAre("epsilon | largest epsilon: 2.0000 (RDP), 2.5000 (PLD) and 2.0000 (RDP), unproven (PLD)"));
  EXPECT_THAT(
      difference([](PrivacyClaim& claim) { claim.as_if_rdp = claim.as_if_pld = Claim{.epsilon = 1}; }),
      ElementsAre("epsilon | largest epsilon: 2.0000 (RDP), 2.5000 (PLD) and 2.0000 (RDP), 2.5000 (PLD), "
                  "as if 1.0000 (RDP), 1.0000 (PLD)"));
}

TEST(RowDifferences, TakeEpsilonsOfOneTargetAsEqual) {
  EXPECT_THAT(texts(with_privacy(2), with_privacy(1.985)), IsEmpty());
  EXPECT_THAT(
      texts(with_privacy(2), with_privacy(1.975)),
      ElementsAre("epsilon | largest epsilon: 2.0000 (RDP), 2.5000 (PLD) and 1.9750 (RDP), 2.5000 (PLD)"));
  // Found by RDP, noise of other accesses has another epsilon by PLD.
  EXPECT_THAT(texts(with_privacy(2),
                    [](Summary& summary) {
                      with_privacy(2)(summary);
                      summary.privacy->pld = Claim{.epsilon = 2.4};
                    }),
              IsEmpty());
  EXPECT_THAT(texts(with_privacy(kInfinity), with_privacy(kInfinity)), IsEmpty());
  EXPECT_THAT(
      texts(with_privacy(kInfinity), with_privacy(2)),
      ElementsAre("epsilon | largest epsilon: inf (RDP), 2.5000 (PLD) and 2.0000 (RDP), 2.5000 (PLD)"));
  EXPECT_THAT(texts(with_privacy(0), with_privacy(0)), IsEmpty());
  // One noise for all seeds is found for the one that it costs most, whichever that is.
  const auto dearest = [](std::int64_t seed) -> Change {
    return [seed](Summary& summary) { with_privacy(summary.seed == seed ? 2 : 1.9)(summary); };
  };
  EXPECT_THAT(texts(dearest(1), dearest(2)), IsEmpty());
  EXPECT_THAT(texts(dearest(1), with_privacy(1.9)), ElementsAre(HasSubstr("and 1.9000 (RDP)")));
}

}  // namespace
}  // namespace fedarena::results
