#include "datasets/registry.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <torch/torch.h>

#include "datasets/hold_out.hpp"
#include "results/audit/expected_inputs.hpp"
#include "tests/datasets/scratch_folder.hpp"
#include "tests/environment.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

// What tells a run's data without reading any: a new setting needs its line there.
TEST(Registry, HasTheDefaultsThatTheAuditOfResultsTakesAsUsual) {
  for (const std::string& name : dataset_names()) {
    for (const Field& field : dataset_source(name).fields)
      EXPECT_EQ(results::usual_of_data(name, field.name), to_text(field.fallback))
          << name << "." << field.name;
  }
}

TEST(Registry, HasAsManyExamplesAndClassesAsTheAuditOfResultsTakesItToHave) {
  for (const std::string name : {"glyphs", "linear-mixture"}) {
    results::ResolvedSettings written{
        .texts = {{"data.name", name}, {"evaluation.validation_fraction", "0.15"}}};
    for (const Field& field : dataset_source(name).fields)
      written.texts["data." + field.name] = to_text(field.fallback);
    if (name == "glyphs") written.texts["data.train"] = "110";
    const Settings settings = name == "glyphs" ? Settings{{"train", std::int64_t{110}}} : Settings();
    Dataset data = load_dataset(name, settings, {});
    EXPECT_EQ(results::expected_classes(written), data.classes) << name;
    hold_out(data, 0.15);
    EXPECT_EQ(results::expected_examples(written), data.train.size()) << name;
  }
}

TEST(Registry, KnowsEveryDataSetOnceAndHasASentenceOnIt) {
  EXPECT_THAT(dataset_names(),
              UnorderedElementsAre("glyphs", "linear-mixture", "mnist", "fashion-mnist", "cifar10",
                                   "cifar100", "svhn", "femnist", "fed-emnist", "image-folder", "csv"));
  for (const auto& name : dataset_names()) EXPECT_THAT(dataset_source(name).summary, EndsWith("."));
}

TEST(Registry, ChecksSettings) {
  expect_refused("unknown key \"labels\"; allowed: train", [] {
    load_dataset("glyphs", {{"labels", "fine"}}, {});
  });
  expect_refused("path is \"\"; allowed: a CSV file, plain or .gz",
                 [] { check_dataset("csv", complete(dataset_source("csv").fields, {})); });
}

TEST(Registry, DescribesADataSetByTheSettingsThatAreNotDefaults) {
  EXPECT_EQ(describe_dataset("glyphs", {}), "glyphs");
  EXPECT_EQ(describe_dataset("cifar100", {{"labels", "fine"}}), "cifar100");
  EXPECT_EQ(describe_dataset("csv", {{"path", "a.csv"}, {"user", ""}, {"test_fraction", 0.3}}),
            "csv (path = \"a.csv\", test_fraction = 0.3)");
}

TEST(Registry, ListsPublishedFilesWithSizesAndDigests) {
  EXPECT_TRUE(dataset_source("csv").files.files.empty());
  for (const std::string name : {"mnist", "fashion-mnist", "cifar10", "cifar100", "svhn"}) {
    EXPECT_EQ(dataset_source(name).files.dataset, name);
    EXPECT_FALSE(dataset_source(name).files.files.empty());
    for (const PublishedFile& file : dataset_source(name).files.files) {
      EXPECT_GT(file.size, 0) << file.name;
      EXPECT_THAT(file.sha256, MatchesRegex("[0-9a-f]+")) << file.name;
      EXPECT_EQ(file.sha256.size(), 64U) << file.name;
    }
  }
}

class RegistryFiles : public ScratchFolder {};

TEST_F(RegistryFiles, NamesEveryFileOfADataSetThatIsNotThere) {
  expect_refused(has_all("train-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
                         (folder_ / "fashion-mnist").string(), "zalandoresearch"),
                 [&] { load_dataset("fashion-mnist", {}, {folder_}); });
  expect_refused(has_all("data_batch_5.bin", "cifar-10-batches-bin", "toronto"),
                 [&] { load_dataset("cifar10", {}, {folder_}); });
}

TEST(SearchPath, ListsTheVariableFirstAndThenTheCache) {
  const test::Environment folders(
      test::Variables{{"FEDARENA_DATA", "/one::/two:"}, {"XDG_CACHE_HOME", "/cache"}});
  EXPECT_THAT(default_search_path(), ElementsAre("/one", "/two", "/cache/fedarena"));
}

