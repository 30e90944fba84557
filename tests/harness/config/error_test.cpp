#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "sample.hpp"
#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

TEST(ConfigError, PointsAtSyntax) {
  EXPECT_THAT(refusal(with("rounds = 20", "rounds = ")), StartsWith("e.toml:4:10: not TOML: "));
  EXPECT_THAT(refusal(with("rounds = 20", "rounds = 20\nrounds = 21")), StartsWith("e.toml:5:"));
  EXPECT_THAT(refusal(with("rounds = 20", "rounds = 99999999999999999999")), StartsWith("e.toml:4:"));
  EXPECT_THAT(refusal("[x"), StartsWith("e.toml:1:"));
  EXPECT_THAT(refusal(with("\"quickstart\"", "quickstart # fast")),
              EndsWith("\n  Texts stand in quotes: name = \"quickstart\""));
  EXPECT_THAT(refusal(with("\"quickstart\"", "[quick, \"start\"]")), Not(HasSubstr("quotes")));
}

TEST(ConfigError, PointsAtBytesThatAreNoUtf8) {
  EXPECT_EQ(refusal(with("quickstart", "qu\xc3\xa9\xff")),
            "e.toml:2:12: byte 0xff is not UTF-8; allowed: text in UTF-8");
  EXPECT_EQ(refusal("\xc0\x80"), "e.toml:1:1: byte 0xc0 is not UTF-8; allowed: text in UTF-8");
  EXPECT_EQ(refusal("# \xed\xa0\x80"), "e.toml:1:3: byte 0xed is not UTF-8; allowed: text in UTF-8");
  EXPECT_EQ(refusal("#\n#\xe2\x82"), "e.toml:2:2: byte 0xe2 is not UTF-8; allowed: text in UTF-8");
}

TEST(ConfigError, RefusesWhatTheParserCannotTake) {
  const std::string headers = ": a header without a name; allowed: [section] or [[section]]";
  for (const char* header : {"[]", "[[]]", "[=]", "[[[a]]]", "[ ", "  [#]"}) {
    const int column = header[0] == ' ' ? 3 : 1;
    EXPECT_EQ(refusal(kSample + header), fmt::format("e.toml:39:{}{}", column, headers)) << header;
  }
  EXPECT_EQ(refusal(with("[1, 2, 3]", "[1, }")), "e.toml:3:13: '}' closes '['; allowed: ']'");
  EXPECT_EQ(
      refusal(with("rounds", "röunds")),
      "e.toml:4:2: a letter beyond ASCII outside quotes; allowed: such letters within quotes and comments");
  EXPECT_EQ(refusal("[é]\n"), "e.toml:1:1" + headers);
}

TEST(ConfigError, LeavesStringsAndCommentsAlone) {
  const std::string strings = R"(
"[é" = "# \" [" # é [=] ........................................................................
'\' = """a"""""
b = '''
[=] " é a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
'''''
c = [
  [[], [ { "x.y" = "}" } ] ],
]
)";
  EXPECT_THAT(refusal("[data]\nname = \"glyphs\"" + strings), StartsWith("e.toml: [experiment] is missing"));
}

TEST(ConfigError, RefusesEpsilonEverywhere) {
  for (const char* header : {"[experiment]", "[data]", "[partition]", "[model]", "[cohort]", "[evaluation]",
                             "[privacy]", "[training]", "[[algorithms]]"}) {
    EXPECT_THAT(refusal(with(header, std::string(header) + "\nepsilon = 1.0")),
                HasSubstr("\n  the ledger computes epsilon; no file can state it"))
        << header;
  }
  EXPECT_THAT(refusal(kSample + "[epsilon]\n"),
              HasSubstr("\n  the ledger computes epsilon; no file can state it"));
}

TEST(ConfigError, StaysShortForLongNames) {
  const std::string longest(1'000'000, 'x');
  EXPECT_LT(refusal(with("rounds", longest)).size(), 2500U);
  EXPECT_LT(refusal(with("quickstart", longest)).size(), 2500U);
  EXPECT_LT(refusal("[" + longest + "]\n").size(), 2500U);
}

