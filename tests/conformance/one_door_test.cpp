// What comes from outside, and what goes out to a terminal or a shell, passes through one place each, where
// it is checked. A call that goes another way fails this test with its file, line and the way to take.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

struct Door {
  std::regex calls;
  std::string instead;             // the way to take
  std::vector<std::string> files;  // that may; the door itself, and those that check by themselves
};

const std::vector<Door>& doors() {
  static const std::vector<Door> all = {
      {std::regex(R"([jJ]son::(parse|accept|sax_parse|from_\w+)\b)"),
       "parse_json() of accounting/json_text.hpp, which limits depth and size",
       {"accounting/json_text.hpp"}},
      {std::regex(R"(std::ifstream|\bfopen\(|[^\w]::open(at)?\(|\bgzopen\(|open_filename\(|H5Fopen\()"),
       "RegularFile or read_whole_file() of fedarena/base/file.hpp, which read no pipe and no device",
       {"harness/base/file.cpp",
        // Open what they write.
        "results/record/durable_file.cpp", "datasets/fetch/growing_file.cpp",
        "harness/simulation/state_file.cpp", "harness/base/trial.cpp",
        // Have looked at the file before.
        "datasets/published/fed_emnist.cpp", "harness/loader/handshake.cpp",
        // Read the system's own.
        "harness/runner/plan/memory.cpp", "harness/runner/record/environment.cpp",
        "results/live/live_runs.cpp", "results/live/folder_locks.cpp"}},
      {std::regex(R"(fmt::print\(|\b(v?f?printf|f?puts|putchar)\(|std::(cout|cerr|clog)\b)"),
       "print() of fedarena/base/print.hpp, which lets no escape sequence through",
       {"harness/base/fedarena/base/print.hpp",
        // Write the program's own sequences.
        "harness/runner/progress/progress_line.cpp", "harness/app/results/watch_command.cpp"}},
      {std::regex(R"(\b(popen|system|exec[lv]p?e?|posix_spawnp?)\()"),
       "call_program() of fedarena/base/child_program.hpp, which starts no shell",
       {"harness/base/child_program.cpp", "harness/app/main.cpp"}},
  };
  return all;
}

// Constants of the code and its comments hold such words too.
std::string without_text(const std::string& line) {
  static const std::regex text(R"("([^"\\]|\\.)*"|//.*)");
  return std::regex_replace(line, text, "");
}

// Regular expressions are slow, and few lines hold any of these.
bool may_call(const std::string& line) {
  constexpr std::array kParts = {"son::",  "open",   "stream", "print", "put",
                                 "std::c", "system", "exec",   "spawn"};
  return std::ranges::any_of(kParts, [&](const char* part) { return line.find(part) != std::string::npos; });
}

// The line's doors that `file` may not pass by, one sentence each.
std::vector<std::string> ways_around(const std::string& file, const std::string& line) {
  std::vector<std::string> found;
  if (!may_call(line)) return found;
  for (const Door& door : doors()) {
    if (std::find(door.files.begin(), door.files.end(), file) != door.files.end()) continue;
    if (std::regex_search(line, door.calls) && std::regex_search(without_text(line), door.calls)) {
      found.push_back(door.instead);
    }
  }
  return found;
}

TEST(OneDoor, IsPassedByEverySource) {
  const std::filesystem::path root = test::source_folder();
  int lines = 0;
  for (const char* folder : {"accounting", "datasets", "harness", "partitions", "plugins", "results"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".hpp") continue;
      const std::string file = entry.path().lexically_relative(root).generic_string();
      std::ifstream stream(entry.path());
      int number = 0;
      for (std::string line; std::getline(stream, line); ++lines) {
        ++number;
        for (const std::string& way : ways_around(file, line)) {
          ADD_FAILURE() << file << ":" << number << ": take " << way << ": " << line;
        }
      }
    }
  }
  EXPECT_GE(lines, 10'000) << "the walk found too little to mean anything";
}

TEST(OneDoor, IsMissedByWhatGoesAroundIt) {
  for (const char* const line :
       {"auto object = Json::parse(text);", "nlohmann::json::parse(text, nullptr, false)",
        "  std::ifstream file(name);", "int d = ::open(name, O_RDONLY);", "gzopen(name, \"rb\")",
        "  fmt::print(\"{}\", label);", "std::cout << label;", "printf(\"%s\", label);", "system(command);",
        "::posix_spawnp(&child, name, 0, 0, words, environ)"}) {
    EXPECT_THAT(ways_around("results/table/new.cpp", line), SizeIs(1)) << line;
  }
}

}  // namespace
}  // namespace fedarena
