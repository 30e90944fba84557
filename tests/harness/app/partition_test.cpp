// `fedarena partition`: who holds what, before anything is run.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "partitions/card.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/results/images/decoded_png.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;

SmallExperiment partitioned(const std::string& partition) {
  return {.seeds = "[3, 4]", .partition = partition};
}

const std::string kClasses = "kind = \"classes\"\nclients = 5";

using PartitionCommand = ScratchTest;

TEST_F(PartitionCommand, PrintsTheCardAndWhoHoldsWhat) {
  partitioned(kClasses).write_to(scratch);
  const Outcome outcome = succeed("partition small.toml");
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(
      outcome.out,
      StartsWith("partition  classes(clients=5,classes_per_client=2,seed=3)\n"
                 "data set   glyphs\n"
                 "in short   classes: 5 clients, 2 classes each, size 2,400 each, label entropy 0.69 nats, "
                 "index hash "));
  EXPECT_THAT(outcome.out, ContainsRegex("client  examples  entropy +0     1     2     3     4"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("\n     1      2400     0.69  |····████············|     0     0  1200  1200     0     0"));
}

TEST_F(PartitionCommand, LeavesOutWhatAPolicyKeepsPrivate) {
  SmallExperiment experiment = partitioned(kClasses);
  experiment.more = "\n[algorithms.privacy]\npolicy = \"record\"\n";
  experiment.write_to(scratch);
  const std::string left_out =
      "how many examples of which class each client holds is private in this experiment, and left out\n";
  const Outcome shown = succeed("partition small.toml");
  EXPECT_EQ(shown.err, "note: " + left_out);
  EXPECT_THAT(shown.out, HasSubstr("in short   classes: 5 clients, size 2,400 each, index hash "));
  EXPECT_THAT(shown.out, HasSubstr("client  examples\n     0      2400\n"));
  const json card = json::parse(succeed("partition small.toml --format json").out);
  EXPECT_EQ(card.at("class_counts"), json::array());
  EXPECT_EQ(card.at("label_entropy"), json::array());
  EXPECT_THAT(refused("partition small.toml -o map.png"),
              StartsWith("fedarena: map.png: " + left_out + "  Leave --output out"));
  EXPECT_FALSE(fs::exists(scratch / "map.png"));

  const Outcome run = succeed("run small.toml --out out");
  EXPECT_THAT(run.err, HasSubstr("seed 3: classes: 5 clients, size 2,400 each, index hash "));
  const json recorded = json::parse(content_of(scratch / "out/fedavg-seed-3/partition.json"));
  EXPECT_EQ(recorded.at("class_counts").size(), 5U);

  const Outcome declared =
      succeed("partition small.toml --set algorithms.fedavg.privacy.public_label_counts=true");
  EXPECT_EQ(declared.err, "");
  EXPECT_THAT(declared.out, HasSubstr("2 classes each, size 2,400 each, label entropy 0.69 nats"));
}

// At the point there is no algorithm under a policy, but the deal is the same.
TEST_F(PartitionCommand, LeavesOutAtEveryPointWhatAPolicyOfTheFileKeepsPrivate) {
  SmallExperiment experiment = partitioned(kClasses);
  experiment.algorithms = {"fedprox", "fedavg"};
  experiment.more =
      "\n[algorithms.privacy]\npolicy = \"record\"\n\n[sweep]\n\"algorithms.fedprox.mu\" = [0.1, 1]\n";
  experiment.write_to(scratch);
  const std::string card = "classes: 5 clients, size 2,400 each, index hash ";
  EXPECT_THAT(succeed("partition small.toml --point algorithms.fedprox.mu=0.1").out,
              HasSubstr("in short   " + card));
  EXPECT_THAT(succeed("run small.toml --only fedprox --only seed-3").err, HasSubstr("seed 3: " + card));
}

TEST_F(PartitionCommand, ShowsOnePointOfAGrid) {
  scratch.write("grid.toml", SmallExperiment{}.toml() + "\n[sweep]\n\"partition.clients\" = [3, 5]\n");
  EXPECT_THAT(succeed("partition grid.toml --point partition.clients=3").out, HasSubstr("iid: 3 clients, "));
  expect_refusals(scratch, "bad_points.txt");
}

TEST_F(PartitionCommand, TakesTheSeedProfileAndOverridesThatARunTakes) {
  partitioned("kind = \"dirichlet\"\nclients = 4").write_to(scratch);
  const auto card = [&](const std::string& options) {
    return json::parse(succeed("partition small.toml --format json " + options).out);
  };
  const json first = card(""), other = card("--seed 4");
  EXPECT_EQ(first.at("seed"), 3);
  EXPECT_EQ(first.at("kind"), "dirichlet");
  EXPECT_THAT(first.at("id").get<std::string>(), EndsWith(",alpha=0.5,min_examples=10,seed=3)"));
  EXPECT_THAT(other.at("id").get<std::string>(), EndsWith(",seed=4)"));
  EXPECT_NE(first.at("index_hash"), other.at("index_hash"));
  EXPECT_EQ(card("--seed 3"), first);
  EXPECT_EQ(first.at("clients"), 4);
  std::int64_t total = 0;
  for (std::size_t client = 0; client < 4; ++client) {
    std::int64_t held = 0;
    for (const std::int64_t count : first.at("class_counts").at(client)) held += count;
    EXPECT_EQ(first.at("sizes").at(client), held);
    total += held;
  }
  EXPECT_EQ(total, 12'000);
  EXPECT_EQ(card("--set partition.clients=7").at("sizes").size(), 7U);
}

// The run's own words and its summary name the same partition.
TEST_F(PartitionCommand, TellsWhatARunRecords) {
  partitioned("kind = \"shards\"\nclients = 6\nnoise = 0.2\nrotations = [0, 90]").write_to(scratch);
  const json card = json::parse(call("partition small.toml --seed 4 --format json").out);
  ASSERT_EQ(card.at("noise").size(), 6U);
  EXPECT_EQ(card.at("noise").at(0), 0);
  EXPECT_NEAR(card.at("noise").at(3).get<double>(), 0.12, 1e-15);
  EXPECT_EQ(card.at("rotations"), (std::vector<int>{0, 90, 0, 90, 0, 90}));
  EXPECT_THAT(call("partition small.toml").out,
              HasSubstr("noise      on inputs of 5 of 6 clients, standard deviation up to 0.2\n"
                        "rotations  of inputs of 3 of 6 clients\n"));
  const Outcome run = succeed("run small.toml --out out");
  const fs::path file = scratch / "out/fedavg-seed-4/partition.json";
  EXPECT_EQ(json::parse(content_of(file)), card);
  EXPECT_THAT(call("verify out").out, HasSubstr(" 0 differences"));
  const std::string hash = card.at("index_hash"), id = card.at("id");
  EXPECT_THAT(run.err, has_all("seed 4: shards: 6 clients, ", ", index hash " + hash + ", id " + id + "\n"));
  const results::Summary summary = summary_of(scratch / "out/fedavg-seed-4");
  EXPECT_EQ(summary.partition_id, id);
  EXPECT_EQ(summary.partition_hash, hash);
  EXPECT_EQ(summary.partition,
            "shards (clients = 6, noise = 0.2, rotations = [0, 90], shards_per_client = 2)");
  EXPECT_THAT(call("table out").out,
              has_all("partition of glyphs: shards(clients=6,", "seed 4 index hash " + hash));
}

// A finished run that lost its card gets no other; one that is begun anew does.
TEST_F(PartitionCommand, CardsOfRunsSurviveResuming) {
  run_small(scratch, partitioned(kClasses));
  const fs::path older = scratch / "out/fedavg-seed-3", crashed = scratch / "out/fedavg-seed-4";
  const std::string card = content_of(crashed / "partition.json");
  fs::remove(older / "partition.json");
  for (const auto& entry : fs::directory_iterator(crashed)) {
    const std::string name = entry.path().filename();
    if (name != "experiment.toml" && name != "environment.json") fs::remove_all(entry.path());
  }
  scratch.write("out/fedavg-seed-4/partition.json", "{");
  succeed("run small.toml --out out --resume");
  EXPECT_EQ(content_of(crashed / "partition.json"), card);
  EXPECT_FALSE(fs::exists(older / "partition.json"));
  EXPECT_THAT(call("verify out").out, HasSubstr("fedavg-seed-3/partition.json: the card is missing"));
}

// Tables keep such runs with those of before there was feature skew.
TEST_F(PartitionCommand, FeatureSkewThatIsOffIsNotPartOfATablesSetting) {
  run_small(scratch, partitioned("kind = \"iid\"\nclients = 4"));
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-3").partition, "iid (clients = 4)");
}

TEST_F(PartitionCommand, DrawsTheHeatMap) {
  partitioned(kClasses).write_to(scratch);
  succeed("partition small.toml -o map.png");
  EXPECT_EQ(results::decoded_png(content_of(scratch / "map.png")).width, 1200);
  succeed("partition small.toml -o map.svg");
  const std::string picture = content_of(scratch / "map.svg");
  EXPECT_THAT(picture, HasSubstr("classes of glyphs, seed 3, index hash "));
  EXPECT_THAT(picture, HasSubstr("1200"));
}

// The lines behind the first one, as numbers without commas between them.
std::vector<std::pair<int, int>> clients_and_indices(const std::string& csv, const std::string& split) {
  std::vector<std::pair<int, int>> held;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("," + split + ",");
    if (at == std::string::npos) continue;
    held.emplace_back(std::stoi(line), std::stoi(line.substr(at + split.size() + 2)));
  }
  return held;
}

TEST_F(PartitionCommand, ListsWhoHoldsWhichExample) {
  partitioned(kClasses).write_to(scratch);
  const Outcome outcome = succeed("partition small.toml -o held.csv");
  EXPECT_EQ(outcome.out, succeed("partition small.toml").out);
  const std::string csv = content_of(scratch / "held.csv");
  EXPECT_THAT(csv, StartsWith("client,split,index\n0,train,"));
  Partition partition(5);
  for (const auto& [client, index] : clients_and_indices(csv, "train"))
    partition.at(static_cast<std::size_t>(client)).push_back(index);
  EXPECT_THAT(outcome.out, HasSubstr("index hash " + index_hash(partition)));
}

// Examples that are held out for validation do not move the others.
TEST_F(PartitionCommand, ListsPositionsInTheDataSetAsPublished) {
  partitioned("kind = \"iid\"").write_to(scratch);
  succeed("partition small.toml --set evaluation.validation_fraction=0.25 -o held.csv");
  std::set<int> indices;
  for (const auto& [client, index] : clients_and_indices(content_of(scratch / "held.csv"), "train"))
    indices.insert(index);
  EXPECT_EQ(indices.size(), 9'000U);
  EXPECT_GT(*indices.rbegin(), 11'900);
}

// Rows of a file say who holds them; drawn test rows belong to the users that have them.
TEST_F(PartitionCommand, ListsRowsOfAFileWhosePartsAreDrawn) {
  std::string table = "x,whose,label\n";
  for (int row = 0; row < 60; ++row)
    table += fmt::format("{},user{},{}\n", row, row % 3, row % 2 == 0 ? "a" : "b");
  SmallExperiment experiment = partitioned("kind = \"by-user\"");
  experiment.data = "csv\"\npath = \"own.csv\"\ntarget = \"label\"\nuser = \"whose";
  experiment.evaluation = "per_client = true\n";
  experiment.files = {{"own.csv", table}};
  experiment.write_to(scratch);
  succeed("partition small.toml -o held.csv");
  const std::string csv = content_of(scratch / "held.csv");
  auto held = clients_and_indices(csv, "train");
  EXPECT_EQ(held.size(), 48U);
  const auto tests = clients_and_indices(csv, "test");
  EXPECT_EQ(tests.size(), 12U);
  held.insert(held.end(), tests.begin(), tests.end());
  std::set<int> rows;
  std::map<int, std::set<int>> users_of_clients;
  for (const auto& [client, row] : held) {
    rows.insert(row);
    users_of_clients[client].insert(row % 3);
  }
  EXPECT_EQ(rows.size(), 60U);
  for (const auto& [client, users] : users_of_clients) EXPECT_EQ(users.size(), 1U) << "client " << client;
}

TEST_F(PartitionCommand, WritesOverNothingThatItReads) {
  std::string table = "x,label\n";
  for (int row = 0; row < 60; ++row) table += fmt::format("{},{}\n", row, row % 2 == 0 ? "a" : "b");
  SmallExperiment experiment = partitioned("kind = \"iid\"\nclients = 4");
  experiment.data = "csv\"\npath = \"own.csv\"\ntest_path = \"test.csv\"\ntarget = \"label";
  experiment.more = "\n[proxy]\nname = \"csv\"\npath = \"public.csv\"\ntarget = \"label\"\n";
  experiment.files = {{"own.csv", table}, {"test.csv", table + "60,a\n"}, {"public.csv", table}};
  experiment.write_to(scratch);
  fs::create_hard_link(scratch / "own.csv", scratch / "linked.csv");
  fs::copy(scratch / "small.toml", scratch / "experiment.csv");
  for (const std::string file : {"own.csv", "./test.csv", "public.csv", "linked.csv", "experiment.csv"}) {
    const std::string before = content_of(scratch / file);
    EXPECT_THAT(refused("partition experiment.csv -o " + file),
                has_all(file + ": --output: would change ", ", which the command reads"));
    EXPECT_EQ(content_of(scratch / file), before);
  }
  succeed("partition small.toml -o other.csv");
}

TEST_F(PartitionCommand, ShowsAHundredClients) {
  partitioned("kind = \"dirichlet-niid-bench\"\nclients = 100").write_to(scratch);
  const Outcome outcome = succeed("partition small.toml -o map.png");
  EXPECT_THAT(outcome.out, HasSubstr("\n    99  "));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3 + 1 + 1 + 100 + 1);
}

TEST_F(PartitionCommand, RefusesWithARemedy) {
  partitioned(kClasses).write_to(scratch);
  expect_refusals(scratch, "bad_partitions.txt");
  EXPECT_FALSE(fs::exists(scratch / "map.jpg"));
}

TEST_F(PartitionCommand, LeavesNothingWhenGnuplotIsNotThere) {
  partitioned(kClasses).write_to(scratch);
  const Start without{.environment = {{"PATH", scratch.path().string()}}};
  const Outcome outcome = failed("partition small.toml -o map.png", without);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("gnuplot, which draws the plots, is not installed"));
  EXPECT_FALSE(fs::exists(scratch / "map.png"));
}

}  // namespace
}  // namespace fedarena::test
