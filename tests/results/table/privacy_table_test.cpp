// What tables show about privacy, and what they say beside it.

#include "results/record/claim_text.hpp"
#include "results/record/json_fields.hpp"
#include "results/table/column_selection.hpp"
#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

Table table_of(const std::vector<Summary>& summaries) {
  std::vector<FoundRun> runs;
  for (const Summary& summary : summaries) runs.push_back(found(summary));
  return make_table(runs);
}

Summary changed(Summary summary, const std::function<void(PrivacyClaim&)>& change) {
  change(*summary.privacy);
  return summary;
}

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
  EXPECT_EQ(render_markdown(privacy_table_sample()),
            R"(Experiment quickstart, data set digits, partition iid, model mlp.

| algorithm  | rounds | seeds | accuracy (%) |      epsilon (RDP) |      epsilon (PLD) | delta | unit   | adjacency   |   uplink | downlink | seconds |
|:-----------|-------:|------:|-------------:|-------------------:|-------------------:|:------|:-------|:------------|---------:|---------:|--------:|
| a-plain    |     20 |     1 |    **90.00** |               none |               none | -     | -      | -           | 4.00 KiB | 8.00 KiB |    12.5 |
| b-budget   |    15‡ |     1 |        80.00 |               2.79 |               2.50 | 1e-5  | record | zero-out    | 4.00 KiB | 8.00 KiB |    12.5 |
| c-exact    |     20 |     1 |        70.00 |                inf |                inf | 1e-5  | record | -           | 4.00 KiB | 8.00 KiB |    12.5 |
| d-unproven |     20 |     1 |        60.00 |           unproven |           unproven | 1e-5  | record | zero-out    | 4.00 KiB | 8.00 KiB |    12.5 |
| e-assumed  |     20 |     1 |        50.00 |              2.79† |              2.50† | 1e-5  | record | zero-out    | 4.00 KiB | 8.00 KiB |    12.5 |
| f-client   |     20 |     1 |        40.00 | 2.79 (as if 0.31*) | 2.50 (as if 0.25*) | 1e-6  | client | replace-one | 4.00 KiB | 8.00 KiB |    12.5 |

Accuracy after the last round: mean ± sample standard deviation over seeds. Epsilon: upper bound, rounded up, the largest over seeds. Uplink and downlink: bytes per client and round. Seconds: per run.

Notes:
- ‡ b-budget: stopped after 15 of 20 rounds, because the next one would have overspent the budget of epsilon 3
- c-exact: nothing is protected, because of an exact access (c-exact: label counts of client 3, round 1)
- d-unproven: epsilon (RDP, PLD) is unproven: no bound for 2 | 3
- † assumes Poisson sampling, which is not what ran
- * as if the population were as large as the one whose noise the run simulates; the number before it is the run's own
- zero-out: neighbours differ in one record that contributes nothing in one of them; the sizes of shards and the number of clients are public
- e-assumed; f-client: epsilon takes as public, beside sizes: each client's classes, the server's proxy data
- rows differ in delta and unit and adjacency: their epsilons cannot be compared
)");
}

