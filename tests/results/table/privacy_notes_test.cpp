// What stands under a table about its epsilons.

#include "results/record/claim_text.hpp"
#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/table/claim_samples.hpp"

namespace fedarena::results {
namespace {

TEST(PrivacyNotes, SaysWhatAnySeedTakesAsPublic) {
  std::vector<Summary> seeds;
  for (const std::vector<std::string>& public_data :
       std::vector<std::vector<std::string>>{{"b"}, {}, {"a", "b"}}) {
    seeds.push_back(finished_privately("fedavg", std::ssize(seeds), 0.5));
    seeds.back().privacy->public_data = public_data;
  }
  EXPECT_THAT(to_markdown(reader_table(table_of(seeds))),
              HasSubstr("\n- fedavg: epsilon takes as public, beside sizes: a, b\n"));
}

TEST(PrivacyNotes, SaysWhatThePrivacyOfLabelsLeavesOpen) {
  Summary honest = changed(finished_privately("honest", 1, 0.5), [](PrivacyClaim& claim) {
    claim.unit = "label";
    claim.adjacency = "";
  });
  honest.policy = "label";
  Summary published = finished_privately("published", 1, 0.5);
  published.privacy->nominal = {{"label epsilon of synthetic images", 1}};
  const std::string text = to_markdown(reader_table(table_of({honest, published})));
  EXPECT_THAT(text, has_all("- unit label: neighbours are one example's label exchanged for another; inputs, "
                            "and who holds them, are public",
                            "- label epsilon of synthetic images: synthetic images are made from raw",
                            "- rows differ in unit"));
  EXPECT_THAT(to_markdown(reader_table(table_of({finished_privately("other", 1, 0.5)}))),
              Not(HasSubstr("label")));
  const auto lines = claim_lines(*honest.privacy);
  EXPECT_EQ(lines.front().second,
            "the label of one example; neighbours: one example's label exchanged for "
            "another; inputs, and who holds them, are public");
}

TEST(PrivacyNotes, TellsTheLeastEpsilonWhereClientsHaveTheirOwn) {
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
  const std::string text = to_markdown(reader_table(table_of(summaries)));
  EXPECT_THAT(
      text, has_all("own: each client's epsilon is its own; this is the largest, the least is 0.5000 (RDP), "
                    "0.4500 (PLD); of the budgets [1, 3], 4 clients' pay for no round beyond those charged",
                    "own: stopped after 15 of 20 rounds, because no client's budget pays for another one"));
  std::string lines;
  for (const auto& [head, line] : claim_lines(*summaries[0].privacy)) lines += head + ": " + line + "\n";
  EXPECT_THAT(lines, has_all("least: 0.7500 by RDP, of the client with the least",
                             "budget: [1, 3], each client its own, which pays for no round beyond those "
                             "charged of 2 clients, which stopped"));
  const Summary none = row_of(kInfinity, 2);
  EXPECT_THAT(to_markdown(reader_table(table_of({none}))),
              HasSubstr("own: each client's epsilon is its own; none is finite; of the budgets"));
  const Summary one = row_of(0.75, 1);
  EXPECT_THAT(to_markdown(reader_table(table_of({one}))),
              HasSubstr("of the budgets [1, 3], 1 client's pays for no round beyond those charged"));
  EXPECT_THAT(
      claim_lines(*one.privacy),
      Contains(testing::Pair(
          "budget",
          HasSubstr("each client its own, which pays for no round beyond those charged of 1 client"))));
}

// The largest epsilon may be that of a client whose accesses stayed alike: nobody planned any.
TEST(PrivacyNotes, TellsWhichClientsAreChargedBudgetsOfTheirOwn) {
  Summary summary = changed(finished_privately("own", 1, 0.5), [](PrivacyClaim& claim) {
    claim.varied = claim.unplanned = true;
    claim.budget = PerClient(std::vector{1.0, 30.0});
    claim.made_rdp = claim.rdp;
    claim.made_pld = claim.pld;
  });
  const std::string charged =
      "clients whose accesses changed are charged what a filter with their budgets proves";
  EXPECT_THAT(table_of({summary}).notes, Contains(StartsWith("own: " + charged + ", because data")));
  EXPECT_THAT(claim_lines(*summary.privacy), Contains(testing::Pair("made", HasSubstr(charged))));
  // An exact access, under one budget.
  summary.privacy->budget = 30;
  summary.privacy->rdp = summary.privacy->pld = summary.privacy->made_rdp = summary.privacy->made_pld =
      Claim{.epsilon = kInfinity};
  EXPECT_THAT(table_of({summary}).notes, Not(Contains(HasSubstr("that alone would be"))));
}

TEST(PrivacyNotes, CollectsWhatIsNoteworthyInAnySeed) {
  Summary second = stopped_by_budget("fedavg", 2, 0.5);
  second.rounds_done = 14;
  second.privacy->as_if_rdp = second.privacy->as_if_pld = unproven("why");
  Summary first = finished_privately("fedavg", 1, 0.5);
  first.privacy->budget = 3;
  first.privacy->as_if_rdp = first.privacy->as_if_pld = Claim{.epsilon = 0.5};
  const Table table = table_of({first, second});
  EXPECT_THAT(to_markdown(reader_table(table)), has_all("| 14-20‡ |", "2.79 (as if unproven*)"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("seed 2: stopped after 14 of 20 rounds")));
  EXPECT_THAT(table.notes, Contains("fedavg: as if*, epsilon (RDP, PLD) is unproven: why"));
}

TEST(PrivacyNotes, NamesTheAccountantWhereTheyDiffer) {
  const Table table = table_of({changed(finished_privately("fedavg", 1, 0.5), [](PrivacyClaim& claim) {
    claim.rdp = Claim{.epsilon = kInfinity};
    claim.pld = unproven("no bound");
  })});
  EXPECT_THAT(table.notes,
              ElementsAre("fedavg: no epsilon (RDP) is finite at delta 1e-5",
                          "fedavg: epsilon (PLD) is unproven: no bound", StartsWith("zero-out: ")));
  EXPECT_THAT(to_markdown(reader_table(table)), HasSubstr("|           inf |      unproven |"));
}

TEST(PrivacyNotes, ComparesOnlyEpsilonsOfTheSameKind) {
  const Summary one = finished_privately("fedavg", 1, 0.5);
  Summary other = finished_privately("fedprox", 1, 0.5);
  const auto neighbours = StartsWith("zero-out: neighbours differ in one record");
  EXPECT_THAT(table_of({one, other}).notes, ElementsAre(neighbours));
  EXPECT_THAT(table_of({one, finished("plain", 1, 0.5)}).notes, ElementsAre(neighbours));
  other.privacy->settings.delta = 1e-6;
  EXPECT_THAT(table_of({one, other}).notes,
              ElementsAre(neighbours, "rows differ in delta: their epsilons cannot be compared"));
  other.privacy->adjacency = "replace-one";
  EXPECT_THAT(table_of({one, other}).notes,
              ElementsAre(neighbours, StartsWith("replace-one: neighbours differ in one record"),
                          "rows differ in delta and adjacency: their epsilons cannot be compared"));
  const Summary converted = changed(finished_privately("fedprox", 1, 0.5), [](PrivacyClaim& claim) {
    claim.settings.orders = "default";
    claim.settings.conversion = "classic";
  });
  EXPECT_THAT(table_of({one, converted}).notes,
              ElementsAre(neighbours,
                          "rows differ in orders (default, opacus) and conversion (balle, "
                          "classic) of RDP: their epsilons (RDP) cannot be compared"));
}

TEST(PrivacyNotes, SaysThatSizesArePublicWhereUnitsAreExchanged) {
  const auto exchanged = [](const char* unit) {
    Summary summary = changed(finished_privately(unit, 1, 0.5), [&](PrivacyClaim& claim) {
      claim.unit = unit;
      claim.adjacency = "replace-one";
    });
    summary.policy = unit;
    return summary;
  };
  const auto hidden = [&](const char* unit) { return claim_lines(*exchanged(unit).privacy).front().second; };
  EXPECT_THAT(table_of({exchanged("record")}).notes,
              ElementsAre("replace-one: neighbours differ in one record that is exchanged for another; the "
                          "sizes of shards and the number of clients are public"));
  EXPECT_EQ(
      hidden("record"),
      "one example of one client; neighbours: one exchanged for another (replace-one); sizes are public");
  EXPECT_THAT(table_of({exchanged("local")}).notes,
              ElementsAre("replace-one: neighbours differ in one client that is exchanged for another; the "
                          "sizes of shards (messages may tell how many examples their client has) and the "
                          "number of clients are public"));
  EXPECT_THAT(
      hidden("local"),
      EndsWith("(replace-one); sizes are public; messages may tell how many examples their client has"));
}

TEST(PrivacyNotes, WarnsOfADeltaThatAllowsToPublishAUnit) {
  const auto notes = [](double delta, std::int64_t units, const std::string& unit) {
    Summary summary = changed(finished_privately("fedavg", 1, 0.5), [&](PrivacyClaim& claim) {
      claim.settings.delta = delta;
      claim.units = units;
      claim.unit = unit;
      claim.adjacency = "";  // of which a note would be made
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
  EXPECT_THAT(notes(0.01, 100, "record"), SizeIs(1)) << "as large is not below";
  EXPECT_THAT(notes(0.5, 0, "record"), IsEmpty()) << "nobody knows how many there are";
}

// At so large a delta, a small epsilon of a large population is nothing.
TEST(PrivacyNotes, WarnsOfADeltaThatIsTooLargeForTheAsIfPopulation) {
  const auto notes = [](std::int64_t population) {
    Summary summary = changed(finished_privately("fedavg", 1, 0.5), [&](PrivacyClaim& claim) {
      claim.units = 10;
      claim.unit = "client";
      claim.adjacency = "";  // of which a note would be made
      claim.as_if_units = population;
      claim.as_if_rdp = claim.as_if_pld = Claim{.epsilon = 0.1};
    });
    summary.policy = "client";
    return table_of({summary}).notes;
  };
  EXPECT_THAT(notes(99'999), SizeIs(1));
  EXPECT_THAT(notes(100'000),
              Contains("fedavg: delta 1e-5 is not below 1/100000, one over the clients of the "
                       "as-if population: there it allows to publish one as it is"));
}

TEST(PrivacyNotes, WarnsByTheSeedWithTheMostUnits) {
  const auto of_seed = [](std::int64_t seed, std::int64_t units) {
    return changed(finished_privately("fedavg", seed, 0.5), [&](PrivacyClaim& claim) {
      claim.settings.delta = 0.01;
      claim.units = units;
      claim.adjacency = "";  // of which a note would be made
    });
  };
  EXPECT_THAT(table_of({of_seed(1, 99), of_seed(2, 101)}).notes, ElementsAre(HasSubstr("not below 1/101")));
}

}  // namespace
}  // namespace fedarena::results
