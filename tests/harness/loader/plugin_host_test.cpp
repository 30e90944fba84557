#include "harness/loader/plugin_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/harness/loader/bad_plugins.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

using test::bad_plugins;

class Host : public ::testing::Test {
 protected:
  Host() { host.load_folder(bad_plugins()); }

  const PluginReport& report(const std::string& file) const {
    for (const PluginReport& report : host.reports()) {
      if (report.library.filename() == file) return report;
    }
    throw std::runtime_error("no report of " + file);
  }
  std::string problem(const std::string& file) const { return report(file).problem; }

  PluginHost host;
};

TEST_F(Host, LoadsAGoodPluginAmongBadOnes) {
  const PluginReport& good = report("good.so");
  EXPECT_EQ(good.problem, "");
  EXPECT_EQ(good.name, "good");
  EXPECT_EQ(good.version, "1.2.3");
  EXPECT_EQ(good.algorithms, (std::vector<std::string>{"thrower", "second"}));
  EXPECT_EQ(host.registry().algorithms().size(), 2U);
  EXPECT_EQ(host.info("thrower").plugin, "good 1.2.3");
  EXPECT_EQ(host.info("thrower").library, good.library.string());
  EXPECT_NE(host.create("thrower", {}), nullptr);
}

TEST_F(Host, ReportsEveryFileInOrderAndNothingElse) {
  std::vector<std::string> files;
  for (const PluginReport& report : host.reports()) files.push_back(report.library.filename());
  EXPECT_EQ(files, (std::vector<std::string>{"dangling.so", "good.so", "install_throws.so",
                                             "install_throws_number.so", "no_symbol.so",
                                             "short_description.so", "text.so", "undefined_symbol.so",
                                             "wrong_kind.so", "z_duplicate.so", "z_twice.so"}));
}

TEST_F(Host, SaysWhatIsWrongWithEachBadPlugin) {
  EXPECT_THAT(problem("dangling.so"), has_all("it cannot be loaded", "No such file"));
  EXPECT_THAT(problem("text.so"), HasSubstr("it cannot be loaded: it is not a shared library"));
  EXPECT_THAT(problem("undefined_symbol.so"), has_all("it cannot be loaded", "a_function_that_nobody_has"));
  EXPECT_EQ(problem("no_symbol.so"),
            "it exports no \"fedarena_plugin\"; write FEDARENA_PLUGIN(name, version) { ... } in it, "
            "and build it against this program's SDK");
  EXPECT_THAT(problem("short_description.so"), HasSubstr("description of 8 bytes"));
  EXPECT_THAT(problem("wrong_kind.so"), HasSubstr("it exports no function \"fedarena_install\""));
  EXPECT_EQ(problem("install_throws.so"), "the disk is full");
  EXPECT_EQ(problem("install_throws_number.so"),
            "its install function threw something that is not a std::exception");
  EXPECT_THAT(problem("z_duplicate.so"),
              has_all("its algorithm name \"thrower\" is already taken by", "good.so"));
  EXPECT_EQ(problem("z_twice.so"), "the algorithm name \"twin\" is already taken by the same plugin");
}

// Columns of tables and keys of sweeps would not say whose it is.
TEST(PolicySettings, AreNotThoseOfAnAlgorithm) {
  PluginHost host({"budget", "where"});
  host.load_folder(bad_plugins());
  const auto good = std::ranges::find_if(
      host.reports(), [](const PluginReport& report) { return report.library.filename() == "good.so"; });
  EXPECT_EQ(
      good->problem,
      "the setting \"where\" of algorithm \"thrower\" is called like one of [privacy]; allowed: any name "
      "but budget, where\n  Rename it, such as \"own_where\"");
}