TEST(PrivacyTable, SaysWhatAnySeedTakesAsPublic) {
  std::vector<Summary> seeds;
  for (const std::vector<std::string>& public_data :
       std::vector<std::vector<std::string>>{{"b"}, {}, {"a", "b"}}) {
    seeds.push_back(finished_privately("fedavg", std::ssize(seeds), 0.5));
    seeds.back().privacy->public_data = public_data;
  }
  EXPECT_THAT(render_markdown(table_of(seeds)),
              HasSubstr("\n- fedavg: epsilon takes as public, beside sizes: a, b\n"));
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
  const std::string text = render_markdown(metric_table());
  EXPECT_THAT(text, HasSubstr("| epsilon / distance | nominal n/nu |"));
  EXPECT_THAT(text, HasSubstr("|      unproven |      unproven |"));
  EXPECT_THAT(text, HasSubstr("|               6.00 |            - |"));
  EXPECT_THAT(text, HasSubstr("|                  - |         2.40 |"));
  EXPECT_THAT(text,
              HasSubstr("b-metric: epsilon (RDP, PLD) is unproven: metric privacy has no epsilon without "
                        "a distance"));
  EXPECT_THAT(text,
              HasSubstr("- epsilon / distance: what tells apart messages one unit of Euclidean distance"));
  EXPECT_THAT(text, HasSubstr("- nominal: a paper's own count over all rounds; it is not an epsilon"));
  EXPECT_THAT(render_csv(metric_table()), HasSubstr("epsilon_per_distance,nominal n/nu,"));
  const Json rows = Json::parse(render_json(metric_table()))["rows"];
  EXPECT_EQ(rows[1]["privacy"]["per_distance"], 6);
  EXPECT_EQ(rows[2]["privacy"]["nominal"]["n/nu"], 2.4);
  EXPECT_FALSE(rows[0]["privacy"].contains("nominal"));
}

TEST(PrivacyTable, SaysWhatThePrivacyOfLabelsLeavesOpen) {
  Summary honest = changed(finished_privately("honest", 1, 0.5), [](PrivacyClaim& claim) {
    claim.unit = "label";
    claim.adjacency = "";
  });
  honest.policy = "label";
  Summary published = finished_privately("published", 1, 0.5);
  published.privacy->nominal = {{"label epsilon of synthetic images", 1}};
  const std::string text = render_markdown(table_of({honest, published}));
  EXPECT_THAT(text,
              HasSubstr("- unit label: neighbours are one example's label exchanged for another; inputs, "
                        "and who holds them, are public"));
  EXPECT_THAT(text, HasSubstr("- label epsilon of synthetic images: synthetic images are made from raw"));
  EXPECT_THAT(text, HasSubstr("- rows differ in unit"));
  EXPECT_THAT(render_markdown(table_of({finished_privately("other", 1, 0.5)})), Not(HasSubstr("label")));
  const auto lines = claim_lines(*honest.privacy);
  EXPECT_EQ(lines.front().second,
            "the label of one example; neighbours: one example's label exchanged for "
            "another; inputs, and who holds them, are public");
}

TEST(PrivacyTable, TellsTheLeastEpsilonWhereClientsHaveTheirOwn) {
  const auto row_of = [](double least, std::int64_t spent) {
    Summary summary = stopped_by_budget("own", spent, 0.8);
    summary.privacy->per_client = true;
    summary.privacy->budget = PerClient(std::vector{1.0, 3.0});
    summary.privacy->least_rdp = Claim{.epsilon = least};
    summary.privacy->least_pld = Claim{.epsilon = 0.9 * least};
    summary.privacy->spent_clients = spent;
    return summary;
  };
  const std::vector<Summary> summaries = {row_of(0.75, 2), row_of(0.5, 4)};
  const std::string text = render_markdown(table_of(summaries));
  EXPECT_THAT(text,
              HasSubstr("own: each client's epsilon is its own; this is the largest, the least is 0.5000 "
                        "(RDP), 0.4500 (PLD); of the budgets [1, 3], 4 clients spent theirs"));
  EXPECT_THAT(
      text, HasSubstr("own: stopped after 15 of 20 rounds, because no client's budget pays for another one"));
  std::string lines;
  for (const auto& [head, line] : claim_lines(*summaries[0].privacy)) lines += head + ": " + line + "\n";
  EXPECT_THAT(lines, HasSubstr("least: 0.7500 by RDP, of the client with the least"));
  EXPECT_THAT(lines, HasSubstr("budget: [1, 3], each client its own, which 2 clients spent, which stopped"));
}

