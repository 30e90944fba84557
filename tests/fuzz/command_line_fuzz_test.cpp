// Hostile command lines: whatever the words, the program ends with 0 or 2, and 2 comes with one message and
// nothing on stdout. The commands that need no LibTorch, in this process, so that sanitizers watch them.
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/app/command_line.hpp"
#include "tests/paths.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

using Words = std::vector<std::string>;

// All but watch, which ends only when somebody ends it.
constexpr std::array<AddCommand, 12> kCommands = {
    add_table_command,  add_compare_command, add_list_command,    add_verify_command,
    add_plot_command,   add_images_command,  add_export_command,  add_report_command,
    add_bundle_command, add_privacy_command, add_epsilon_command, add_noise_command};

struct CommandOutcome {
  int code = 0;
  std::string out, err;
};

CommandOutcome run(const Words& words) {
  std::vector<const char*> arguments = {"fedarena"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  CommandOutcome outcome;
  outcome.code = run_command_line(static_cast<int>(arguments.size()), arguments.data(), kCommands, "0");
  std::fflush(stdout);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

// A message, perhaps with a remedy in an indented line below it.
bool is_one_message(const std::string& text) {
  if (text.rfind("fedarena: ", 0) != 0 || text.back() != '\n') return false;
  const std::size_t end = text.find('\n');
  return end + 1 == text.size() ||
         (text.compare(end + 1, 2, "  ") == 0 && text.find('\n', end + 1) + 1 == text.size());
}

void expect_manners(const Words& words) {
  const CommandOutcome outcome = run(words);
  SCOPED_TRACE(testing::PrintToString(words) + "\nstdout: " + outcome.out + "\nstderr: " + outcome.err);
  EXPECT_THAT(outcome.err, testing::Not(testing::HasSubstr("this is a bug")));
  if (outcome.code == kUserError) {
    EXPECT_TRUE(is_one_message(outcome.err));
    EXPECT_EQ(outcome.out, "");
  } else {
    EXPECT_EQ(outcome.code, kSuccess);
    EXPECT_NE(outcome.out, "");
    EXPECT_THAT(outcome.out, testing::Not(testing::HasSubstr("nan")));
  }
}

// The texts between bars, empty ones too.
Words split(std::string_view text) {
  Words parts;
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find('|', begin);
    parts.emplace_back(text.substr(begin, end - begin));
  }
  return parts;
}

const std::string& one_of(const Words& values, Stream& stream) { return values[stream.below(values.size())]; }

std::string one_of(std::string_view values, Stream& stream) { return one_of(split(values), stream); }

const std::string& hostile_word(Stream& stream) {
  static const Words values = [] {
    Words made = split(
        "0|1|-1|2|0.5|0.0256|1e-5|1e-9|1e-300|1e-400|5e-324|1e308|1e400|nan|NaN|inf|-inf|-nan|infinity|0x1p-"
        "3|1e3|"
        "1000|1000000000|1e12|1e13|9223372036854775808|abc|| | 1|1 "
        "|1,5|0,1|1e|e|.|-|--|+1|1.0.0|true|poisson|"
        "without-replacement|replace-one|add-remove|gaussian|laplace|randomized-response|rdp|pld|opacus|"
        "default|"
        "classic|balle|json|text|steps|sampling-rate|noise-multiplier=1,steps=2|"
        "mechanism=laplace,mechanism-epsilon=0.1,steps=3|steps=|=|,|steps=1,steps=2|nowhere|/dev/"
        "null|\xff\xfe|a\nb|"
        "a\tb|%s%n|{}|{0}|\"|'|--delta|--help");
    made.emplace_back(5'000, '9');
    made.emplace_back(5'000, 'a');
    return made;
  }();
  return one_of(values, stream);
}

TEST(CommandLineFuzz, SurvivesRandomWords) {
  const Words names =
      split("epsilon|noise|privacy|verify|images|plot|export|report|bundle|table|compare|list|bogus|");
  const Words options = split(
      "--noise-multiplier|--sampling-rate|--steps|--epochs|--batch-size|--examples|--delta|--accountant|--"
      "orders|"
      "--conversion|--assume|--format|--sampling|--adjacency|--mechanism|--mechanism-epsilon|--dimension|"
      "--categories|--and|--ledger|--client|--at-epsilon|--lower|--epsilon|--solve|--round|--output|--"
      "histogram|"
      "--scale|--labels|--metric|--across|--interval|--references|--columns|--rows|--pivot|--measures|--x|--"
      "y|-o|"
      "--help|--version|--bogus|--delat|-x|--|-");
  Stream stream({.seed = 21});
  for (int repeat = 0, repeats = test::long_tests() ? 3'000 : 800; repeat < repeats && !HasFailure();
       ++repeat) {
    Words words = {one_of(names, stream)};
    for (std::uint64_t i = 0, count = stream.below(7); i < count; ++i) {
      words.push_back(one_of(options, stream));
      const std::string& value = hostile_word(stream);
      switch (stream.below(4)) {
        case 0:
          words.back() += "=" + value;
          break;
        case 1:
          break;
        default:
          words.push_back(value);
      }
    }
    expect_manners(words);
  }
}

// Most values get past the parser, so that the arithmetic is fuzzed too; kept cheap for PLD.
TEST(CommandLineFuzz, SurvivesOneHostileValueAmongSoundOnes) {
  const std::vector<std::pair<std::string, Words>> options = {
      {"--noise-multiplier", split("0|0.01|0.7|1|1e3|1e9")},
      {"--sampling-rate", split("0|1e-9|0.01|0.5|1")},
      {"--steps", split("0|1|20|1000")},
      {"--delta", split("0|1|1e-5|1e-12|0.5|1e-300")},
      {"--accountant", split("rdp|rdp|gaussian|pld")}};
  Stream stream({.seed = 22});
  for (int repeat = 0, repeats = test::long_tests() ? 1'500 : 200; repeat < repeats && !HasFailure();
       ++repeat) {
    Words words = {"epsilon"};
    for (const auto& [option, values] : options) {
      words.push_back(option);
      words.push_back(one_of(values, stream));
    }
    if (stream.below(3) != 0) words[2 * (1 + stream.below(words.size() / 2))] = hostile_word(stream);
    if (stream.below(4) == 0) words.insert(words.end(), {"--format", "json"});
    if (stream.below(6) == 0) words.emplace_back("--lower");
    expect_manners(words);
  }
}

TEST(CommandLineFuzz, SurvivesCalibrationOfAnything) {
  const std::vector<std::pair<std::string, Words>> options = {
      {"--epsilon", split("0|1e-9|0.1|2|100|1e9|-1|nan")},
      {"--delta", split("0|1e-12|1e-5|0.5|1|abc")},
      {"--noise-multiplier", split("0|0.01|1|1e6|x")},
      {"--sampling-rate", split("0|1e-9|0.0256|1|2")},
      {"--steps", split("0|1|3000|1e9|-5")},
      {"--solve", split("steps|noise-multiplier|sampling-rate|delta")}};
  Stream stream({.seed = 23});
  for (int repeat = 0, repeats = test::long_tests() ? 300 : 150; repeat < repeats && !HasFailure();
       ++repeat) {
    Words words = {"noise", "--accountant", one_of("rdp|gaussian", stream)};
    for (const auto& [option, values] : options) {
      if (stream.below(3) == 0) continue;
      words.push_back(option);
      words.push_back(one_of(values, stream));
    }
    expect_manners(words);
  }
}

TEST(CommandLineFuzz, SurvivesLedgersOfAnyContent) {
  const test::Scratch scratch;
  Ledger ledger(Unit::kRecord);
  ledger.add_client(0, 10);
  ledger.record(
      1, 0, RoundAccesses({{SampledGaussian{Sampling::kPoisson, 0.01, {1.0}, Adjacency::kAddRemove}, 1}}));
  const std::string text = ledger.to_json();
  Stream stream({.seed = 24});
  for (int repeat = 0, repeats = test::long_tests() ? 500 : 200; repeat < repeats && !HasFailure();
       ++repeat) {
    std::string changed = text;
    changed[stream.below(changed.size())] = "0123456789-e.{}[]\",:\n\xff"[stream.below(22)];
    const std::string file = scratch.write("ledger.json", changed).string();
    expect_manners({"epsilon", "--ledger", file, "--delta", "1e-5", "--accountant", "rdp"});
  }
}

}  // namespace
}  // namespace fedarena