// Names become folders of runs, keys of files and fields of records.
TEST(Registry, RefusesNamesThatNothingElseCanBear) {
  const auto refusal = [](const std::string& algorithm, std::vector<Field> fields) {
    Registry registry;
    return message_of([&] { registry.add(AlgorithmInfo{algorithm, {}, std::move(fields), {}, {}, {}}); });
  };
  const Field rate{
      .name = "rate", .doc = "", .fallback = 0.5, .constraint = Constraint::positive(), .store = {}};
  Field spaced = rate, zero = rate;
  spaced.name = "the rate";
  zero.fallback = 0.0;
  for (const char* name : {"", "../out", "a/b", "a\nb", ".hidden"}) {
    EXPECT_THAT(refusal(name, {}), has_all("an algorithm is called ", "beginning with a letter")) << name;
  }
  EXPECT_THAT(refusal("a", {rate, rate}),
              HasSubstr("the setting \"rate\" of algorithm \"a\" is declared twice"));
  EXPECT_THAT(refusal("a", {spaced}),
              HasSubstr("has a name that no key of a file has; allowed: letters, digits"));
  EXPECT_THAT(refusal("a", {zero}), HasSubstr("has a default that it does not allow: rate is 0"));
}

TEST_F(Host, TakesAllOfAPluginOrNothing) {
  EXPECT_EQ(host.registry().find("half_installed"), nullptr);
  EXPECT_EQ(host.registry().find("free"), nullptr);
  EXPECT_EQ(host.registry().find("twin"), nullptr);
  for (const PluginReport& report : host.reports()) {
    EXPECT_TRUE(report.problem.empty() || report.algorithms.empty()) << report.library;
  }
}

TEST_F(Host, LoadsNoFileTwice) {
  const std::size_t before = host.reports().size();
  host.load_folder(bad_plugins());
  host.load_folder(bad_plugins() / ".." / "loader_plugins");
  EXPECT_EQ(host.reports().size(), before);
  EXPECT_EQ(problem("good.so"), "");
}

TEST_F(Host, SuggestsTheNearestAlgorithm) {
  expect_refused(
      has_all("unknown algorithm \"throwers\"; allowed: thrower, second; did you mean \"thrower\"?",
              "fedarena plugins"),
      [&] { host.info("throwers"); });
  expect_refused("unknown algorithm \"xyz\"", [&] { (void)host.create("xyz", {}); });
}

TEST_F(Host, ChecksSettings) {
  expect_refused(has_all("wher", "where"), [&] { (void)host.create("thrower", {{"wher", "train"}}); });
}

TEST(EmptyHost, SaysThatNoPluginWasFound) {
  expect_refused("none, for no plugin was found", [] { PluginHost().info("fedavg"); });
}

TEST(EmptyHost, RefusesAMissingFolder) {
  expect_refused(has_all("/missing: the plugin path is not a folder", "Give the folder"),
                 [] { PluginHost().load_folder(bad_plugins() / "missing"); });
  expect_refused("is not a folder", [] { PluginHost().load_folder(bad_plugins() / "text.so"); });
}

using Paths = std::vector<std::filesystem::path>;

Paths folders(const char* variable, const Paths& given = {}) {
  ::setenv("FEDARENA_PLUGIN_PATH", variable, 1);
  Paths found = plugin_folders(given);
  ::unsetenv("FEDARENA_PLUGIN_PATH");
  // This program lies in the build tree, where plugins may or may not have been built.
  if (!found.empty() && found.front() == test::build_folder() / "plugins") found.erase(found.begin());
  return found;
}

TEST(PluginFolders, AreSeparatedByColons) {
  EXPECT_EQ(folders(""), Paths{});
  EXPECT_EQ(folders("/a"), Paths{"/a"});
  EXPECT_EQ(folders("/a:/b c:d"), (Paths{"/a", "/b c", "d"}));
  EXPECT_EQ(folders("::/a::/b:"), (Paths{"/a", "/b"}));
}

TEST(PluginFolders, PutGivenOnesBeforeTheVariable) {
  EXPECT_EQ(folders("/variable", {"/first", "/second"}), (Paths{"/first", "/second", "/variable"}));
}

}  // namespace
}  // namespace fedarena
