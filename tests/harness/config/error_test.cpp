#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct ErrorCase {
  std::string text;
  std::string message;
};

void expect(const std::vector<ErrorCase>& cases) {
  for (const ErrorCase& wrong : cases) EXPECT_EQ(refusal(wrong.text), wrong.message) << wrong.text;
}

const std::string kHeaders =
    "[experiment], [data], [partition], [model], [cohort], [evaluation], [stopping], [privacy], [training], "
    "[[algorithms]], [sweep], [tuning], [profiles.NAME]";

TEST(ConfigError, RefusesRulesOnValidationExamplesThatAreNotThere) {
  expect({{with("[evaluation]", "[stopping]\npatience = 3\n[evaluation]"),
           "e.toml:22:1: patience looks at validation examples, and there are none\n"
           "  set validation_fraction in [evaluation] to a number above 0"},
          {with("[evaluation]", "[stopping]\ntarget_accuracy = 0.5\n[evaluation]"),
           "e.toml:22:1: target_accuracy looks at validation examples, and there are none\n"
           "  set validation_fraction in [evaluation] to a number above 0"},
          {with("[evaluation]", "[stopping]\nimprovement = 0.1\n[evaluation]"),
           "e.toml:22:1: improvement without patience changes nothing\n"
           "  say how many rounds may pass without it: patience = 10"}});
  EXPECT_EQ(
      parse_sample(with("[evaluation]", "[stopping]\npatience = 3\n[evaluation]\nvalidation_fraction = 0.1"))
          .stopping.patience,
      3);
}

