#include "fedarena/base/error.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <type_traits>
#include <vector>

#include "fedarena/base/file.hpp"
#include "fedarena/base/fnv.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

TEST(Place, PrintsOnlyWhatIsKnown) {
  EXPECT_EQ(Place{}.str(), "");
  EXPECT_EQ((Place{.file = "a.toml"}).str(), "a.toml");
  EXPECT_EQ((Place{.file = "a.toml", .line = 3}).str(), "a.toml:3");
  EXPECT_EQ((Place{.file = "a.toml", .line = 3, .column = 9}).str(), "a.toml:3:9");
  EXPECT_EQ((Place{.file = "a.toml", .column = 9}).str(), "a.toml");
}

TEST(Error, ComposesEveryPartInOrder) {
  const Error error(Complaint{.place = {"a.toml", 3, 9},
                              .found = "alhpa is 1",
                              .allowed = "alpha",
                              .nearest = "alpha",
                              .remedy = "rename it"});
  EXPECT_STREQ(error.what(), "a.toml:3:9: alhpa is 1; allowed: alpha; did you mean \"alpha\"?\n  rename it");
}

TEST(Error, LeavesEmptyPartsOut) {
  EXPECT_STREQ(Error(Complaint{.found = "no plugin"}).what(), "no plugin");
  EXPECT_STREQ(Error(Complaint{.found = "no plugin", .remedy = "build it"}).what(), "no plugin\n  build it");
}

TEST(Error, KeepsTheComplaint) {
  const Error error(Complaint{.found = "x is 3", .allowed = "an integer from 1 to 2"});
  EXPECT_EQ(error.complaint().found, "x is 3");
  EXPECT_EQ(error.complaint().allowed, "an integer from 1 to 2");
}

// A table of 200,000 columns has names for a message of megabytes.
TEST(Error, CutsWhatHasAnyLength) {
  std::string names;
  for (int column = 0; column < 100'000; ++column) names += "\u00e4, ";
  const Error error(Complaint{.found = "unknown column", .allowed = names, .remedy = names});
  EXPECT_LT(std::string(error.what()).size(), 5000U);
  EXPECT_TRUE(error.complaint().allowed.ends_with("..."));
  EXPECT_EQ(first_invalid_utf8(error.what()), std::string(error.what()).size());
}

TEST(Error, FormatsAMessageWithoutAPlace) {
  EXPECT_STREQ(Error::of("no plugin {} of {}", "a", 2).what(), "no plugin a of 2");
}

TEST(Check, PassesSilently) { EXPECT_NO_THROW(FEDARENA_CHECK(1 + 1, ==, 2)); }

TEST(Check, NamesTheConditionBothOperandsAndThePlace) {
  const int found = 3;
  EXPECT_THAT(message_of<Bug>([&] { FEDARENA_CHECK(found, <, 2 + 0); }),
              AllOf(HasSubstr("error_test.cpp:"), EndsWith("check failed: found < 2 + 0 (3 vs 2)")));
}

TEST(Check, EvaluatesEachOperandOnce) {
  int calls = 0;
  const auto next = [&calls] { return ++calls; };
  FEDARENA_CHECK(next(), ==, 1);
  EXPECT_EQ(calls, 1);
}

TEST(Check, FailsOnNan) { EXPECT_THROW(FEDARENA_CHECK(std::nan(""), >, 0.0), Bug); }

// The program catches the three kinds apart: exit codes, stack of a bug, resumable stop.
TEST(Exceptions, AreNotOneAnother) {
  EXPECT_FALSE((std::is_base_of_v<Error, Bug>));
  EXPECT_FALSE((std::is_base_of_v<std::runtime_error, Bug>));
  EXPECT_FALSE((std::is_base_of_v<std::runtime_error, Interrupted>));
  EXPECT_STREQ(Interrupted().what(), "interrupted");
}

const std::vector<std::string> kNames = {"fedavg", "fedprox", "scaffold", "fedlap-dp"};

TEST(NearestName, FindsOneEdit) {
  EXPECT_EQ(nearest_name("fedavgg", kNames), "fedavg");  // insertion
  EXPECT_EQ(nearest_name("fedav", kNames), "fedavg");    // deletion
  EXPECT_EQ(nearest_name("fedivg", kNames), "fedavg");   // substitution
  EXPECT_EQ(nearest_name("fedvag", kNames), "fedavg");   // swap of neighbours
}

TEST(NearestName, CountsASwapAsOneEdit) {
  // Two swaps are two edits, but four substitutions, which would be too many for eight letters.
  EXPECT_EQ(nearest_name("csaffodl", kNames), "scaffold");
}

TEST(NearestName, IgnoresCase) { EXPECT_EQ(nearest_name("FedAvg", kNames), "fedavg"); }

TEST(NearestName, GivesNothingForSomethingElse) {
  EXPECT_EQ(nearest_name("mnist", kNames), "");
  EXPECT_EQ(nearest_name("a much longer name than any", kNames), "");
}

TEST(NearestName, GrowsMoreTolerantWithLength) {
  const std::vector<std::string> names = {"abc", "classes_per_client"};
  EXPECT_EQ(nearest_name("xyc", names), "");                                   // two of three letters differ
  EXPECT_EQ(nearest_name("clases_per_clients", names), "classes_per_client");  // two of eighteen
}

TEST(NearestName, PrefersTheFirstOfEqualDistance) {
  const std::vector<std::string> names = {"beta1", "beta2"};
  EXPECT_EQ(nearest_name("beta3", names), "beta1");
}

TEST(NearestName, BearsEmptyInput) {
  EXPECT_EQ(nearest_name("fedavg", {}), "");
  EXPECT_EQ(nearest_name("", kNames), "");
}

TEST(JoinNames, SeparatesWithCommas) {
  EXPECT_EQ(join_names(kNames), "fedavg, fedprox, scaffold, fedlap-dp");
  EXPECT_EQ(join_names({}), "");
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1e-3"), 0.001);
  for (const char* text : {"", " 1", "1 ", "+1", "1,5", "one", "0x10"})
    EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt) << "does not fit";
  EXPECT_EQ(parse_number<std::uint8_t>("-1"), std::nullopt);
}