TEST(ConfigError, RefusesKeysOfAbsurdDepth) {
  std::string deep = "a";
  for (int part = 0; part < 1'000'000; ++part) deep += ".a";
  EXPECT_EQ(refusal(deep + " = 1"),
            "e.toml:1:130: more than 64 dots in one key; allowed: keys of one or two parts");
  // As deep as the limits let it be: dotted keys within values within values.
  std::string nested = "a = ";
  std::string part = "\n{a";
  for (int dot = 0; dot < 64; ++dot) part += ".a";
  for (int level = 0; level < 200; ++level) nested += "[" + part + " = ";
  EXPECT_THAT(refusal(nested), StartsWith("e.toml:"));
  EXPECT_EQ(refusal("# " + std::string(1000, '.') + "\n" + kSample), "accepted");
  std::string decimals = "\n[sweep]\n\"training.rate\" = [0.1";
  for (int number = 100; number < 170; ++number) decimals += fmt::format(", 0.{}1", number);
  EXPECT_EQ(refusal(kSample + decimals + "]\n"), "accepted");
}

TEST(ConfigError, IsNoCrashOnLargeFiles) {
  std::string seeds = "seeds = [0";
  for (int seed = 1; seed < 200'000; ++seed) seeds += fmt::format(", {}", seed);
  std::string sections, keys, algorithms;
  for (int index = 0; index < 20'000; ++index) {
    sections += fmt::format("[section{}]\n", index);
    keys += fmt::format("key{} = 1\n", index);
    algorithms += fmt::format("[[algorithms]]\nname = \"fedavg\"\nlabel = \"a{}\"\n", index);
  }
  EXPECT_EQ(refusal(with("seeds = [1, 2, 3", seeds)), "accepted");
  EXPECT_NE(refusal(kSample + sections), "accepted");
  EXPECT_NE(refusal(kSample + keys), "accepted");
  EXPECT_EQ(refusal(kSample + algorithms), "accepted");
  EXPECT_NE(refusal(kSample + std::string(1'000'000, '[')), "accepted");
  EXPECT_NE(refusal(kSample + "x = " + std::string(1'000'000, '{')), "accepted");
}

TEST(ConfigError, RefusesACatalogThatTakesAReservedName) {
  Catalog catalog = sample_catalog();
  catalog.algorithms[0].fields[0].name = "label";
  EXPECT_EQ(refusal(kSample, {}, {}, catalog),
            "\"fedavg\" declares a setting \"label\", which [[algorithms]] needs for itself");
}

class ConfigFile : public testing::Test {
 protected:
  static std::string refusal(const std::filesystem::path& file) {
    return message_of([&] { read_grid(config::read_document(file), {}, sample_catalog()); });
  }

  test::Scratch folder_;
};

TEST_F(ConfigFile, IsReadWithItsNameInEveryMessage) {
  std::ofstream(folder_ / "good.toml") << kSample;
  EXPECT_EQ(read_grid(config::read_document(folder_ / "good.toml"), {}, sample_catalog()).front().experiment,
            parse_sample(kSample));
  std::ofstream(folder_ / "bad.toml") << with("rounds = 20", "rounds = 0");
  EXPECT_EQ(refusal(folder_ / "bad.toml"),
            (folder_ / "bad.toml").string() + ":4:10: rounds is 0; allowed: an integer from 1 to 1000000");
}

TEST_F(ConfigFile, ThatIsMissingHasANeighbour) {
  std::ofstream(folder_ / "quickstart.toml") << kSample;
  EXPECT_EQ(refusal(folder_ / "quikstart.toml"), (folder_ / "quikstart.toml").string() +
                                                     ": no such file; did you mean \"" +
                                                     (folder_ / "quickstart.toml").string() + "\"?");
  EXPECT_EQ(refusal(folder_ / "none" / "x.toml"), (folder_ / "none" / "x.toml").string() + ": no such file");
}

TEST_F(ConfigFile, IsNoFolder) {
  EXPECT_EQ(refusal(folder_.path()),
            folder_.path().string() + ": is a folder; allowed: an experiment file (TOML)");
}

TEST_F(ConfigFile, IsNoHugeFile) {
  std::ofstream(folder_ / "huge.toml") << std::string(10'000'001, '#');
  EXPECT_EQ(refusal(folder_ / "huge.toml"),
            (folder_ / "huge.toml").string() +
                ": has more than 10000000 bytes; allowed: an experiment file (TOML)");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device; allowed: an experiment file (TOML)");
}

TEST_F(ConfigFile, MustBeReadable) {
  // Root may open everything, but nobody can read a process's memory at address 0.
  EXPECT_EQ(refusal("/proc/self/mem"), "/proc/self/mem: cannot be read: Input/output error");
  if (geteuid() == 0) return;
  std::ofstream(folder_ / "closed.toml") << kSample;
  std::filesystem::permissions(folder_ / "closed.toml", std::filesystem::perms::none);
  EXPECT_EQ(refusal(folder_ / "closed.toml"),
            (folder_ / "closed.toml").string() + ": cannot be read: Permission denied");
}

}  // namespace
}  // namespace fedarena
