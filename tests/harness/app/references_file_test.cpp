// Files of published figures, and those that are shipped.
#include "harness/app/results/references_file.hpp"

#include <filesystem>
#include <map>

#include "results/table/table.hpp"
#include "tests/matchers.hpp"
#include "tests/recorded_cases.hpp"
#include "tests/results/published_figures.hpp"
#include "tests/results/samples.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
using results::References;
using results::Table;

const fs::path kExperiments = test::source_folder() / "experiments";

std::string refused(const std::string& text) {
  return message_of([&] { parse_references(text, "refs.toml"); });
}

TEST(ReferencesFile, IsAListOfFiguresUnderASource) {
  const References references = parse_references(test::kPublishedFigures, "refs.toml");
  ASSERT_EQ(references.sources.size(), 2U);
  EXPECT_EQ(references.sources[0].text, "Doe 2022");
  EXPECT_EQ(references.sources[0].selection, "last round");
  EXPECT_EQ(references.sources[0].metric.quantity.name, "loss");
  EXPECT_EQ(references.sources[0].metric.limit, 5);
  EXPECT_EQ(references.sources[1].metric.quantity.name, "accuracy");
  ASSERT_EQ(references.figures.size(), 3U);
  const auto keys_of = [&](std::size_t figure) {
    std::map<std::string, std::string> keys;
    for (const results::FigureKey& key : references.figures[figure].keys) keys[key.name] = key.value;
    return keys;
  };
  using Keys = std::map<std::string, std::string>;
  EXPECT_EQ(keys_of(0), (Keys{{"dataset", "mnist"}, {"label", "fedavg"}}));
  EXPECT_EQ(
      keys_of(1),
      (Keys{
          {"dataset", "cifar10"}, {"label", "fedprox"}, {"partition.alpha", "0.5"}, {"algorithms.mu", "1"}}));
  EXPECT_EQ(keys_of(2), (Keys{{"epsilon", "inf"}, {"label", "x"}}));
  EXPECT_EQ(references.figures[0].mean, 0.5);
  EXPECT_EQ(references.figures[0].std, 0.25);
  EXPECT_EQ(references.figures[0].n, 3);
  EXPECT_EQ(references.figures[1].n, 2);
  EXPECT_EQ(references.figures[1].std, std::nullopt);
  EXPECT_EQ(references.figures[1].place.str(), "refs.toml:9:3");
  EXPECT_EQ(references.figures[2].source, 1U);
}

TEST(ReferencesFile, IsRefusedAsRecorded) {
  std::string file;
  std::size_t cases = 0;
  for (const auto& [sign, text] : test::case_lines("tests/harness/app/reference_refusals.txt")) {
    if (sign == "=") file = text;
    if (sign == "~") file = "[published]\nsource = \"Doe\"\nfigures = [\n  " + text + ",\n]\n";
    if (sign != ">") continue;
    EXPECT_EQ(refused(file), text) << file;
    ++cases;
  }
  EXPECT_GT(cases, 20U);
}

TEST(ReferencesFile, IsOfALimitedLengthAndAFile) {
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "{ label = \"a\", mean = 1 },\n";
  EXPECT_THAT(refused("[published]\nsource = \"Doe\"\nfigures = [\n" + many + "]\n"),
              HasSubstr("more than 1000 figures; allowed: at most 1000 in a list"));
  expect_refused("no such file", [] { read_references("/nowhere/refs.toml"); });
  EXPECT_EQ(message_of([] { read_references("/"); }), "/: is a folder; allowed: a file of references (TOML)");
}

// A run as niid-mnist.toml and niid-cifar10.toml make it.
results::FoundRun niid_run(const std::string& dataset, const std::string& partition, results::Sweep sweep,
                           const std::string& label) {
  results::Summary summary = results::finished(label, 1, 0.5);
  summary.experiment = "niid-" + dataset;
  summary.dataset = dataset;
  summary.rounds = 50;
  summary.partition = partition;
  summary.sweep = std::move(sweep);
  return results::found(summary, dataset + partition);
}

Table niid_table(const std::string& dataset) {
  std::vector<results::FoundRun> runs;
  for (const std::string label : {"fedavg", "fedprox", "scaffold", "fednova"}) {
    runs.push_back(niid_run(dataset, "iid (clients = 10)", {{"partition.kind", "iid"}}, label));
    runs.push_back(niid_run(dataset, "dirichlet-niid-bench (clients = 10, alpha = 0.5, min_examples = 10)",
                            {{"partition.alpha", "0.5"}, {"partition.kind", "dirichlet-niid-bench"}}, label));
    for (const std::string classes : {"2", "3"}) {
      runs.push_back(
          niid_run(dataset, "shared-classes (clients = 10, classes_per_client = " + classes + ")",
                   {{"partition.classes_per_client", classes}, {"partition.kind", "shared-classes"}}, label));
    }
  }
  return make_table(runs);
}