TEST(PrivacyTable, SetsItsSignsInLatex) {
  const std::string text = render_latex(privacy_table_sample());
  EXPECT_THAT(text,
              HasSubstr("{$\\varepsilon$ (RDP)} & {$\\varepsilon$ (PLD)} & delta & unit & adjacency &"));
  EXPECT_THAT(text, HasSubstr("a-plain & 20 & 1 & \\bfseries 90.00 & {none} & {none} & - & - & - &"));
  EXPECT_THAT(text, HasSubstr("b-budget & 15{$^{\\ddagger}$} & 1 &"));
  EXPECT_THAT(text, HasSubstr("& {$\\infty$} & {$\\infty$} & 1e-5 & record & - &"));
  EXPECT_THAT(text, HasSubstr("& {unproven} & {unproven} &"));
  EXPECT_THAT(text, HasSubstr("& 2.79{$^{\\dagger}$} & 2.50{$^{\\dagger}$} &"));
  EXPECT_THAT(text, HasSubstr("& 2.79{ (as if 0.31*)} &"));
  EXPECT_THAT(text, HasSubstr("Note: $^{\\dagger}$ assumes Poisson sampling"));
  for (const char byte : text) EXPECT_LT(static_cast<unsigned char>(byte), 0x80) << text;
}

TEST(PrivacyTable, HoldsFullPrecisionInCsv) {
  const std::string text = render_csv(privacy_table_sample());
  EXPECT_THAT(text, HasSubstr("a-plain,20,20,1,0.9,,,,none,none,none,,,,,,,,,,,,,4096"));
  EXPECT_THAT(text,
              HasSubstr("b-budget,20,15,1,0.8,,,,record,2.78664,2.5,,,,,,1e-05,record,zero-out,opacus,balle,,"
                        "budget,"));
  EXPECT_THAT(text, HasSubstr(",record,inf,inf,,,,,,1e-05,record,,opacus,balle,,,"));
  EXPECT_THAT(text, HasSubstr(",record,unproven,unproven,,,,"));
  EXPECT_THAT(text, HasSubstr(",record,2.78664,2.5,,,,,poisson,"));
  EXPECT_THAT(
      text,
      HasSubstr(",client,2.78664,2.5,0.301,0.25,,,,1e-06,client,replace-one,opacus,balle,\"each client's "
                "classes, the server's proxy data\",,"));
  std::size_t commas = 0;
  for (const char letter : text) commas += letter == ',' ? 1 : 0;
  EXPECT_EQ(commas, 7U * 62U + 2U) << "two of them in lists of public data";
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

TEST(PrivacyTable, StaysNarrowWithoutPrivacy) {
  const std::string text = render_markdown(table_of({finished("fedavg", 1, 0.5)}));
  EXPECT_THAT(text, HasSubstr("| epsilon |"));
  EXPECT_THAT(text, HasSubstr("|    none |"));
  EXPECT_THAT(text, Not(HasSubstr("RDP")));
  EXPECT_THAT(text, Not(HasSubstr("Epsilon")));
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

TEST(PrivacyTable, CollectsWhatIsNoteworthyInAnySeed) {
  Summary second = stopped_by_budget("fedavg", 2, 0.5);
  second.rounds_done = 14;
  second.privacy->as_if_rdp = second.privacy->as_if_pld = unproven("why");
  Summary first = finished_privately("fedavg", 1, 0.5);
  first.privacy->budget = 3;
  first.privacy->as_if_rdp = first.privacy->as_if_pld = Claim{.epsilon = 0.5};
  const Table table = table_of({first, second});
  EXPECT_THAT(render_markdown(table), HasSubstr("| 14-20‡ |"));
  EXPECT_THAT(render_markdown(table), HasSubstr("2.79 (as if unproven*)"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("stopped after 14-20 of 20 rounds")));
  EXPECT_THAT(table.notes, Contains("fedavg: as if*, epsilon (RDP, PLD) is unproven: why"));
}

TEST(PrivacyTable, NamesTheAccountantWhereTheyDiffer) {
  const Table table = table_of({changed(finished_privately("fedavg", 1, 0.5), [](PrivacyClaim& claim) {
    claim.rdp = Claim{.epsilon = kInfinity};
    claim.pld = unproven("no bound");
  })});
  EXPECT_THAT(table.notes,
              ElementsAre("fedavg: no epsilon (RDP) is finite at delta 1e-5",
                          "fedavg: epsilon (PLD) is unproven: no bound", StartsWith("zero-out: ")));
  EXPECT_THAT(render_markdown(table), HasSubstr("|           inf |      unproven |"));
}

TEST(PrivacyTable, ComparesOnlyEpsilonsOfTheSameKind) {
  const Summary one = finished_privately("fedavg", 1, 0.5);
  Summary other = finished_privately("fedprox", 1, 0.5);
  const auto neighbours = StartsWith("zero-out: neighbours differ in one record");
  EXPECT_THAT(table_of({one, other}).notes, ElementsAre(neighbours));
  EXPECT_THAT(table_of({one, finished("plain", 1, 0.5)}).notes, ElementsAre(neighbours));
  other.privacy->settings.delta = 1e-6;
  EXPECT_THAT(table_of({one, other}).notes,
              ElementsAre(neighbours, "rows differ in delta: their epsilons cannot be compared"));
  other.privacy->adjacency = "replace-one";
  EXPECT_THAT(
      table_of({one, other}).notes,
      ElementsAre(neighbours, "rows differ in delta and adjacency: their epsilons cannot be compared"));
  const Summary converted = changed(finished_privately("fedprox", 1, 0.5), [](PrivacyClaim& claim) {
    claim.settings.orders = "default";
    claim.settings.conversion = "classic";
  });
  EXPECT_THAT(table_of({one, converted}).notes,
              ElementsAre(neighbours,
                          "rows differ in orders (default, opacus) and conversion (balle, "
                          "classic) of RDP: their epsilons (RDP) cannot be compared"));
  const Summary exchanged = changed(one, [](PrivacyClaim& claim) { claim.adjacency = "replace-one"; });
  EXPECT_THAT(table_of({exchanged}).notes, IsEmpty());
}

TEST(PrivacyTable, WarnsOfADeltaThatAllowsToPublishAUnit) {
  const auto notes = [](double delta, std::int64_t units, const std::string& unit) {
    Summary summary = changed(finished_privately("fedavg", 1, 0.5), [&](PrivacyClaim& claim) {
      claim.settings.delta = delta;
      claim.units = units;
      claim.unit = unit;
      claim.adjacency = "replace-one";
    });
    summary.policy = unit;
    return table_of({summary}).notes;
  };
  EXPECT_THAT(
      notes(0.01, 600, "record"),
      ElementsAre("fedavg: delta 0.01 is not below 1/600, one over the number of examples: it allows to "
                  "publish one as it is"));
  EXPECT_THAT(notes(0.5, 2, "client"), ElementsAre(HasSubstr("one over the number of clients")));
  EXPECT_THAT(notes(0.01, 99, "record"), IsEmpty());
  EXPECT_THAT(notes(0.01, 100, "record"), ::testing::SizeIs(1)) << "as large is not below";
  EXPECT_THAT(notes(0.5, 0, "record"), IsEmpty()) << "nobody knows how many there are";
}

// At so large a delta, a small epsilon of a large population is nothing.
TEST(PrivacyTable, WarnsOfADeltaThatIsTooLargeForTheAsIfPopulation) {
  const auto notes = [](std::int64_t population) {
    Summary summary = changed(finished_privately("fedavg", 1, 0.5), [&](PrivacyClaim& claim) {
      claim.units = 10;
      claim.unit = "client";
      claim.adjacency = "replace-one";
      claim.as_if_units = population;
      claim.as_if_rdp = claim.as_if_pld = Claim{.epsilon = 0.1};
    });
    summary.policy = "client";
    return table_of({summary}).notes;
  };
  EXPECT_THAT(notes(99'999), ::testing::SizeIs(1));
  EXPECT_THAT(notes(100'000),
              ::testing::Contains("fedavg: delta 1e-5 is not below 1/100000, one over the clients of the "
                                  "as-if population: there it allows to publish one as it is"));
}

TEST(PrivacyTable, WarnsByTheSeedWithTheMostUnits) {
  const auto of_seed = [](std::int64_t seed, std::int64_t units) {
    return changed(finished_privately("fedavg", seed, 0.5), [&](PrivacyClaim& claim) {
      claim.settings.delta = 0.01;
      claim.units = units;
      claim.adjacency = "replace-one";
    });
  };
  EXPECT_THAT(table_of({of_seed(1, 99), of_seed(2, 101)}).notes, ElementsAre(HasSubstr("not below 1/101")));
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
      render_markdown(table, parse_selection("examples,gradients,operations,total-uplink"));
  EXPECT_THAT(text, HasSubstr("| client-zero-out    |        - |         - |          - |            - |"));
  EXPECT_THAT(text, HasSubstr("| record-replace-one |      641 |       642 |        643 |     1.00 MiB |"));
  EXPECT_THAT(text, HasSubstr("| record-zero-out    |        - |         - |          - |     1.00 MiB |"));
  // A client's own work, and a sum over a cohort of a known size, of whom nobody knows who is in it.
  EXPECT_THAT(text, HasSubstr("| client-replace-one |        - |         - |          - |     1.00 MiB |"));
  EXPECT_THAT(text, HasSubstr("| local-replace-one  |        - |         - |          - |     1.00 MiB |"));
  EXPECT_THAT(text, HasSubstr("\"-\": a sum that would tell the sizes of samples"));
  // In the order of their names.
  const Json rows = Json::parse(render_json(table))["rows"];
  for (const char* key : {"examples", "gradients", "operations"}) {
    EXPECT_EQ(rows[4][key], nullptr) << key;
    EXPECT_EQ(rows[4]["seeds"][0][key], nullptr) << key;
    EXPECT_NE(rows[3][key], nullptr) << key;
  }
  EXPECT_EQ(rows[1]["uplink_bytes"], nullptr);
  EXPECT_EQ(rows[1]["seeds"][0]["uplink_bytes"], nullptr);
  const std::string csv = render_csv(table);
  EXPECT_NE(csv.find(",641,642,643,"), std::string::npos);
  EXPECT_EQ(csv.find(",641,642,643,"), csv.rfind(",641,642,643,")) << "of one row alone";
  const std::vector<FoundRun> runs = {found(summaries[2])};
  EXPECT_THAT(make_table(runs, parse_round_metric("examples")).notes,
              Contains(HasSubstr("drawn samples, whose sizes privacy keeps secret")));
  EXPECT_THAT(make_table(runs, parse_round_metric("seconds@round=2")).notes,
              Contains(HasSubstr("drawn samples, whose sizes privacy keeps secret")))
      << "how long a round trained for tells its batches";
  EXPECT_NE(make_table(runs).rows[0].seconds, 0) << "that of a run may be told";
}

TEST(PrivacyTable, RefusesToJoinDifferentClaims) {
  const auto complaint = [](const std::function<void(PrivacyClaim&)>& change) {
    return message_of([&] {
      table_of({finished_privately("fedavg", 1, 0.5), changed(finished_privately("fedavg", 2, 0.5), change)});
    });
  };
  EXPECT_THAT(complaint([](PrivacyClaim& claim) { claim.settings.delta = 1e-6; }),
              HasSubstr("differ in delta: \"1e-05\" and \"1e-06\""));
  EXPECT_THAT(complaint([](PrivacyClaim& claim) { claim.settings.orders = "default"; }),
              HasSubstr("differ in orders"));
  EXPECT_THAT(complaint([](PrivacyClaim& claim) { claim.settings.conversion = "classic"; }),
              HasSubstr("differ in conversion"));
  EXPECT_THAT(complaint([](PrivacyClaim& claim) { claim.settings.assume = "poisson"; }),
              HasSubstr("differ in assume"));
  EXPECT_THAT(complaint([](PrivacyClaim& claim) { claim.adjacency = "replace-one"; }),
              HasSubstr("differ in adjacency"));
  EXPECT_THAT(complaint([](PrivacyClaim& claim) { claim.budget = 4; }), HasSubstr("differ in budget"));
  EXPECT_THAT(complaint([](PrivacyClaim& claim) { claim.as_if_rdp = claim.as_if_pld = Claim{.epsilon = 1}; }),
              HasSubstr("differ in as_if_epsilon_rdp"));
  EXPECT_THAT(message_of([] {
                table_of({finished("fedavg", 1, 0.5), finished_privately("fedavg", 2, 0.5)});
              }),
              HasSubstr("differ in policy: \"none\" and \"record\""));
}

Summary audited(std::int64_t seed, double lower_bound, bool control = false) {
  Summary summary = finished_privately(control ? "control" : "fedavg", seed, 0.5);
  summary.audit = CanaryAudit{.kind = "gradient",
                              .canaries = 1000,
                              .guesses = 200,
                              .right = 150,
                              .lower_bound = lower_bound,
                              .control = control};
  return summary;
}

TEST(AuditTable, HasTheMeanOfTheBoundsAndMarksControls) {
  const Table table = table_of(
      {audited(1, 0.25), audited(2, 0.75), audited(1, 4, true), finished_privately("plain", 1, 0.5)});
  EXPECT_EQ(table.rows[1].label, "fedavg");
  EXPECT_DOUBLE_EQ(table.rows[1].epsilon_at_least->mean, 0.5);
  EXPECT_FALSE(table.rows[1].control);
  EXPECT_TRUE(table.rows[0].control);
  EXPECT_FALSE(table.rows[2].epsilon_at_least);
  EXPECT_THAT(table.notes, Contains("control: the control of an audit, which ran without noise"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("with their canaries in")));
  EXPECT_THAT(render_markdown(table), HasSubstr("epsilon >="));
  EXPECT_THAT(render_csv(table), HasSubstr("epsilon_at_least_mean,epsilon_at_least_std,control"));
}

TEST(AuditTable, NamesSeedsWhoseAuditsContradictTheirClaims) {
  // Of the smaller epsilon, 2.5; a control claims nothing.
  Summary control = audited(1, 4, true);
  control.privacy->rdp = control.privacy->pld = Claim{.epsilon = kInfinity};
  const Table table = table_of({audited(1, 0.25), audited(2, 2.75), audited(3, 2.5), audited(7, 3), control});
  EXPECT_THAT(table.notes, Contains("fedavg: the audits of 2 of 4 seeds contradict the claim, each with a "
                                    "lower bound above its run's epsilon, as that of one honest run in "
                                    "twenty at most does: seeds 2, 7"));
  EXPECT_THAT(table.notes, Not(Contains(StartsWith("control: the audits"))));
  EXPECT_THAT(render_csv(table), AllOf(HasSubstr(",control,audits_contradicting"), HasSubstr(",false,2 7\n"),
                                       HasSubstr(",true,\n")));
  const Json rows = Json::parse(render_json(table))["rows"];
  EXPECT_EQ(rows[0]["audits_contradicting"], Json::array());
  EXPECT_EQ(rows[1]["audits_contradicting"], Json({2, 7}));
}

TEST(AuditTable, IsThatOfAnyOtherWithoutCanaries) {
  const Table table = table_of({finished_privately("plain", 1, 0.5)});
  EXPECT_THAT(render_markdown(table), Not(HasSubstr("epsilon >=")));
  EXPECT_THAT(render_csv(table), Not(HasSubstr("epsilon_at_least")));
}

TEST(AuditTable, AveragesNeitherOverControlsNorOverOtherCanaries) {
  Summary control = audited(2, 4, true);
  control.label = control.algorithm = "fedavg";
  EXPECT_THAT(message_of([&] {
                table_of({audited(1, 0.25), control});
              }),
              HasSubstr("differ in audit: \"gradient\" and \"gradient, without noise\""));
  EXPECT_THAT(message_of([&] {
                table_of({audited(1, 0.25), finished_privately("fedavg", 2, 0.5)});
              }),
              HasSubstr("differ in audit"));
}

}  // namespace
}  // namespace fedarena::results
