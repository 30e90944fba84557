// The experiment files of the repository, against the program as it is.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/config/grid/grid.hpp"
#include "harness/loader/plugin_host.hpp"
#include "harness/runner/plan/catalog.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

const Catalog& catalog() {
  static const auto* const kCatalog = [] {
    auto* host = new PluginHost();
    host->load_folder(test::build_folder() / "plugins");
    return new Catalog(make_catalog(*host));
  }();
  return *kCatalog;
}

// All but published.toml and published-NAME.toml, which hold figures of others.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const bool experiment = !entry.path().filename().string().starts_with("published");
    if (experiment && entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  return files;
}

const fs::path kFolder = test::source_folder() / "experiments";

// What a GPU is compared with the CPU by.
const fs::path kEveryAlgorithm = test::source_folder() / "scripts/gpu-check.toml";

TEST(Experiments, OfTheGpuHaveEveryAlgorithm) {
  std::set<std::string> missing;
  for (const CatalogEntry& known : catalog().algorithms) missing.insert(known.name);
  for (const GridPoint& point : read_grid(config::read_document(kEveryAlgorithm), {}, catalog())) {
    for (const AlgorithmEntry& entry : point.experiment.algorithms) missing.erase(entry.name);
  }
  // The one is of a single client, the other needs data that are public and not those of [data].
  EXPECT_THAT(missing, ElementsAre("dsc", "feddf"));
}

// Reading checks every setting, and every profile.
TEST(Experiments, AreValidAndNamedAsTheirFiles) {
  std::vector<fs::path> files = files_below(kFolder);
  EXPECT_GE(files.size(), 9U);
  files.push_back(kEveryAlgorithm);
  for (const fs::path& file : files) {
    const FilePlan plan = read_plan(config::read_document(file), {}, catalog());
    for (const GridPoint& point : plan.points) EXPECT_EQ(point.experiment.name, file.stem().string()) << file;
  }
}

TEST(Experiments, OfTuningGiveEveryAlgorithmSixTrials) {
  const auto plan = read_plan(config::read_document(kFolder / "tuning.toml"), {}, catalog()).tuning;
  ASSERT_TRUE(plan);
  std::map<std::string, int> trials;
  for (const GridPoint& point : plan->points) {
    for (const AlgorithmEntry& entry : point.experiment.algorithms) ++trials[entry.label];
  }
  EXPECT_THAT(trials, ElementsAre(testing::Pair("fedavg", 6), testing::Pair("fedprox", 6),
                                  testing::Pair("scaffold", 6)));
}

TEST(Experiments, OfFedLapHaveAQuickProfile) {
  for (const fs::path& file : files_below(kFolder / "fedlap")) {
    SCOPED_TRACE(file.string());
    const config::Document document = config::read_document(file);
    const Experiment whole = read_grid(document, {}, catalog()).front().experiment;
    const Experiment quick = read_grid(document, {}, catalog(), "quick").front().experiment;
    EXPECT_EQ(quick.name, whole.name + "-quick");
    EXPECT_EQ(quick.seeds.size(), 1U);
    EXPECT_LE(quick.rounds, 5);
    ASSERT_EQ(quick.algorithms.size(), whole.algorithms.size());
    for (std::size_t i = 0; i < whole.algorithms.size(); ++i) {
      EXPECT_EQ(quick.algorithms[i].label, whole.algorithms[i].label);
    }
  }
}

TEST(Experiments, OfTheGridHaveAHundredCells) {
  std::size_t cells = 0;
  for (const GridPoint& point : read_grid(config::read_document(kFolder / "grid.toml"), {}, catalog()))
    cells += point.experiment.algorithms.size() * point.experiment.seeds.size();
  EXPECT_EQ(cells, 100U);
}

TEST(Experiments, OfTable4TakeTheSharesOfThePaper) {
  const config::Document file = config::read_document(kFolder / "fedlap/table4-train-size.toml");
  Experiment whole = read_grid(file, {}, catalog()).front().experiment;
  EXPECT_EQ(setting(whole.partition.settings, "train_fraction"), Value(1.0));
  for (const auto& [profile, share] :
       std::vector<std::pair<std::string, double>>{{"share-5", 0.05}, {"share-10", 0.1}, {"share-50", 0.5}}) {
    Experiment part = read_grid(file, {}, catalog(), profile).front().experiment;
    EXPECT_EQ(setting(part.partition.settings, "train_fraction"), Value(share));
    // All else is equal.
    part.name = whole.name;
    part.partition = whole.partition;
    EXPECT_EQ(part, whole) << profile;
  }
}

}  // namespace
}  // namespace fedarena
