// What the program says about itself, and the full program that it becomes.
#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/harness/app/golden.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

using Help = ScratchTest;

// CLI11 lays these pages out, differently from version to version.
TEST_F(Help, ExplainsTheProgramAndEveryCommand) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> pages{
      {"", {"run", "table", "list", "images", "plugins", "help", "--version", "fedarena COMMAND --help"}},
      {"run ",
       {"FILE", "--out", "--workers", "--device", "--set", "--plugin-path", "--resume", "--only", "--jobs",
        "--memory", "--dry-run"}},
      {"submit ",
       {"FILE", "--out", "--profile", "--set", "--partition", "--time", "--cpus", "--array-limit",
        "--dry-run", "--cancel"}},
      {"partition ", {"FILE", "--seed", "--format", "--output", "--profile", "--set", "--plugin-path"}},
      {"table ", {"DIR", "--format", "csv, html, json, latex or markdown"}},
      {"compare ", {"DIR", "--labels", "--metric", "--across", "--format", "epsilon"}},
      {"list ", {"DIR", "default runs"}},
      {"watch ", {"DIR", "default runs", "--once"}},
      {"plot ", {"DIR", "--output", "--x", "--y", "--labels", "--log-x", "--log-y", "--roc", "--format"}},
      {"report ", {"DIR", "--output", "default report.html"}},
      {"export ", {"DIR", "csv or jsonl", "tensorboard", "--output", "--measures", "test_accuracy"}},
      {"images ", {"RUN", "--round", "--output", "--histogram", "--scale", "--format"}},
      {"data ", {"list", "info", "verify", "fetch", "preview"}},
      {"data verify ", {"NAME", "--set", "--from"}},
      {"data fetch ", {"NAME", "--from", "--to"}},
      {"data preview ", {"NAME", "--output", "--part", "--per-class", "--scale", "--set", "--from"}},
      {"plugins ", {"NAME", "--plugin-path"}},
      {"help ", {"TOPIC", "fedarena help experiment"}}};
  for (const auto& [command, words] : pages) {
    const Outcome outcome = succeed(command + "--help");
    EXPECT_EQ(outcome.err, "");
    for (const std::string& word : words) EXPECT_THAT(outcome.out, HasSubstr(word));
  }
}

TEST_F(Help, ExplainsCommandsThatAreNoSections) {
  EXPECT_EQ(succeed("help run").out, succeed("run --help").out);
  EXPECT_THAT(succeed("help model").out, HasSubstr("[model]"));
}

TEST_F(Help, TellsTheVersion) {
  EXPECT_THAT(succeed("--version").out, MatchesRegex("fedarena [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

// The table below an algorithm's name in `help experiment`, without its indentation.
std::string settings_in(const std::string& help, const std::string& algorithm) {
  std::istringstream lines(help.substr(help.rfind(fmt::format("  name = \"{}\"", algorithm))));
  std::string text, line;
  std::getline(lines, line);
  while (std::getline(lines, line) && !line.empty()) {
    if (!line.starts_with("    Requires")) text += line.substr(4) + "\n";
  }
  return text;
}

// Hyper-parameters are in the other transcript.
TEST_F(Help, ExplainsEveryAlgorithm) {
  const std::string help = call("help experiment").out;
  std::string text = answers(scratch, {"plugins"});
  std::istringstream list(call("plugins").out);
  std::string line;
  std::getline(list, line);  // the heading
  int algorithms = 0;
  for (; std::getline(list, line) && !line.empty(); ++algorithms) {
    const std::string name = line.substr(0, line.find(' '));
    std::string answer = answers(scratch, {"plugins " + name});
    const std::string settings = settings_in(help, name) + "\n";
    EXPECT_THAT(answer, EndsWith("what it means.\n" + settings));
    text += answer.substr(0, answer.size() - settings.size()) + "(as help_experiment.txt has them)\n\n";
  }
  EXPECT_GE(algorithms, 4);
  expect_golden("plugins.txt", text);
}

TEST_F(Help, ExplainsTheExperimentFile) {
  expect_golden("help_experiment.txt", answers(scratch, {"help experiment"}));
  EXPECT_EQ(call("help").out, call("help experiment").out);
}

TEST_F(Help, ExplainsASectionOrAChoiceAsTheWholeFileHasThem) {
  const std::string whole = call("help experiment").out;
  const std::string section = succeed("help model").out;
  EXPECT_THAT(section, StartsWith("[model]  What is trained.\n"));
  EXPECT_THAT(section, Not(HasSubstr("\n[")));
  EXPECT_THAT(whole, HasSubstr("\n\n" + section + "\n["));
  const std::string choice = succeed("help model resnet").out;
  EXPECT_THAT(choice, StartsWith("  name = \"resnet\"  "));
  EXPECT_THAT(section, HasSubstr("\n" + choice));
  EXPECT_THAT(succeed("help algorithms fedprox").out, HasSubstr("\n    mu  "));
}

// The program alone, without the full one beside it.
Start lonely(const Scratch& scratch) {
  const fs::path program = scratch / "bin/fedarena";
  fs::create_directories(program.parent_path());
  fs::copy_file(build_folder() / "bin" / "fedarena", program);
  return {.program = program.string()};
}

using FullProgram = ScratchTest;

TEST_F(FullProgram, IsNotNeededByLightCommands) {
  const CommandLine epsilon =
      "epsilon --noise-multiplier 1 --sampling-rate 0.0256 --steps 200 --delta 1e-5 --accountant rdp "
      "--orders opacus";
  EXPECT_THAT(succeed(epsilon, lonely(scratch)).out, HasSubstr("2.7867"));
}

TEST_F(FullProgram, IsNamedWhereItIsMissing) {
  const Start start = lonely(scratch);
  EXPECT_EQ(refused("plugins", start),
            "fedarena: " + fs::canonical(start.program).string() +
                "-full: cannot be started: No such file or directory\n  it belongs beside the "
                "program fedarena: install or build fedarena again\n");
}

// Before its main(), a signal would end it without a word.
TEST_F(FullProgram, IsLoadedWhileSignalsWait) {
  const Start start = lonely(scratch);
  scratch.write("bin/fedarena-full", "#!/bin/sh\nexec grep SigBlk /proc/self/status\n");
  fs::permissions(scratch / "bin/fedarena-full", fs::perms::owner_all);
  const std::string line = succeed("run small.toml", start).out;
  const auto mask = std::stoull(line.substr(line.find(':') + 1), nullptr, 16);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU})
    EXPECT_TRUE(mask >> (signal - 1) & 1) << signal << " " << line;
}

TEST_F(FullProgram, KnowsTheLightCommandsToo) {
  const Start full{.program = (build_folder() / "bin" / "fedarena-full").string()};
  const CommandLine words = "table --help";
  EXPECT_EQ(call(words, full).out, call(words).out);
}

}  // namespace
}  // namespace fedarena::test
