// Who may include whom. An include that breaks the table below fails this test with its file, line and rule.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/paths.hpp"

namespace fedarena {
namespace {

using Names = std::set<std::string>;

constexpr const char* kTorch = "LibTorch";

// Our modules that each module names as its own; what those may include, it may too. harness/base serves all
// of them.
const std::map<std::string, Names>& table() {
  static const std::map<std::string, Names> table = {
      {"harness", {}},  // only the precompiled header
      {"harness/base", {}},
      {"harness/digest", {"harness/base"}},
      {"accounting", {"harness/base"}},
      {"partitions", {"harness/base"}},
      {"results", {"harness/base", "harness/digest", "accounting"}},
      {"datasets", {"harness/base", "harness/digest"}},
      {"harness/sdk", {"harness/base"}},
      {"harness/models", {"harness/sdk"}},
      {"harness/config", {"harness/sdk"}},
      {"harness/wire", {"harness/sdk"}},
      {"harness/gradients", {"harness/sdk"}},
      {"harness/loader", {"harness/sdk"}},
      {"harness/oracle", {"harness/sdk", "harness/gradients", "datasets", "accounting"}},
      {"harness/simulation", {"harness/wire", "harness/oracle", "harness/models", "partitions", "results"}},
      {"harness/runner", {"harness/simulation", "harness/config", "harness/loader"}},
      {"harness/app", {"harness/runner", "results"}},
  };
  return table;
}

// The folders that may include everything, or hold no C++ of the program.
const Names kUnbound = {"tests", "benchmarks", "docs", "scripts", "build", "runs"};

// How each module's headers are spelled; the first prefix that fits decides.
const std::vector<std::pair<std::string, std::string>>& spellings() {
  static const std::vector<std::pair<std::string, std::string>> spellings = {
      {"fedarena/base/", "harness/base"},
      {"fedarena/accounting/", "accounting"},
      {"fedarena/", "harness/sdk"},
      {"accounting/", "accounting"},
      {"partitions/", "partitions"},
      {"results/", "results"},
      {"datasets/", "datasets"},
      {"plugins/", "plugins"},
      {"tests/", "tests"},
      {"benchmarks/", "benchmarks"},
  };
  return spellings;
}

// A library and the modules that may use it or may not.
struct Library {
  std::string name;
  std::vector<std::string> prefixes;
  Names only = {};  // empty: everyone
  Names never = {};
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> libraries = {
      {.name = kTorch,
       .prefixes = {"torch/", "ATen/", "c10/", "caffe2/"},
       .never = {"accounting", "results", "partitions", "harness/base"}},
      {.name = "toml++", .prefixes = {"toml++/", "toml.hpp"}, .only = {"harness/config"}},
      {.name = "Boost.DLL", .prefixes = {"boost/dll"}, .only = {"harness/loader"}},
      {.name = "fmt", .prefixes = {"fmt/"}},
      {.name = "oneTBB", .prefixes = {"tbb/", "oneapi/"}},
  };
  return libraries;
}

// The modules that name all libraries they use.
const std::map<std::string, Names>& library_lists() {
  static const std::map<std::string, Names> lists = {
      {"harness/base", {"fmt", "oneTBB"}}, {"partitions", {"fmt"}}, {"plugins", {kTorch}}};
  return lists;
}

struct Violation {
  std::string file;
  int line;
  std::string rule;
};

std::string first_folders(const std::string& path, int count) {
  std::size_t end = 0;
  for (int i = 0; i < count; ++i) {
    end = path.find('/', i == 0 ? 0 : end + 1);
    if (end == std::string::npos) return path.substr(0, path.rfind('/'));
  }
  return path.substr(0, end);
}

// "harness/wire" of "harness/wire/wire.cpp", "results" of "results/table.cpp", "plugins" of
// "plugins/fedavg/fedavg.cpp".
std::string module_of_file(const std::string& path) {
  return path.starts_with("harness/") ? first_folders(path, 2) : first_folders(path, 1);
}

std::optional<std::string> module_of_header(const std::string& header) {
  if (header.starts_with("harness/")) return first_folders(header, 2);
  for (const auto& [prefix, module] : spellings()) {
    if (header.starts_with(prefix)) return module;
  }
  return std::nullopt;
}

// The table's row with everything that follows from it.
Names reachable(const std::string& module) {
  Names found = {"harness/base", module};
  for (const std::string& next : table().at(module)) found.merge(reachable(next));
  return found;
}

std::string list(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::string check_own_header(const std::string& file, const std::string& header, const std::string& target) {
  const std::string module = module_of_file(file);
  if (module == "plugins") {
    const bool same_plugin = header.starts_with(first_folders(file, 2) + "/");
    if (target == "harness/sdk" || same_plugin) return "";
    return "a plugin may include headers of harness/sdk only, as <fedarena/...>";
  }
  const Names allowed = reachable(module);
  if (allowed.contains(target)) return "";
  return fmt::format("{} may include {} and not {}", module, list(allowed), target);
}

std::string check_library(const std::string& module, const std::string& header) {
  const auto list_of = library_lists().find(module);
  for (const Library& library : libraries()) {
    const bool fits = std::any_of(library.prefixes.begin(), library.prefixes.end(),
                                  [&](const std::string& prefix) { return header.starts_with(prefix); });
    if (!fits) continue;
    if (library.never.contains(module)) return fmt::format("{} must not need {}", module, library.name);
    if (!library.only.empty() && !library.only.contains(module)) {
      return fmt::format("only {} may include {}", list(library.only), library.name);
    }
    if (list_of != library_lists().end() && !list_of->second.contains(library.name)) {
      return fmt::format("of libraries, {} may include {} only", module, list(list_of->second));
    }
    return "";
  }
  // A header in no folder, or in sys/, is the standard library's or the system's; others are some library's.
  const bool system = header.find('/') == std::string::npos || header.starts_with("sys/");
  if (system || list_of == library_lists().end()) return "";
  return fmt::format("of libraries, {} may include {} only", module, list(list_of->second));
}

// The rule that an include of `header` in `file` breaks, or "".
std::string broken_rule(const std::string& file, const std::string& header, bool quoted) {
  if (header.find("..") != std::string::npos) return "headers are named from the root, not by ..";
  if (const std::optional<std::string> target = module_of_header(header))
    return check_own_header(file, header, *target);
  if (quoted) {
    if (header.find('/') == std::string::npos) return "";  // of the same folder
    return "a quoted header is one of ours, named from the root";
  }
  return check_library(module_of_file(file), header);
}

// Checks one file, whose path is relative to the root of the repository.
std::vector<Violation> check_file(const std::string& file, const std::string& text) {
  const std::string module = module_of_file(file);
  if (kUnbound.contains(first_folders(file, 1))) return {};
  if (module != "plugins" && !table().contains(module)) {
    return {{file, 1, fmt::format("module {} has no row in the table of this test", module)}};
  }
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Violation> violations;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    std::string rule = broken_rule(file, match[2], match[1] == "\"");
    if (!rule.empty()) violations.push_back({file, number, std::move(rule)});
  }
  return violations;
}

bool is_source(const std::filesystem::path& path) {
  static const Names endings = {".hpp", ".cpp", ".h", ".cc", ".cu", ".cuh", ".inl"};
  return endings.contains(path.extension().string());
}

// All C++ and CUDA files outside hidden and unbound folders, relative to the root.
std::vector<std::string> sources(const std::filesystem::path& root) {
  std::vector<std::string> found;
  for (auto entry = std::filesystem::recursive_directory_iterator(root); entry != end(entry); ++entry) {
    const std::string name = entry->path().filename().string();
    const bool build_tree = std::filesystem::exists(entry->path() / "CMakeCache.txt");
    const bool skipped =
        name.starts_with(".") || build_tree || (entry.depth() == 0 && kUnbound.contains(name));
    if (entry->is_directory() && skipped) entry.disable_recursion_pending();
    if (entry->is_regular_file() && is_source(name)) {
      found.push_back(entry->path().lexically_relative(root).generic_string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string rule_of(const std::string& file, const std::string& line) {
  const std::vector<Violation> violations = check_file(file, line);
  return violations.empty() ? "" : violations.front().rule;
}

TEST(IncludeTable, HoldsForEverySource) {
  const std::filesystem::path root = test::source_folder();
  int checked = 0;
  for (const std::string& file : sources(root)) {
    std::ifstream stream(root / file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    ++checked;
    for (const Violation& violation : check_file(file, text)) {
      ADD_FAILURE() << violation.file << ":" << violation.line << ": " << violation.rule;
    }
  }
  EXPECT_GE(checked, 20) << "the walk found too few files to mean anything";
}

TEST(IncludeTable, LeadsUpwardsOnly) {
  for (const auto& [module, row] : table()) {
    for (const std::string& named : row) {
      ASSERT_TRUE(table().contains(named)) << named;
      EXPECT_FALSE(reachable(named).contains(module))
          << module << " and " << named << " would include each other";
    }
  }
}

struct IncludeTableCase {
  std::string file, line;
};

class Refused : public ::testing::TestWithParam<IncludeTableCase> {};
INSTANTIATE_TEST_SUITE_P(
    MadeUpLines, Refused,
    ::testing::Values(IncludeTableCase{"harness/base/error.cpp", "#include \"fedarena/accounting/ledger.hpp\""},
                      IncludeTableCase{"harness/base/error.cpp", "#include <nlohmann/json.hpp>"},
                      IncludeTableCase{"harness/base/fedarena/base/error.hpp", "#include <torch/types.h>"},
                      IncludeTableCase{"accounting/ledger.cpp", "#include \"results/table.hpp\""},
                      IncludeTableCase{"accounting/fedarena/accounting/ledger.hpp", "#include <fedarena/params.hpp>"},
                      IncludeTableCase{"accounting/ledger.cpp", "#include <ATen/Tensor.h>"},
                      IncludeTableCase{"partitions/iid.cpp", "#include \"datasets/dataset.hpp\""},
                      IncludeTableCase{"partitions/iid.cpp", "#include <c10/util/Exception.h>"},
                      IncludeTableCase{"partitions/iid.cpp", "#include <boost/math/distributions.hpp>"},
                      IncludeTableCase{"results/table.cpp", "#include \"harness/config/experiment.hpp\""},
                      IncludeTableCase{"results/table.cpp", "  #  include <torch/torch.h>"},
                      IncludeTableCase{"datasets/mnist.cpp", "#include \"fedarena/params.hpp\""},
                      IncludeTableCase{"harness/sdk/params.cpp", "#include \"harness/wire/wire.hpp\""},
                      IncludeTableCase{"harness/sdk/params.cpp", "#include \"fedarena/accounting/event.hpp\""},
                      IncludeTableCase{"harness/models/zoo.cpp", "#include \"datasets/dataset.hpp\""},
                      IncludeTableCase{"harness/config/read.cpp", "#include \"harness/runner/cohort.hpp\""},
                      IncludeTableCase{"harness/wire/wire.cpp", "#include \"harness/gradients/gradients.hpp\""},
                      IncludeTableCase{"harness/gradients/noise.cu", "#include \"fedarena/accounting/event.hpp\""},
                      IncludeTableCase{"harness/loader/host.cpp", "#include \"harness/config/read.hpp\""},
                      IncludeTableCase{"harness/oracle/oracle.cpp", "#include \"partitions/partition.hpp\""},
                      IncludeTableCase{"harness/runner/run.cpp", "#include \"harness/app/main.hpp\""},
                      IncludeTableCase{"harness/runner/run.cpp", "#include <toml++/toml.h>"},
                      IncludeTableCase{"harness/runner/run.cpp", "#include <boost/dll/shared_library.hpp>"},
                      IncludeTableCase{"harness/runner/run.cpp", "#include \"plugins/fedavg/fedavg.hpp\""},
                      IncludeTableCase{"harness/runner/run.cpp", "#include \"tests/golden/run.hpp\""},
                      IncludeTableCase{"harness/wire/wire.cpp", "#include \"../oracle/oracle.hpp\""},
                      IncludeTableCase{"harness/wire/wire.cpp", "#include \"oracle/oracle.hpp\""},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include <fedarena/base/error.hpp>"},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include \"harness/oracle/oracle.hpp\""},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include <fedarena/accounting/ledger.hpp>"},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include \"plugins/scaffold/scaffold.hpp\""},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include <fmt/format.h>"},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include <nlohmann/json.hpp>"},
                      IncludeTableCase{"novelty/new.cpp", "int x;"}, IncludeTableCase{"harness/novelty/new.cpp", "int x;"}));

TEST_P(Refused, Include) { EXPECT_NE(rule_of(GetParam().file, GetParam().line), ""); }

class Accepted : public ::testing::TestWithParam<IncludeTableCase> {};
INSTANTIATE_TEST_SUITE_P(
    MadeUpLines, Accepted,
    ::testing::Values(IncludeTableCase{"harness/base/pool.cpp", "#include <oneapi/tbb/task_arena.h>"},
                      IncludeTableCase{"harness/base/error.cpp", "#include \"fedarena/base/error.hpp\""},
                      IncludeTableCase{"harness/torch_pch.cpp", "#include <torch/types.h>"},
                      IncludeTableCase{"accounting/pld.cpp", "#include <boost/math/special_functions/erf.hpp>"},
                      IncludeTableCase{"partitions/iid.cpp", "// #include \"datasets/dataset.hpp\""},
                      IncludeTableCase{"partitions/iid.cpp", "#include <fmt/format.h>"},
                      IncludeTableCase{"results/write.cpp", "#include <sys/stat.h>"},
                      IncludeTableCase{"results/record.cpp", "#include \"fedarena/accounting/account.hpp\""},
                      IncludeTableCase{"datasets/mnist.cpp", "#include <zlib.h>"},
                      IncludeTableCase{"harness/config/read.cpp", "#include <toml++/toml.h>"},
                      IncludeTableCase{"harness/loader/host.cpp", "#include <boost/dll/shared_library.hpp>"},
                      IncludeTableCase{"harness/models/zoo/convnet.cpp", "#include \"fedarena/base/error.hpp\""},
                      IncludeTableCase{"harness/oracle/oracle.cpp", "#include \"fedarena/accounting/ledger.hpp\""},
                      IncludeTableCase{"harness/oracle/oracle.cpp", "#include \"harness/gradients/gradients.hpp\""},
                      IncludeTableCase{"harness/runner/run.cpp", "#include \"partitions/partition.hpp\""},
                      IncludeTableCase{"harness/runner/run.cpp", "#include \"fedarena/accounting/ledger.hpp\""},
                      IncludeTableCase{"harness/app/main.cpp", "#include \"harness/config/help.hpp\""},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include <fedarena/algorithm.hpp>"},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include <torch/torch.h>"},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include <cmath>"},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include \"step.hpp\""},
                      IncludeTableCase{"plugins/fedavg/fedavg.cpp", "#include \"plugins/fedavg/step.hpp\""},
                      IncludeTableCase{"tests/golden/run.cpp", "#include \"plugins/fedavg/fedavg.hpp\""}));

TEST_P(Accepted, Include) { EXPECT_EQ(rule_of(GetParam().file, GetParam().line), ""); }

TEST(CheckFile, GivesTheLineAndTheRuleOfEachViolation) {
  const std::vector<Violation> violations =
      check_file("partitions/iid.cpp",
                 "#include <vector>\n#include <torch/types.h>\n\n#include \"results/table.hpp\"\n");
  ASSERT_EQ(violations.size(), 2U);
  EXPECT_EQ(violations[0].file, "partitions/iid.cpp");
  EXPECT_EQ(violations[0].line, 2);
  EXPECT_EQ(violations[0].rule, "partitions must not need LibTorch");
  EXPECT_EQ(violations[1].line, 4);
  EXPECT_EQ(violations[1].rule, "partitions may include harness/base, partitions and not results");
}

TEST(Sources, FindsOurFilesAndSkipsBuildTrees) {
  const std::vector<std::string> found = sources(test::source_folder());
  EXPECT_THAT(found, ::testing::Contains("harness/base/fedarena/base/error.hpp"));
  EXPECT_THAT(found, ::testing::Contains("partitions/iid.cpp"));
  for (const std::string& file : found) EXPECT_FALSE(file.starts_with("build/")) << file;
}

}  // namespace
}  // namespace fedarena
