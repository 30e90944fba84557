#include "datasets/registry.hpp"

#include <cstdlib>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// Sets (or, with nullptr, unsets) an environment variable until the end of its scope.
class WithVariable {
 public:
  WithVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~WithVariable() { set(before_ ? before_->c_str() : nullptr); }
  WithVariable(const WithVariable&) = delete;
  WithVariable& operator=(const WithVariable&) = delete;

 private:
  void set(const char* value) { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(Registry, KnowsEveryDataSetOnceAndHasASentenceOnIt) {
  EXPECT_THAT(dataset_names(), UnorderedElementsAre("glyphs", "mnist", "fashion-mnist", "cifar10", "cifar100",
                                                    "svhn", "femnist", "fed-emnist", "image-folder", "csv"));
  for (const auto& name : dataset_names()) EXPECT_THAT(dataset_summary(name), testing::EndsWith("."));
}

TEST(Registry, AnswersAnUnknownNameWithTheNamesAndTheNearest) {
  for (const auto& ask : {+[] { dataset_summary("mnits"); }, +[] { load_dataset("mnits", {}, {}); }}) {
    const std::string message = message_of(ask);
    EXPECT_THAT(message, AllOf(HasSubstr("no data set \"mnits\""), HasSubstr("fashion-mnist"),
                               HasSubstr("did you mean \"mnist\"?")));
  }
}

TEST(Registry, LoadsTheEmbeddedDataSetWithoutAnyFolder) {
  const Dataset glyphs = load_dataset("glyphs", {}, {});
  EXPECT_EQ(glyphs.name, "glyphs");
  EXPECT_EQ(glyphs.train.size(), 12'000);
}

TEST(Registry, ChecksSettings) {
  EXPECT_THAT(message_of([] {
                load_dataset("glyphs", {{"labels", "fine"}}, {});
              }),
              HasSubstr("unknown key \"labels\"; allowed: no keys"));
  EXPECT_THAT(message_of([] {
                load_dataset("cifar100", {{"labels", "corase"}}, {});
              }),
              AllOf(HasSubstr("labels is \"corase\""), HasSubstr("did you mean \"coarse\"?")));
  EXPECT_THAT(message_of([] { check_dataset("csv", complete(dataset_fields("csv"), {})); }),
              HasSubstr("path is \"\"; allowed: a CSV file, plain or .gz"));
}

TEST(Registry, DescribesADataSetByTheSettingsThatAreNotDefaults) {
  EXPECT_EQ(describe_dataset("glyphs", {}), "glyphs");
  EXPECT_EQ(describe_dataset("cifar100", {{"labels", "fine"}}), "cifar100");
  EXPECT_EQ(describe_dataset("csv", {{"path", "a.csv"}, {"user", ""}, {"test_fraction", 0.3}}),
            "csv (path = \"a.csv\", test_fraction = 0.3)");
}

TEST(Registry, ListsPublishedFilesWithSizesAndDigests) {
  EXPECT_TRUE(dataset_files("csv").files.empty());
  for (const std::string name : {"mnist", "fashion-mnist", "cifar10", "cifar100", "svhn"}) {
    EXPECT_EQ(dataset_files(name).dataset, name);
    EXPECT_FALSE(dataset_files(name).files.empty());
    for (const PublishedFile& file : dataset_files(name).files) {
      EXPECT_GT(file.size, 0) << file.name;
      EXPECT_THAT(file.sha256, testing::MatchesRegex("[0-9a-f]+")) << file.name;
      EXPECT_EQ(file.sha256.size(), 64U) << file.name;
    }
  }
}

class RegistryFiles : public ScratchFolder {};

TEST_F(RegistryFiles, NamesEveryFileOfADataSetThatIsNotThere) {
  EXPECT_THAT(message_of([&] { load_dataset("fashion-mnist", {}, {folder_}); }),
              AllOf(HasSubstr("train-images-idx3-ubyte"), HasSubstr("t10k-labels-idx1-ubyte"),
                    HasSubstr((folder_ / "fashion-mnist").string()), HasSubstr("zalandoresearch")));
  EXPECT_THAT(message_of([&] { load_dataset("cifar10", {}, {folder_}); }),
              AllOf(HasSubstr("data_batch_5.bin"), HasSubstr("cifar-10-batches-bin"), HasSubstr("toronto")));
}

TEST(SearchPath, ListsTheVariableFirstAndThenTheCache) {
  const WithVariable data("FEDARENA_DATA", "/one::/two:");
  const WithVariable cache("XDG_CACHE_HOME", "/cache");
  EXPECT_THAT(default_search_path(), ElementsAre("/one", "/two", "/cache/fedarena"));
}

TEST(SearchPath, FallsBackToTheCacheOfTheHomeFolder) {
  const WithVariable data("FEDARENA_DATA", nullptr);
  const WithVariable cache("XDG_CACHE_HOME", nullptr);
  const WithVariable home("HOME", "/home/someone");
  EXPECT_THAT(default_search_path(), ElementsAre("/home/someone/.cache/fedarena"));
  const WithVariable relative("XDG_CACHE_HOME", "relative");
  EXPECT_THAT(default_search_path(), ElementsAre("/home/someone/.cache/fedarena"));
}

}  // namespace
}  // namespace fedarena