TEST(ConfigError, PointsAtSyntax) {
  EXPECT_THAT(refusal(with("rounds = 20", "rounds = ")), StartsWith("e.toml:4:10: not TOML: "));
  EXPECT_THAT(refusal(with("rounds = 20", "rounds = 20\nrounds = 21")), StartsWith("e.toml:5:"));
  EXPECT_THAT(refusal(with("rounds = 20", "rounds = 99999999999999999999")), StartsWith("e.toml:4:"));
  EXPECT_THAT(refusal("[x"), StartsWith("e.toml:1:"));
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
  expect({{with("rounds", "röunds"),
           "e.toml:4:2: a letter beyond ASCII outside quotes; allowed: such letters "
           "within quotes and comments"},
          {"[é]\n", "e.toml:1:1: a header without a name; allowed: [section] or [[section]]"}});
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

TEST(ConfigError, NamesUnknownSections) {
  expect({
      {with("[evaluation]", "[evalution]"),
       "e.toml:21:2: unknown section \"evalution\"; allowed: " + kHeaders + "; did you mean \"evaluation\"?"},
      {with("[[algorithms]]", "[algorithm]"),
       "e.toml:31:2: unknown section \"algorithm\"; allowed: " + kHeaders +
           "; did you mean \"algorithms\"?\n"
           "  write [[algorithms]], once for each algorithm"},
      {"rounds = 3\n" + kSample, "e.toml:1:1: \"rounds\" stands outside every section; allowed: " + kHeaders +
                                     "\n"
                                     "  \"rounds\" belongs in [experiment]"},
      {"epsilon = 3\n" + kSample,
       "e.toml:1:1: \"epsilon\" stands outside every section; allowed: " + kHeaders +
           "\n"
           "  the ledger computes epsilon; no file can state it"},
  });
}

TEST(ConfigError, NamesSectionsOfTheWrongForm) {
  const std::string one = "[algorithms]\nname = \"fedavg\"\n";
  const std::string head = kSample.substr(0, kSample.find("[[algorithms]]"));
  expect({
      {head + one,
       "e.toml:31:2: \"algorithms\" is one section; allowed: a list of sections\n"
       "  write [[algorithms]], once for each algorithm"},
      {"algorithms = 1\n" + head,
       "e.toml:1:1: \"algorithms\" is a value; allowed: a list of sections\n"
       "  write [[algorithms]], once for each algorithm"},
      {with("[experiment]", "[[experiment]]"),
       "e.toml:1:3: \"experiment\" is a list of sections; allowed: one section\n  write [experiment], once"},
      {head, "e.toml: [[algorithms]] is missing\n  write [[algorithms]] with name"},
      {"algorithms = []\n" + head, "e.toml: [[algorithms]] is missing\n  write [[algorithms]] with name"},
  });
}

TEST(ConfigError, NamesUnknownKeys) {
  expect({
      {with("rounds = 20", "ruonds = 20"),
       "e.toml:4:1: unknown key \"ruonds\" in [experiment]; allowed: name, seeds, "
       "rounds, device, dtype; did you mean \"rounds\"?"},
      {with("width = 64", "  widht = 64"),
       "e.toml:16:3: unknown key \"widht\" in [model]; allowed: name, width, "
       "layers; did you mean \"width\"?"},
      {with("name = \"glyphs\"", "name = \"glyphs\"\nsize = 3"),
       "e.toml:9:1: unknown key \"size\" in [data]; allowed: name\n  \"size\" belongs in [cohort]"},
      {with("mu = 1", "momentum = 1"),
       "e.toml:37:1: unknown key \"momentum\" in [[algorithms]]; allowed: name, label, "
       "privacy, rate, batch_size, mu, average, nesterov"},
      {with("[privacy]", "[privacy.record]\nsigma = 1\n[privacy]"),
       "e.toml:24:10: unknown key \"record\" in [privacy]; allowed: policy"},
  });
}

TEST(ConfigError, SaysWhereAKeyBelongs) {
  expect({
      {with("rounds = 20", "policy = \"none\""),
       "e.toml:4:1: unknown key \"policy\" in [experiment]; allowed: name, seeds, rounds, device, dtype\n"
       "  \"policy\" belongs in [privacy]"},
      {with("clients = 5", "alpha = 5"),
       "e.toml:12:1: unknown key \"alpha\" in [partition]; allowed: kind, clients, "
       "classes_per_client\n"
       "  \"alpha\" belongs in [partition] with kind = \"dirichlet\""},
      {with("size = 5", "clients = 5"),
       "e.toml:19:1: unknown key \"clients\" in [cohort]; allowed: size, fraction\n"
       "  \"clients\" belongs in [partition]"},
      {with("label = \"FedAvg\"", "mu = 5"),
       "e.toml:33:1: unknown key \"mu\" in [[algorithms]]; allowed: name, label, privacy, rate, batch_size\n"
       "  \"mu\" belongs in [[algorithms]] with name = \"fedprox\""},
  });
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

TEST(ConfigError, PointsAtValuesOfTheWrongType) {
  const std::string rounds = "; allowed: an integer from 1 to 1000000";
  const std::string seeds = "; allowed: a list of integers >= 0, distinct, at least one";
  expect({
      {with("rounds = 20", "rounds = \"20\""), "e.toml:4:10: rounds is \"20\" (a string)" + rounds},
      {with("rounds = 20", "rounds = 20.0"), "e.toml:4:10: rounds is 20.0 (a number)" + rounds},
      {with("rounds = 20", "rounds = 1979-05-27"), "e.toml:4:10: rounds is a date" + rounds},
      {with("rounds = 20", "rounds = {a = 1}"), "e.toml:4:10: rounds is a table" + rounds},
      {with("rounds = 20", "rounds = [1]"), "e.toml:4:10: rounds is [1] (a list of integers)" + rounds},
      {with("seeds = [1, 2, 3]", "seeds = 3"), "e.toml:3:9: seeds is 3 (an integer)" + seeds},
      {with("seeds = [1, 2, 3]", "seeds = [1, \"2\"]"),
       "e.toml:3:13: seeds is a list with a string in it" + seeds},
      {with("\"cpu\"", "true"), "e.toml:5:10: device is true (a boolean); allowed: \"cpu\", \"cuda\""},
      {with("mu = 1", "nesterov = 1"), "e.toml:37:12: nesterov is 1 (an integer); allowed: true or false"},
  });
}

TEST(ConfigError, PointsAtValuesOutOfRange) {
  const std::string seeds = "; allowed: a list of integers >= 0, distinct, at least one";
  expect({
      {with("rounds = 20", "rounds = 0"), "e.toml:4:10: rounds is 0; allowed: an integer from 1 to 1000000"},
      {with("rounds = 20", "rounds = -1"),
       "e.toml:4:10: rounds is -1; allowed: an integer from 1 to 1000000"},
      {with("[1, 2, 3]", "[]"), "e.toml:3:9: seeds is empty" + seeds},
      {with("[1, 2, 3]", "[1, -2]"), "e.toml:3:9: seeds is [1, -2]" + seeds},
      {with("[1, 2, 3]", "[1,\n 2,\n 1]"), "e.toml:5:2: seed 1 is listed twice" + seeds},
      {with("\"cpu\"", "\"gpu\""),
       "e.toml:5:10: device is \"gpu\"; allowed: \"cpu\", \"cuda\"; did you mean \"cpu\"?"},
      {with("\"glyphs\"", "\"glyhps\""),
       "e.toml:8:8: name is \"glyhps\"; allowed: \"glyphs\", \"cifar10\"; did you mean \"glyphs\"?"},
      {with("\"classes\"", "\"clases\""),
       "e.toml:11:8: kind is \"clases\"; allowed: \"classes\", \"dirichlet\"; did you mean \"classes\"?"},
      {with("\"none\"", "\"recrod\""),
       "e.toml:25:10: policy is \"recrod\"; allowed: \"none\", \"record\", \"client\"; did you mean "
       "\"record\"?"},
      {with("\"fedprox\"", "\"fedprix\""),
       "e.toml:36:8: name is \"fedprix\"; allowed: \"fedavg\", \"fedprox\", \"dp-fedavg\"; did you mean "
       "\"fedprox\"?"},
      {with("rate = 0.5", "rate = 0"), "e.toml:28:8: rate is 0 (for fedavg); allowed: a number > 0"},
      {with("rate = 0.5", "rate = nan"), "e.toml:28:8: rate is nan (for fedavg); allowed: a number > 0"},
      {with("mu = 1", "mu = inf"), "e.toml:37:6: mu is inf; allowed: a number from 0 to 10"},
  });
}

TEST(ConfigError, RefusesNamesThatAreNoFolderNames) {
  const std::string allowed =
      "; allowed: letters, digits, '-', '_' and '.', beginning with a letter or digit, at most 100";
  expect({
      {with("quickstart", "../x"), "e.toml:2:8: \"../x\" is not safe as a folder name" + allowed},
      {with("quickstart", ""), "e.toml:2:8: \"\" is not safe as a folder name" + allowed},
      {with("quickstart", ".."), "e.toml:2:8: \"..\" is not safe as a folder name" + allowed},
      {with("FedAvg", "Fed Avg"), "e.toml:33:9: \"Fed Avg\" is not safe as a folder name" + allowed},
  });
}

TEST(ConfigError, NamesWhatIsMissing) {
  expect({
      {"", "e.toml: [experiment] is missing\n  write [experiment] with name, seeds, rounds"},
      {with("[model]\nname = \"convnet\"\nwidth = 64\n", ""),
       "e.toml: [model] is missing\n  write [model] with name"},
      {with("rounds = 20\n", ""),
       "e.toml:1:2: [experiment] has no \"rounds\"; allowed: an integer from 1 to 1000000"},
      {with("kind = \"classes\"\n", ""),
       "e.toml:10:2: [partition] has no \"kind\"; allowed: \"classes\", \"dirichlet\""},
      {with("name = \"fedprox\"\n", ""),
       "e.toml:35:1: [[algorithms]] has no \"name\"; allowed: \"fedavg\", \"fedprox\", \"dp-fedavg\""},
  });
}

TEST(ConfigError, NamesContradictions) {
  expect({
      {with("size = 5", "size = 5\nfraction = 0.5"),
       "e.toml:20:1: both size and fraction are given; allowed: one of them\n  leave one out, or set it to "
       "0"},
      {with("size = 5", "size = 6"),
       "e.toml:19:8: size is 6; allowed: an integer from 0 to 5, the clients of [partition]"},
      {with("\"FedAvg\"", "\"fedprox\""),
       "e.toml:36:8: two algorithms are labelled \"fedprox\"\n"
       "  give one of them another label; the first is at e.toml:33:9"},
      {with("batch_size = 64", "bathc_size = 64"),
       "e.toml:29:1: unknown key \"bathc_size\" in [training]; allowed: rate, batch_size, mu, average, "
       "nesterov; did "
       "you mean \"batch_size\"?"},
  });
  const std::string only_fedavg = kSample.substr(0, kSample.rfind("[[algorithms]]"));
  EXPECT_EQ(refusal(std::string(only_fedavg).replace(only_fedavg.find("batch_size"), 10, "mu")),
            "e.toml:29:1: unknown key \"mu\" in [training]; allowed: rate, batch_size\n"
            "  \"mu\" belongs in [[algorithms]] with name = \"fedprox\"");
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
            "e.toml:1:130: more than 64 dots in one line; allowed: keys of one or two parts");
  // As deep as the limits let it be: dotted keys within values within values.
  std::string nested = "a = ";
  std::string part = "\n{a";
  for (int dot = 0; dot < 64; ++dot) part += ".a";
  for (int level = 0; level < 200; ++level) nested += "[" + part + " = ";
  EXPECT_THAT(refusal(nested), StartsWith("e.toml:"));
  EXPECT_EQ(refusal("# " + std::string(1000, '.') + "\n" + kSample), "accepted");
}

TEST(ConfigError, RefusesACatalogThatTakesAReservedName) {
  Catalog catalog = sample_catalog();
  catalog.algorithms[0].fields[0].name = "label";
  try {
    read_experiment(parsed(kSample), {}, catalog);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "\"fedavg\" declares a setting \"label\", which [[algorithms]] needs for itself");
  }
}

