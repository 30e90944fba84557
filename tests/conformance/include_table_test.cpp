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
#include <utility>
#include <vector>

#include <fmt/format.h>
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
      {"harness/ranks", {"harness/wire"}},
      {"harness/simulation",
       {"harness/ranks", "harness/wire", "harness/oracle", "harness/models", "partitions", "results"}},
      {"harness/slurm", {"results"}},
      {"harness/runner", {"harness/simulation", "harness/config", "harness/loader", "harness/slurm"}},
      {"harness/attack", {"harness/runner"}},
      {"harness/app", {"harness/attack", "results"}},
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
      {.name = "Boost.DLL", .prefixes = {"boost/dll"}, .only = {"harness/loader", "harness/ranks"}},
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

TEST(IncludeTable, RefusesWhatBreaksIt) {
  // Headers by the file that includes them.
  const std::vector<std::pair<std::string, std::vector<std::string>>> includes = {
      {"harness/base/error.cpp", {R"("fedarena/accounting/ledger.hpp")", "<nlohmann/json.hpp>"}},
      {"harness/base/fedarena/base/error.hpp", {"<torch/types.h>"}},
      {"accounting/ledger.cpp", {R"("results/table.hpp")", "<ATen/Tensor.h>"}},
      {"accounting/fedarena/accounting/ledger.hpp", {"<fedarena/params.hpp>"}},
      {"partitions/iid.cpp",
       {R"("datasets/dataset.hpp")", "<c10/util/Exception.h>", "<boost/math/distributions.hpp>"}},
      {"results/table.cpp", {R"("harness/config/experiment.hpp")"}},
      {"datasets/mnist.cpp", {R"("fedarena/params.hpp")"}},
      {"harness/sdk/params.cpp", {R"("harness/wire/wire.hpp")", R"("fedarena/accounting/event.hpp")"}},
      {"harness/models/zoo.cpp", {R"("datasets/dataset.hpp")"}},
      {"harness/config/read.cpp", {R"("harness/runner/cohort.hpp")"}},
      {"harness/wire/wire.cpp",
       {R"("harness/gradients/gradients.hpp")", R"("../oracle/oracle.hpp")", R"("oracle/oracle.hpp")"}},
      {"harness/gradients/noise.cu", {R"("fedarena/accounting/event.hpp")"}},
      {"harness/loader/host.cpp", {R"("harness/config/read.hpp")"}},
      {"harness/oracle/oracle.cpp", {R"("partitions/partition.hpp")"}},
      {"harness/runner/run.cpp",
       {R"("harness/app/main.hpp")", "<toml++/toml.h>", "<boost/dll/shared_library.hpp>",
        R"("plugins/fedavg/fedavg.hpp")", R"("tests/golden/run.hpp")"}},
      {"plugins/fedavg/fedavg.cpp",
       {"<fedarena/base/error.hpp>", R"("harness/oracle/oracle.hpp")", "<fedarena/accounting/ledger.hpp>",
        R"("plugins/scaffold/scaffold.hpp")", "<fmt/format.h>", "<nlohmann/json.hpp>"}}};
  for (const auto& [file, headers] : includes) {
    for (const std::string& header : headers)
      EXPECT_NE(rule_of(file, "#include " + header), "") << file << ": " << header;
  }
  EXPECT_NE(rule_of("results/table.cpp", "  #  include <torch/torch.h>"), "");
  EXPECT_NE(rule_of("novelty/new.cpp", "int x;"), "");
  EXPECT_NE(rule_of("harness/novelty/new.cpp", "int x;"), "");
}

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

}  // namespace
}  // namespace fedarena