TEST(Counted, SaysOneAndMany) {
  EXPECT_EQ(counted(1, "round"), "1 round");
  EXPECT_EQ(counted(0, "round"), "0 rounds");
  EXPECT_EQ(counted(std::size_t{2}, "class", "classes"), "2 classes");
}

TEST(Quoted, EscapesWhatWouldEndOrBreakTheText) {
  EXPECT_EQ(quoted("a \"b\" \\ c\nd\te\rf"), R"("a \"b\" \\ c\nd\te\u000df")");
}

TEST(ShellWord, IsOneWordWhateverItHolds) {
  EXPECT_EQ(shell_word("runs/a-1_b.c"), "runs/a-1_b.c");
  EXPECT_EQ(shell_word("my runs"), "'my runs'");
  EXPECT_EQ(shell_word("a'b`c`$(d)"), "'a'\\''b`c`$(d)'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("~"), "'~'");
}

TEST(OneLine, HoldsNothingThatTurnsTextRoundOrShowsNothing) {
  for (const char* mark :
       {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029",     "\u202a",     "\u202e",     "\u2066",
        "\u2069", "\u00ad", "\u034f", "\u180e", "\u200b",     "\u200c",     "\u200d",     "\u2060",
        "\u3164", "\ufe0f", "\ufeff", "\ufff9", "\U0001d173", "\U000e0001", "\U000e007f", "\U000e01ef"}) {
    EXPECT_EQ(one_line(fmt::format("a{}b", mark)), "a b");
    EXPECT_EQ(printable(fmt::format("a\n{}b", mark)), "a\n b");
  }
  constexpr const char* kNeighbours =
      "\u00ac\u00ae\u061b\u061d\u200a\u2010\u2027\u202f\u205f\u2070\ufe10\ufffc\U000e1000 שלום";
  EXPECT_EQ(one_line(kNeighbours), kNeighbours);
}

TEST(OneLine, HoldsNothingThatMovesACursor) {
  EXPECT_EQ(one_line("a\nb\tc\x1b]0;title\x07\x7f"), "a b c ]0;title  ");
  EXPECT_EQ(printable("a\nb\tc\r\x1b[2J"), "a\nb\tc  [2J");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "2J \xc2\x85"),
            " 2J  ")
      << "the same in the second set of controls";
  EXPECT_EQ(one_line("\x9b"
                     "2J \xc3("),
            "\xef\xbf\xbd"
            "2J \xef\xbf\xbd(")
      << "not UTF-8";
  EXPECT_EQ(one_line("\xc2\xa0 ä ε 中 😀"), "\xc2\xa0 ä ε 中 😀");
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a b");
}

TEST(RegularFile, IsNoPipeDeviceFolderOrSocket) {
  const test::Scratch scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", scratch / "link");
  const auto refusal = [](const std::filesystem::path& file) {
    return message_of([&] { read_whole_file(file); });
  };
  EXPECT_EQ(refusal(scratch / "pipe"), (scratch / "pipe").string() + ": is a pipe; allowed: a regular file");
  EXPECT_THAT(refusal(scratch / "link"), HasSubstr("is a pipe"));
  EXPECT_THAT(refusal(scratch.path()), HasSubstr("is a folder"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("is a device"));
  EXPECT_THAT(refusal("/dev/full"), HasSubstr("is a device"));
  EXPECT_THAT(refusal(scratch / "none"), HasSubstr("cannot be read: No such file or directory"));
}

TEST(ReadWholeFile, HasALimit) {
  const test::Scratch scratch;
  const std::filesystem::path file = scratch.write("file", std::string(100'000, 'a'));
  EXPECT_EQ(read_whole_file(file, 100'000).size(), 100'000U);
  expect_refused("has more than 99999 bytes; allowed: at most 99999 bytes",
                 [&] { read_whole_file(file, 99'999); });
  // A sparse file takes no room on the disk.
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  expect_refused("has more than 1073741824 bytes", [&] { read_whole_file(file); });
}

// Test vectors that the authors of the hash publish.
TEST(Fnv1a, GivesThePublishedHashes) {
  const auto hash_of = [](std::string_view text) {
    Fnv1a hash;
    hash.add(text);
    return hash.value();
  };
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8);
}

}  // namespace
}  // namespace fedarena