// A quick look at one round is not what the figures are of.
TEST(ShippedReferences, OfNiidBenchAreNotThoseOfAQuickRun) {
  std::vector<results::FoundRun> runs = {niid_run("mnist", "iid (clients = 10)", {}, "fedavg")};
  runs.front().summary->rounds = 1;
  Table table = make_table(runs);
  expect_refused("none of the 32 figures matches a row of the table: no row has rounds = \"50\"",
                 [&] { add_published(table, read_references(kExperiments / "niid-bench/published.toml")); });
}

double published(const Table& table, const std::string& label, const std::string& partition) {
  for (const results::Row& row : table.rows) {
    if (row.label == label && row.setting.partition.find(partition) != std::string::npos)
      return row.published ? row.published->mean : -1;
  }
  ADD_FAILURE() << "no such row";
  return -1;
}

TEST(ShippedReferences, OfNiidBenchHaveAFigureForEveryRow) {
  const References references = read_references(kExperiments / "niid-bench/published.toml");
  EXPECT_EQ(references.figures.size(), 32U);
  Table mnist = niid_table("mnist"), cifar = niid_table("cifar10");
  add_published(mnist, references);
  add_published(cifar, references);
  for (const Table* table : {&mnist, &cifar}) {
    EXPECT_EQ(table->rows.size(), 16U);
    for (const results::Row& row : table->rows)
      EXPECT_TRUE(row.published) << row.label << row.setting.partition;
  }
  EXPECT_EQ(published(mnist, "fedprox", "iid ("), 99.16);
  EXPECT_EQ(published(mnist, "scaffold", "alpha = 0.5"), 99.07);
  EXPECT_EQ(published(mnist, "fedavg", "classes_per_client = 2"), 96.86);
  EXPECT_EQ(published(cifar, "fednova", "classes_per_client = 3"), 57.83);
  EXPECT_EQ(published(cifar, "scaffold", "classes_per_client = 2"), 49.42);
  EXPECT_EQ(published(cifar, "fedavg", "alpha = 0.5"), 62.47);
  EXPECT_THAT(mnist.notes, Contains(HasSubstr("theirs is the best round on the test set")));
  EXPECT_THAT(mnist.notes,
              Contains(HasSubstr("16 published figures match no row: no row has dataset = \"cifar10\"")));
}

TEST(ShippedReferences, OfTable2HaveTheFiguresOfThePaper) {
  const References references = read_references(kExperiments / "fedlap/published-table2.toml");
  std::vector<results::FoundRun> runs;
  for (const std::string dataset : {"mnist", "fashion-mnist", "cifar10"}) {
    for (const std::string label : {"dp-fedavg", "dp-fedprox", "fedlap-dp"}) {
      results::Summary summary = results::finished_privately(label, 1, 0.5);
      summary.experiment = "table2-" + dataset;
      summary.dataset = dataset;
      summary.rounds = 30;
      runs.push_back(results::found(summary, dataset));
    }
  }
  Table table = make_table(runs);
  add_published(table, references);
  std::map<std::string, std::string> found;
  for (const results::Row& row : table.rows) {
    if (row.published)
      found[row.setting.dataset + " " + row.label] =
          fmt::format("{} ± {}", row.published->mean, *row.published->std);
  }
  const std::map<std::string, std::string> paper = {
      {"mnist dp-fedavg", "45.25 ± 6.9"},          {"mnist dp-fedprox", "54.58 ± 4.9"},
      {"mnist fedlap-dp", "60.72 ± 1.3"},          {"fashion-mnist dp-fedavg", "50.11 ± 4.2"},
      {"fashion-mnist dp-fedprox", "54.57 ± 2.9"}, {"fashion-mnist fedlap-dp", "59.85 ± 1.5"},
      {"cifar10 dp-fedavg", "17.11 ± 0.7"},        {"cifar10 dp-fedprox", "19.4 ± 0.7"},
      {"cifar10 fedlap-dp", "21.42 ± 1.4"}};
  EXPECT_EQ(found, paper);
}

}  // namespace
}  // namespace fedarena