class ConfigFile : public testing::Test {
 protected:
  static std::string refusal(const std::filesystem::path& file) {
    try {
      read_experiment(config::read_document(file), {}, sample_catalog());
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  test::Scratch folder_;
};

TEST_F(ConfigFile, IsReadWithItsNameInEveryMessage) {
  std::ofstream(folder_ / "good.toml") << kSample;
  EXPECT_EQ(read_experiment(config::read_document(folder_ / "good.toml"), {}, sample_catalog()),
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
  EXPECT_EQ(
      refusal(folder_ / "huge.toml"),
      (folder_ / "huge.toml").string() + ": more than 10 MB; allowed: an experiment file (TOML), a few kB");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: more than 10 MB; allowed: an experiment file (TOML), a few kB");
}

TEST_F(ConfigFile, MustBeReadable) {
  // Root may open everything, but nobody can read a process's memory at address 0.
  EXPECT_EQ(refusal("/proc/self/mem"), "/proc/self/mem: cannot be read to its end");
  if (geteuid() == 0) return;
  std::ofstream(folder_ / "closed.toml") << kSample;
  std::filesystem::permissions(folder_ / "closed.toml", std::filesystem::perms::none);
  EXPECT_EQ(refusal(folder_ / "closed.toml"),
            (folder_ / "closed.toml").string() + ": cannot be read: Permission denied");
}

}  // namespace
}  // namespace fedarena