TEST(SearchPath, FallsBackToTheCacheOfTheHomeFolder) {
  const test::Environment home(
      test::Variables{{"FEDARENA_DATA", {}}, {"XDG_CACHE_HOME", {}}, {"HOME", "/home/someone"}});
  EXPECT_THAT(default_search_path(), ElementsAre("/home/someone/.cache/fedarena"));
  const test::Environment relative(test::Variables{{"XDG_CACHE_HOME", "relative"}});
  EXPECT_THAT(default_search_path(), ElementsAre("/home/someone/.cache/fedarena"));
}

Dataset numbered(std::int64_t size) {
  Dataset dataset;
  dataset.train = {.inputs = torch::arange(size).to(torch::kFloat32).view({size, 1}),
                   .targets = torch::arange(size).remainder(3)};
  for (std::int64_t index = 0; index < size; ++index) dataset.train.users.push_back(index / 10);
  dataset.test = {torch::zeros({2, 1}), torch::zeros({2}, torch::kInt64)};
  dataset.classes = 3;
  return dataset;
}

TEST(HoldOut, MovesEachExampleWithItsTargetAndUserToOneSide) {
  Dataset dataset = numbered(1000);
  hold_out(dataset, 0.1);
  ASSERT_EQ(dataset.validation.size(), 100);
  ASSERT_EQ(dataset.train.size(), 900);
  EXPECT_EQ(dataset.test.size(), 2);
  std::set<std::int64_t> seen;
  for (const Examples* part : {&dataset.train, &dataset.validation}) {
    ASSERT_EQ(part->users.size(), static_cast<std::size_t>(part->size()));
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < part->size(); ++i) {
      const auto number = static_cast<std::int64_t>(part->inputs[i].item<float>());
      EXPECT_TRUE(seen.insert(number).second);
      EXPECT_GT(number, before);
      EXPECT_EQ(part->targets[i].item<std::int64_t>(), number % 3);
      EXPECT_EQ(part->users[static_cast<std::size_t>(i)], number / 10);
      before = number;
    }
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(HoldOut, IsTheSameEveryTime) {
  Dataset first = numbered(50), second = numbered(50);
  hold_out(first, 0.5);
  hold_out(second, 0.5);
  EXPECT_TRUE(torch::equal(first.validation.inputs, second.validation.inputs));
}

TEST(HoldOut, RefusesToLeaveASideEmpty) {
  Dataset dataset = numbered(4);
  expect_refused("a validation fraction of 0.01 holds out 0 of 4 training examples",
                 [&] { hold_out(dataset, 0.01); });
  expect_refused("holds out 4 of 4", [&] { hold_out(dataset, 0.99); });
}

// The published files themselves, where they are at hand: FEDARENA_TEST_DATA names a folder that holds mnist/
// and so on.

namespace fs = std::filesystem;

/// Whether one of `files` (paths inside the test data) exists; otherwise prints the one line that says what
/// is not tested.
bool at_hand(const std::vector<std::string>& files) {
  for (const auto& file : files)
    if (fs::exists(test::data_folder() / file)) return true;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  fmt::print("real data absent ({} under {}), reduced to nothing: {}.{}\n", files.front(),
             test::data_folder().string(), test->test_suite_name(), test->name());
  return false;
}

/// Checks the stated mean of every channel, and the labels' counts; both within rounding of the literature.
void expect_published(const Dataset& set, std::vector<std::int64_t> image, std::int64_t train,
                      std::int64_t test) {
  for (const auto& [part, count] : {std::pair{&set.train, train}, std::pair{&set.test, test}}) {
    std::vector<std::int64_t> shape = image;
    shape.insert(shape.begin(), count);
    EXPECT_EQ(part->inputs.sizes(), shape);
    EXPECT_EQ(part->inputs.scalar_type(), torch::kUInt8);
    EXPECT_TRUE(part->inputs.is_contiguous());
    EXPECT_EQ(part->targets.sizes(), (std::vector<std::int64_t>{count}));
    EXPECT_EQ(part->targets.scalar_type(), torch::kInt64);
  }
  ASSERT_EQ(set.mean.size(), static_cast<std::size_t>(image.front()));
  ASSERT_EQ(set.deviation.size(), set.mean.size());
  for (std::int64_t channel = 0; channel < image.front(); ++channel) {
    const double mean = set.train.inputs.select(1, channel).sum(torch::kInt64).item<double>() / 255 /
                        static_cast<double>(set.train.inputs.numel() / image.front());
    EXPECT_NEAR(mean, set.mean[static_cast<std::size_t>(channel)], 2e-4);
  }
}

std::vector<std::int64_t> first_labels(const Examples& part, std::int64_t count) {
  const auto labels = part.targets.slice(0, 0, count).contiguous();
  return {labels.data_ptr<std::int64_t>(), labels.data_ptr<std::int64_t>() + count};
}

TEST(RealData, MnistIsThePublishedOne) {
  if (!at_hand({"mnist/train-images-idx3-ubyte.gz", "mnist/train-images-idx3-ubyte"})) return;
  const Dataset mnist = load_dataset("mnist", {}, {test::data_folder()});
  expect_published(mnist, {1, 28, 28}, 60'000, 10'000);
  EXPECT_THAT(first_labels(mnist.train, 10), ElementsAre(5, 0, 4, 1, 9, 2, 1, 3, 1, 4));
  EXPECT_THAT(first_labels(mnist.test, 10), ElementsAre(7, 2, 1, 0, 4, 1, 4, 9, 5, 9));
}

TEST(RealData, FashionMnistIsThePublishedOne) {
  if (!at_hand({"fashion-mnist/train-images-idx3-ubyte.gz", "fashion-mnist/train-images-idx3-ubyte"})) return;
  const Dataset fashion = load_dataset("fashion-mnist", {}, {test::data_folder()});
  expect_published(fashion, {1, 28, 28}, 60'000, 10'000);
  EXPECT_TRUE(torch::all(torch::bincount(fashion.train.targets) == 6'000).item<bool>());
}

TEST(RealData, Cifar10IsThePublishedOne) {
  if (!at_hand({"cifar10/data_batch_1.bin", "cifar10/data_batch_1.bin.gz",
                "cifar-10-batches-bin/data_batch_1.bin"}))
    return;
  const Dataset cifar = load_dataset("cifar10", {}, {test::data_folder()});
  expect_published(cifar, {3, 32, 32}, 50'000, 10'000);
  EXPECT_TRUE(torch::all(torch::bincount(cifar.train.targets) == 5'000).item<bool>());
  EXPECT_THAT(first_labels(cifar.train, 5), ElementsAre(6, 9, 9, 4, 1));
}

TEST(RealData, FemnistHasTheWritersOfItsFiles) {
  if (!at_hand({"femnist/train/all_data_0.json.gz"})) return;
  const Dataset femnist = load_dataset("femnist", {}, {test::data_folder()});
  EXPECT_EQ(femnist.train.inputs.sizes(), (std::vector<std::int64_t>{41'224, 1, 28, 28}));
  EXPECT_EQ(femnist.test.inputs.sizes(), (std::vector<std::int64_t>{4'733, 1, 28, 28}));
  EXPECT_EQ(femnist.train.inputs.scalar_type(), torch::kUInt8);
  EXPECT_EQ(femnist.classes, 62);
  EXPECT_EQ(femnist.users.size(), 300U);
  EXPECT_EQ(std::get<0>(torch::_unique(femnist.train.targets)).numel(), 62);
  for (const Examples* part : {&femnist.train, &femnist.test}) {
    ASSERT_EQ(part->users.size(), static_cast<std::size_t>(part->size()));
    const auto counts = torch::bincount(torch::tensor(part->users, torch::kInt64), {}, 300);
    EXPECT_GT(counts.min().item<int>(), 0) << "a writer without images";
  }
  // The first writer of the first file, as LEAF counts.
  EXPECT_EQ(femnist.users.front(), "f0424_27");
  EXPECT_EQ(std::count(femnist.train.users.begin(), femnist.train.users.end(), 0), 284);
  const double mean = femnist.train.inputs.sum(torch::kInt64).item<double>() / 255 /
                      static_cast<double>(femnist.train.inputs.numel());
  EXPECT_NEAR(mean, femnist.mean.at(0), 0.005);
  // Ink on paper: the corners are white.
  EXPECT_EQ(femnist.train.inputs[0][0][0][0].item<int>(), 255);
}

TEST(RealData, HospitalChargesAreARegressionByProvider) {
  const std::string file = "hospital-charges/ipps_drg100_fy2011.csv.gz";
  if (!at_hand({file})) return;
  const Dataset charges = load_dataset("csv",
                                       {{"path", file},
                                        {"target", "Average Total Payments"},
                                        {"task", "regression"},
                                        {"features", "Average Covered Charges"},
                                        {"categorical", "Provider State"},
                                        {"user", "Provider Id"},
                                        {"test_fraction", 0.3},
                                        {"standardise", "all"}},
                                       {test::data_folder()});
  EXPECT_EQ(charges.train.size() + charges.test.size(), 163'065);
  EXPECT_EQ(charges.test.size(), 48'920);  // 0.3 * 163,065 = 48,919.5
  EXPECT_EQ(charges.users.size(), 3'337U);
  EXPECT_EQ(charges.classes, 0);
  // A state is empty in 21 rows, which makes one more.
  EXPECT_EQ(charges.train.inputs.size(1), 1 + 51 + 1);
  EXPECT_NEAR(charges.train.targets.mean().item<double>(), 0, 1e-4);
  EXPECT_NEAR(charges.train.targets.std(0, false).item<double>(), 1, 1e-4);
  EXPECT_TRUE(torch::all(charges.train.inputs.slice(1, 1).sum(1) == 1).item<bool>());
}

// As experiments/personal/hospital-*.toml have them: one service of four as an index, places by states.
TEST(RealData, HospitalServicesHaveAnIndexAndThePlaceOfTheirState) {
  const std::string file = "hospital-charges/ipps_drg100_fy2013.csv.gz";
  if (!at_hand({file})) return;
  const Dataset charges =
      load_dataset("csv",
                   {{"path", file},
                    {"target", "Average Total Payments"},
                    {"task", "regression"},
                    {"features", "longitude, latitude"},
                    {"index", "DRG Definition"},
                    {"index_values", "194, 292, 392, 690"},
                    {"join_path", (test::source_folder() / "experiments/personal/us-states.csv").string()},
                    {"join", "Provider State"},
                    {"user", "Provider Id"},
                    {"test_fraction", 0.25},
                    {"standardise", "none"},
                    {"units", "longitude: 100, latitude: 50, Average Total Payments: 10000"}},
                   {test::data_folder()});
  EXPECT_EQ(charges.train.size() + charges.test.size(), 11'339);
  EXPECT_EQ(charges.users.size(), 3'063U);
  const auto inputs = torch::cat({charges.train.inputs, charges.test.inputs});
  ASSERT_EQ(inputs.size(1), 3);
  const auto index = torch::bincount(inputs.select(1, 2).to(torch::kInt64));
  EXPECT_TRUE(torch::equal(index, torch::tensor({2'953, 2'802, 2'790, 2'794}, torch::kInt64))) << index;
  // From Hawaii to Maine, from Hawaii to Alaska, in units.
  EXPECT_NEAR(inputs.select(1, 0).min().item<double>(), -1.5637, 1e-6);
  EXPECT_NEAR(inputs.select(1, 0).max().item<double>(), -0.6924, 1e-6);
  EXPECT_NEAR(inputs.select(1, 1).min().item<double>(), 0.4058, 1e-6);
  EXPECT_NEAR(inputs.select(1, 1).max().item<double>(), 1.2814, 1e-6);
  const auto targets = torch::cat({charges.train.targets, charges.test.targets});
  EXPECT_NEAR(targets.min().item<double>(), 0.358995, 1e-6);
  EXPECT_NEAR(targets.max().item<double>(), 3.054702, 1e-6);
}

class AlteredRealData : public ScratchFolder {};

TEST_F(AlteredRealData, OfTheRightFormIsRefusedByItsDigest) {
  const std::string labels = "mnist/t10k-labels-idx1-ubyte.gz";
  if (!at_hand({labels})) return;
  // The four files of Fashion-MNIST have the right sizes and labels for MNIST, so that only the digest tells.
  if (!at_hand({"fashion-mnist/t10k-labels-idx1-ubyte.gz"})) return;
  for (const auto& entry : fs::directory_iterator(test::data_folder() / "mnist")) {
    fs::create_directories(folder_ / "mnist");
    fs::create_symlink(entry.path(), folder_ / "mnist" / entry.path().filename());
  }
  fs::remove(folder_ / labels);
  fs::create_symlink(test::data_folder() / "fashion-mnist/t10k-labels-idx1-ubyte.gz", folder_ / labels);
  expect_refused(has_all((folder_ / labels).string(), "not the published file"),
                 [&] { load_dataset("mnist", {}, {folder_}); });
}

}  // namespace
}  // namespace fedarena
