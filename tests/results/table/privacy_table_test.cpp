// What tables show about privacy, and which claims they do not join.
#include <fmt/format.h>

#include "results/record/json_fields.hpp"
#include "results/table/column_selection.hpp"
#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/table/claim_samples.hpp"

namespace fedarena::results {
namespace {

// One row of each kind.
Table privacy_table_sample() {
  std::vector<Summary> summaries = {finished("a-plain", 1, 0.9), stopped_by_budget("b-budget", 1, 0.8)};
  summaries.push_back(changed(finished_privately("c-exact", 1, 0.7), [](PrivacyClaim& claim) {
    claim.rdp = claim.pld = Claim{.epsilon = kInfinity};
    claim.order = 0;
    claim.adjacency = "";
    claim.exact_access = "c-exact: label counts of client 3, round 1";
  }));
  summaries.push_back(changed(finished_privately("d-unproven", 1, 0.6), [](PrivacyClaim& claim) {
    claim.rdp = claim.pld = unproven("no bound for 2 | 3");
    claim.order = 0;
  }));
  summaries.push_back(changed(finished_privately("e-assumed", 1, 0.5), [](PrivacyClaim& claim) {
    claim.settings.assume = "poisson";
    claim.assumed = true;
    claim.public_data = {"each client's classes", "the server's proxy data"};
  }));
  summaries.push_back(changed(finished_privately("f-client", 1, 0.4), [](PrivacyClaim& claim) {
    claim.unit = "client";
    claim.settings.delta = 1e-6;
    claim.adjacency = "replace-one";
    claim.public_data = {"each client's classes", "the server's proxy data"};
    claim.as_if_rdp = Claim{.epsilon = 0.301};
    claim.as_if_pld = Claim{.epsilon = 0.25};
  }));
  summaries.back().policy = "client";
  return table_of(summaries);
}

TEST(PrivacyTable, ShowsBothAccountantsAndWhatTheyMean) {
  EXPECT_EQ(to_markdown(reader_table(privacy_table_sample())),
            R"(Experiment quickstart, data set digits, partition iid, model mlp.

| algorithm  | rounds | seeds | accuracy (%) |      epsilon (RDP) |      epsilon (PLD) | delta | unit   | adjacency   |   uplink | downlink | seconds |
|:-----------|-------:|------:|-------------:|-------------------:|-------------------:|:------|:-------|:------------|---------:|---------:|--------:|
| a-plain    |     20 |     1 |        90.00 |               none |               none | -     | -      | -           | 4.00 KiB | 8.00 KiB |    12.5 |
| b-budget   |    15‡ |     1 |        80.00 |               2.79 |               2.50 | 1e-5  | record | zero-out    | 4.00 KiB | 8.00 KiB |       - |
| c-exact    |     20 |     1 |        70.00 |                inf |                inf | 1e-5  | record | -           | 4.00 KiB | 8.00 KiB |    12.5 |
| d-unproven |     20 |     1 |        60.00 |           unproven |           unproven | 1e-5  | record | zero-out    | 4.00 KiB | 8.00 KiB |       - |
| e-assumed  |     20 |     1 |        50.00 |              2.79† |              2.50† | 1e-5  | record | zero-out    | 4.00 KiB | 8.00 KiB |       - |
| f-client   |     20 |     1 |        40.00 | 2.79 (as if 0.31*) | 2.50 (as if 0.25*) | 1e-6  | client | replace-one | 4.00 KiB | 8.00 KiB |       - |

Accuracy after the last round: mean ± sample standard deviation over seeds. Epsilon: upper bound, rounded up, of a single run, the largest over seeds. "-" of bytes, examples, gradients, operations or seconds: what would tell the sizes of samples, which privacy keeps secret. Uplink and downlink: bytes per client and round. Seconds: per run. ‡: stopped early, as a note says.

Notes:
- b-budget: stopped after 15 of 20 rounds, because the next one would have overspent the budget of epsilon 3
- c-exact: nothing is protected, because of an exact access (c-exact: label counts of client 3, round 1)
- d-unproven: epsilon (RDP, PLD) is unproven: no bound for 2 | 3
- † assumes Poisson sampling, which is not what ran
- * as if the population were as large as the one whose noise the run simulates; the number before it is the run's own
- zero-out: neighbours differ in one record that contributes nothing in one of them; the sizes of shards and the number of clients are public
- replace-one: neighbours differ in one client that is exchanged for another; the sizes of shards and the number of clients are public
- e-assumed; f-client: epsilon takes as public, beside sizes: each client's classes, the server's proxy data
- rows differ in delta and unit and adjacency: their epsilons cannot be compared
- only some rows have a finite epsilon, so none is marked as the best
)");
}

// A mechanism with a claim per unit of distance alone, and one with a number that a paper calls its privacy.
Table metric_table() {
  std::vector<Summary> summaries = {finished_privately("a-plain", 1, 0.5)};
  for (const char* name : {"b-metric", "c-relative"}) {
    summaries.push_back(changed(finished_privately(name, 1, 0.4), [](PrivacyClaim& claim) {
      claim.unit = "local";
      claim.order = 0;
    }));
    summaries.back().policy = "local";
  }
  PrivacyClaim& metric = *summaries[1].privacy;
  metric.rdp = metric.pld = unproven("metric privacy has no epsilon without a distance");
  metric.per_distance = 6;
  PrivacyClaim& relative = *summaries[2].privacy;
  relative.rdp = relative.pld = Claim{.epsilon = kInfinity};
  relative.nominal = {{"n/nu", 2.4}};
  return table_of(summaries);
}

TEST(PrivacyTable, KeepsClaimsPerDistanceAndNominalNumbersApartFromEpsilon) {
  const std::string text = to_markdown(reader_table(metric_table()));
  EXPECT_THAT(
      text,
      has_all("| epsilon / distance | nominal n/nu |", "|      unproven |      unproven |",
              "|               6.00 |            - |", "|                  - |         2.40 |",
              "b-metric: epsilon (RDP, PLD) is unproven: metric privacy has no epsilon without a distance",
              "- epsilon / distance: what tells apart messages one unit of Euclidean distance",
              "- nominal: a paper's own count over all rounds; it is not an epsilon"));
  EXPECT_THAT(render_csv(metric_table()), HasSubstr("epsilon_per_distance,nominal n/nu,"));
  const Json rows = Json::parse(render_json(metric_table()))["rows"];
  EXPECT_EQ(rows[1]["privacy"]["per_distance"], 6);
  EXPECT_EQ(rows[2]["privacy"]["nominal"]["n/nu"], 2.4);
  EXPECT_FALSE(rows[0]["privacy"].contains("nominal"));
}

TEST(PrivacyTable, SetsItsSignsInLatex) {
  const std::string text = to_latex(reader_table(privacy_table_sample()));
  EXPECT_THAT(text, has_all("{$\\varepsilon$ (RDP)} & {$\\varepsilon$ (PLD)} & delta & unit & adjacency &",
                            "a-plain & 20 & 1 & 90.00 & {none} & {none} & - & - & - &",
                            "b-budget & 15{$^{\\ddagger}$} & 1 &",
                            "& {$\\infty$} & {$\\infty$} & 1e-5 & record & - &",
                            "& {unproven} & {unproven} &", "& 2.79{$^{\\dagger}$} & 2.50{$^{\\dagger}$} &",
                            "& 2.79{ (as if 0.31*)} &", "Note: $^{\\dagger}$ assumes Poisson sampling"));
  for (const char byte : text) EXPECT_LT(static_cast<unsigned char>(byte), 0x80) << text;
}

TEST(PrivacyTable, HoldsFullPrecisionInCsv) {
  const std::string text = render_csv(privacy_table_sample());
  EXPECT_THAT(
      text,
      has_all("a-plain,20,20,1,0.9,,,,none,none,none,,,,,,,,,,,,,4096",
              "b-budget,20,15,1,0.8,,,,record,2.78664,2.5,,,,,,1e-05,record,zero-out,opacus,balle,,budget,",
              ",record,inf,inf,,,,,,1e-05,record,,opacus,balle,,,", ",record,unproven,unproven,,,,",
              ",record,2.78664,2.5,,,,,poisson,",
              ",client,2.78664,2.5,0.301,0.25,,,,1e-06,client,replace-one,opacus,balle,\"each client's "
              "classes, the server's proxy data\",,"));
  std::size_t commas = 0;
  for (const char letter : text) commas += letter == ',' ? 1 : 0;
  EXPECT_EQ(commas, 7U * 64U + 2U) << "two of them in lists of public data";
}

TEST(PrivacyTable, HoldsEveryClaimInJson) {
  const Json rows = Json::parse(render_json(privacy_table_sample()))["rows"];
  EXPECT_EQ(rows[0]["privacy"], nullptr);
  EXPECT_EQ(rows[0]["seeds"][0]["epsilon_rdp"], "none");
  EXPECT_EQ(rows[1]["privacy"]["epsilon_rdp"], 2.78664);
  EXPECT_EQ(rows[1]["privacy"]["order"], 8.5);
  EXPECT_EQ(rows[1]["privacy"]["stopped"], "budget");
  EXPECT_EQ(rows[1]["seeds"][0]["rounds_done"], 15);
  EXPECT_EQ(rows[2]["privacy"]["epsilon_pld"], "inf");
  EXPECT_EQ(rows[2]["privacy"]["exact_access"], "c-exact: label counts of client 3, round 1");
  EXPECT_EQ(rows[3]["privacy"]["epsilon_rdp"], "unproven");
  EXPECT_EQ(rows[3]["privacy"]["rdp_unproven"], "no bound for 2 | 3");
  EXPECT_EQ(rows[3]["seeds"][0]["epsilon_rdp"], "unproven");
  EXPECT_EQ(rows[5]["privacy"]["as_if_epsilon_pld"], 0.25);
}

// Sums of sizes that were drawn at random, and that the mechanism keeps secret.
TEST(PrivacyTable, KeepsDrawnSizesSecret) {
  const auto drawn = [](const std::string& unit, const std::string& adjacency) {
    Summary summary = changed(finished_privately(unit + "-" + adjacency, 1, 0.5), [&](PrivacyClaim& claim) {
      claim.unit = unit;
      claim.adjacency = adjacency;
    });
    summary.policy = unit;
    summary.examples = 641;
    summary.cost = Cost{642, 643, false};
    summary.uplink_bytes = 1'048'576;
    return summary;
  };
  const std::vector<Summary> summaries = {drawn("client", "zero-out"), drawn("record", "replace-one"),
                                          drawn("record", "zero-out"), drawn("client", "replace-one"),
                                          drawn("local", "replace-one")};
  const Table table = table_of(summaries);
  const std::string text =
      to_markdown(reader_table(table, parse_selection("examples,gradients,operations,total-uplink,seconds")));
  EXPECT_THAT(text,
              has_all("| client-zero-out    |        - |         - |          - |            - |       - |",
                      "| record-replace-one |      641 |       642 |        643 |     1.00 MiB |    12.5 |",
                      "| record-zero-out    |        - |         - |          - |     1.00 MiB |       - |"));
  // A client's own work, and a sum over a cohort of a known size, of whom nobody knows who is in it.
  EXPECT_THAT(text,
              has_all("| client-replace-one |        - |         - |          - |     1.00 MiB |       - |",
                      "| local-replace-one  |        - |         - |          - |     1.00 MiB |       - |",
                      ": what would tell the sizes of samples"));
  // In the order of their names.
  const Json rows = Json::parse(render_json(table))["rows"];
  for (const char* key : {"examples", "gradients", "operations", "seconds"}) {
    EXPECT_EQ(rows[4][key], nullptr) << key;
    EXPECT_EQ(rows[4]["seeds"][0][key], nullptr) << key;
    EXPECT_NE(rows[3][key], nullptr) << key;
  }
  EXPECT_EQ(rows[1]["uplink_bytes"], nullptr);
  EXPECT_EQ(rows[1]["seeds"][0]["uplink_bytes"], nullptr);
  const std::string csv = render_csv(table);
  EXPECT_NE(csv.find(",641,642,643,"), std::string::npos);
  EXPECT_EQ(csv.find(",641,642,643,"), csv.rfind(",641,642,643,")) << "of one row alone";
  EXPECT_EQ(csv.find(",12.5,"), csv.rfind(",12.5,")) << "of one row alone";
  EXPECT_THAT(to_markdown(reader_table(table, parse_selection("seconds"))),
              HasSubstr(": what would tell the sizes of samples"));
  const std::vector<FoundRun> runs = {found(summaries[2])};
  EXPECT_THAT(make_table(runs, parse_round_metric("examples")).notes,
              Contains(HasSubstr("drawn samples, whose sizes privacy keeps secret")));
  EXPECT_THAT(make_table(runs, parse_round_metric("seconds@round=2")).notes,
              Contains(HasSubstr("drawn samples, whose sizes privacy keeps secret")))
      << "how long a round trained for tells its batches";
}

TEST(PrivacyTable, StatesTheWorstOfARow) {
  const auto with = [](std::int64_t seed, const Claim& rdp) {
    return changed(finished_privately("fedavg", seed, 0.5), [&](PrivacyClaim& claim) {
      claim.rdp = rdp;
      claim.order = rdp.epsilon && *rdp.epsilon < 10 ? 2 + *rdp.epsilon : 0;
    });
  };
  const auto worst = [&](const Claim& first, const Claim& second) {
    return *table_of({with(1, first), with(2, second), with(3, Claim{.epsilon = 1})}).rows.front().privacy;
  };
  const Claim small{.epsilon = 2};
  const Claim large{.epsilon = 3};
  const Claim infinite{.epsilon = kInfinity};
  EXPECT_EQ(worst(small, large).rdp, large);
  EXPECT_EQ(worst(large, small).rdp, large);
  EXPECT_EQ(worst(small, large).order, 5);
  EXPECT_EQ(worst(large, small).order, 5);
  EXPECT_EQ(worst(large, unproven("why")).rdp, unproven("why"));
  EXPECT_EQ(worst(unproven("why"), large).rdp, unproven("why"));
  EXPECT_EQ(worst(unproven("why"), infinite).rdp, infinite);
  EXPECT_EQ(worst(infinite, unproven("why")).rdp, infinite);
}

TEST(PrivacyTable, RefusesToJoinDifferentClaims) {
  using Change = void (*)(PrivacyClaim&);
  const Summary first = finished_privately("fedavg", 1, 0.5), second = finished_privately("fedavg", 2, 0.5);
  const auto complaint = [](const Summary& left, const Summary& right) {
    return message_of([&] { table_of({left, right}); });
  };
  for (const auto& [change, what] : std::vector<std::pair<Change, const char*>>{
           {[](PrivacyClaim& claim) { claim.settings.delta = 1e-6; }, "delta: \"1e-05\" and \"1e-06\""},
           {[](PrivacyClaim& claim) { claim.settings.orders = "default"; }, "orders"},
           {[](PrivacyClaim& claim) { claim.settings.conversion = "classic"; }, "conversion"},
           {[](PrivacyClaim& claim) { claim.settings.assume = "poisson"; }, "assume"},
           {[](PrivacyClaim& claim) { claim.adjacency = "replace-one"; }, "adjacency"},
           {[](PrivacyClaim& claim) { claim.budget = 4; }, "budget"},
           {[](PrivacyClaim& claim) { claim.as_if_rdp = claim.as_if_pld = Claim{.epsilon = 1}; },
            "as_if_epsilon_rdp"}}) {
    EXPECT_THAT(complaint(first, changed(second, change)), HasSubstr(fmt::format("differ in {}", what)));
  }
  EXPECT_THAT(complaint(finished("fedavg", 1, 0.5), second),
              HasSubstr("differ in policy: \"none\" and \"record\""));
}

}  // namespace
}  // namespace fedarena::results
