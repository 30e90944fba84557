#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>

#include "datasets/registry.hpp"
#include "tests/datasets/scratch_folder.hpp"
#include "tests/recorded_cases.hpp"

namespace fedarena {
namespace {

const std::string kSmall =
    "size,colour,who,price\n"
    "1,red,ann,10\n"
    "2,blue,bob,20\n"
    "3,red,ann,30\n"
    "6,green,eve,60\n";

const std::string kLater = "size,colour,who,price\n4,blue,zoe,40\n";

const Settings kRegression = {{"target", "price"}, {"task", "regression"}};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

class Csv : public ScratchFolder {
 protected:
  Dataset load(const std::string& content, Settings settings) const {
    write("a.csv", content);
    settings.emplace_back("path", "a.csv");
    return load_dataset("csv", settings, {folder_});
  }
  // With `content` as the second file, so that all of kSmall is for training.
  Dataset load_with_test(const std::string& content, Settings settings) const {
    write("b.csv", content);
    settings.emplace_back("test_path", "b.csv");
    return load(kSmall, std::move(settings));
  }
  std::string refusal(const std::string& content, Settings settings) const {
    return refusal_of([&] { load(content, std::move(settings)); });
  }
  // Of a regression on kSmall with more settings.
  std::string refusal(const Settings& more) const { return refusal(kSmall, with(kRegression, more)); }
};

TEST_F(Csv, ScalesNumbersByTheTrainingPartAndGivesEachCategoryAFeature) {
  const Dataset read = load_with_test("price,who,size,colour\n40,zoe,4,blue\n",
                                      with(kRegression, {{"categorical", "colour"}, {"user", "who"}}));
  // Sizes 1, 2, 3, 6 have mean 3 and variance 14/4; colours come as blue, green, red.
  const double deviation = std::sqrt(3.5);
  const auto expected = torch::tensor({{-2 / deviation, 0., 0., 1.},
                                       {-1 / deviation, 1., 0., 0.},
                                       {0., 0., 0., 1.},
                                       {3 / deviation, 0., 1., 0.}})
                            .to(torch::kFloat32);
  EXPECT_TRUE(torch::allclose(read.train.inputs, expected)) << read.train.inputs;
  EXPECT_TRUE(
      torch::allclose(read.test.inputs, torch::tensor({{1 / deviation, 1., 0., 0.}}).to(torch::kFloat32)));
  EXPECT_TRUE(torch::equal(read.train.targets, torch::tensor({{10.F}, {20.F}, {30.F}, {60.F}})));
  EXPECT_THAT(read.users, ElementsAre("ann", "bob", "eve", "zoe"));
  EXPECT_THAT(read.train.users, ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(read.test.users, ElementsAre(3));
  EXPECT_EQ(read.classes, 0);
  EXPECT_TRUE(read.mean.empty());
  EXPECT_EQ(read.note, "");
}

TEST_F(Csv, ScalesTheTargetOnRequestAndSaysSo) {
  const Dataset read = load_with_test(kLater, with(kRegression, {{"standardise", "all"}}));
  EXPECT_NEAR(read.train.targets.mean().item<double>(), 0, 1e-6);
  EXPECT_NEAR(read.train.targets.std(0, false).item<double>(), 1, 1e-6);
  EXPECT_EQ(read.note, "the target is standardised; an error of 1 is 18.7083 of \"price\"");
  EXPECT_EQ(read.read_off.back(), "means and deviations of the features and the target");
  EXPECT_EQ(load_with_test(kLater, kRegression).read_off.back(), "means and deviations of the features");
  const Dataset raw = load_with_test(kLater, with(kRegression, {{"standardise", "none"}}));
  EXPECT_TRUE(torch::equal(raw.train.inputs, torch::tensor({{1.F}, {2.F}, {3.F}, {6.F}})));
  EXPECT_THAT(raw.read_off, Not(Contains(HasSubstr("means"))));
}

TEST_F(Csv, DividesColumnsByTheirUnitsAndSaysSo) {
  const Dataset read = load_with_test(kLater, with(kRegression, {{"units", "price: 40, size: 0.5"}}));
  EXPECT_TRUE(torch::equal(read.train.inputs, torch::tensor({{2.F}, {4.F}, {6.F}, {12.F}})));
  EXPECT_TRUE(torch::equal(read.train.targets, torch::tensor({{0.25F}, {0.5F}, {0.75F}, {1.5F}})));
  EXPECT_EQ(read.note, "an error of 1 is 40 of \"price\"");
  EXPECT_THAT(read.taken, HasSubstr("\n  divided by: \"price\" 40, \"size\" 0.5\n"));
}

TEST_F(Csv, MakesOneNumberOfTextsAndLeavesOthersOut) {
  const Dataset read = load_with_test(
      "price,who,size,colour\n40,zoe,4,green\n50,zoe,4,blue\n",
      with(kRegression,
           {{"index", "colour"}, {"index_values", "gr, re"}, {"standardise", "none"}, {"user", "who"}}));
  EXPECT_TRUE(torch::equal(read.train.inputs, torch::tensor({{1.F, 1.F}, {3.F, 1.F}, {6.F, 0.F}})));
  EXPECT_TRUE(torch::equal(read.test.inputs, torch::tensor({{4.F, 0.F}})));
  EXPECT_THAT(read.users, ElementsAre("ann", "eve", "zoe"));
  EXPECT_THAT(read.taken,
              HasSubstr("\n  index \"colour\" (2 other rows left out): 0 for \"gr\", 1 for \"re\"\n"));
}

// In a column that is named; of others it is not known before the end whether they hold numbers.
TEST_F(Csv, LeavesRowsOutThatLackSomething) {
  const Settings named =
      with(kRegression, {{"features", "size"}, {"categorical", "colour"}, {"standardise", "none"}});
  const std::string content =
      "size,colour,who,price\n1,red,ann,10\n "
      ",red,bob,20\n?,red,cid,20\n3,,dan,30\n4,blue,,40\n5,NA,eve,50\n6,red,fay,\n";
  const Dataset read = load_with_test(content, with(named, {{"missing", "drop"}, {"missing_as", "?, NA"}}));
  EXPECT_TRUE(torch::equal(read.test.targets, torch::tensor({{10.F}, {40.F}})));
  EXPECT_THAT(read.taken, HasSubstr("\n  left out, since something is missing: 5 rows\n"));
  EXPECT_THAT(read.read_off, Contains("which rows have missing values"));
  EXPECT_THAT(refusal(content, with(named, {{"missing", "drop"}})),
              HasSubstr("a.csv:4:1: the field of column \"size\" is \"?\""));
  EXPECT_THAT(refusal(content, with(kRegression, {{"missing", "drop"}, {"missing_as", "?"}})),
              HasSubstr("name the columns to learn from in features"));
}

TEST_F(Csv, JoinsAnotherTableByAColumn) {
  write("c.csv", "hue;colour;wave\n0; red ;700\n120;green;530\n240;blue;470\n7;grey;0\n");
  const Dataset read = load_with_test(
      "price,who,size,colour\n40,zoe,4,blue\n",
      with(kRegression,
           {{"join_path", "c.csv"}, {"join", "colour"}, {"features", "wave,size"}, {"standardise", "none"}}));
  EXPECT_TRUE(torch::equal(read.train.inputs,
                           torch::tensor({{700.F, 1.F}, {470.F, 2.F}, {700.F, 3.F}, {530.F, 6.F}})));
  EXPECT_TRUE(torch::equal(read.test.inputs, torch::tensor({{470.F, 4.F}})));
  EXPECT_THAT(read.taken, HasSubstr("\"hue\" (not in features)"));
}

// Settings as "target=price | task=regression".
Settings settings_in(const std::string& line) {
  Settings settings;
  for (std::size_t begin = 0, end = 0; begin < line.size(); begin = end + 3) {
    end = std::min(line.find(" | ", begin), line.size());
    const std::string setting = line.substr(begin, end - begin);
    settings.emplace_back(setting.substr(0, setting.find('=')), setting.substr(setting.find('=') + 1));
  }
  return settings;
}

TEST_F(Csv, AreRefusedAsRecorded) {
  Settings base = kRegression, more;
  std::string content = kSmall;
  std::size_t cases = 0;
  for (const auto& [sign, text] : test::case_lines("tests/datasets/csv_setting_refusals.txt")) {
    if (sign.empty()) base = kRegression;
    if (sign == "=") base = settings_in(text);
    if (sign == "$") more = settings_in(text);
    if (sign == "~") content = text;
    if (sign == "+") write("b.csv", text);
    if (sign != ">") continue;
    EXPECT_EQ(refusal(content, with(base, more)), text) << content;
    content = kSmall;
    more.clear();
    ++cases;
  }
  EXPECT_GT(cases, 25U);
}

TEST_F(Csv, RefusesAFileThatIsNotThereWithWhereItWasLookedFor) {
  const auto missing = [](const std::string& key) {
    return key + " = \"d.csv\" is not there: looked for " + std::filesystem::absolute("d.csv").string() +
           ", d.csv\n  Give an absolute path, one below the working directory, or one below a folder of "
           "FEDARENA_DATA";
  };
  EXPECT_EQ(refusal({{"join_path", "d.csv"}, {"join", "colour"}}), missing("join_path"));
  EXPECT_EQ(refusal_of([&] {
              load_dataset("csv", {{"path", "d.csv"}, {"target", "y"}}, {folder_});
            }),
            missing("path"));
}

TEST_F(Csv, NumbersClassesAsTheirNamesAscend) {
  const Dataset words = load_with_test(kLater, {{"target", "colour"}, {"features", "price, size"}});
  EXPECT_EQ(words.classes, 3);
  EXPECT_TRUE(torch::equal(words.train.targets, torch::tensor({2, 0, 2, 1}, torch::kInt64)));
  EXPECT_EQ(words.train.inputs.size(1), 2);
  const Dataset numbers = load("x,y\n1,10\n2,9\n3,9\n4,-1\n", {{"target", "y"}});
  EXPECT_EQ(numbers.classes, 3);
  for (const Examples* part : {&numbers.train, &numbers.test}) EXPECT_LE(part->targets.max().item<int>(), 2);
}

std::string squares(int rows) {
  std::string content = "x,y\n";
  for (int x = 0; x < rows; ++x) content += fmt::format("{},{}\n", x, x * x);
  return content;
}

TEST_F(Csv, TakesSemicolonsAndDecimalCommas) {
  const Dataset read =
      load("x;y\n6,5;a\n7,5;b\n8,5;a\n",
           {{"target", "y"}, {"decimal", "comma"}, {"standardise", "none"}, {"test_fraction", 0.3}});
  EXPECT_EQ(read.train.inputs.sum().item<double>() + read.test.inputs.sum().item<double>(), 22.5);
}

TEST_F(Csv, SetsTheSameRowsAsideInEveryRun) {
  const Settings settings = {{"target", "y"}, {"task", "regression"}, {"standardise", "none"}};
  for (const double fraction : {0.1, 0.3, 0.5}) {
    const Dataset first = load(squares(100), with(settings, {{"test_fraction", fraction}}));
    const Dataset again = load(squares(100), with(settings, {{"test_fraction", fraction}}));
    EXPECT_EQ(first.test.size(), std::llround(100 * fraction));
    EXPECT_TRUE(torch::equal(first.test.inputs, again.test.inputs));
    std::set<float> rows;
    for (const Examples* part : {&first.train, &first.test}) {
      for (std::int64_t i = 0; i < part->size(); ++i) {
        const auto x = part->inputs[i][0].item<float>();
        EXPECT_TRUE(rows.insert(x).second) << x << " is in both parts";
        EXPECT_EQ(part->targets[i][0].item<float>(), x * x);
      }
    }
    EXPECT_EQ(rows.size(), 100U);
  }
  const Dataset three = load("x,y\n1,1\n2,4\n3,9\n", with(settings, {{"test_fraction", 0.01}}));
  EXPECT_EQ(three.test.size(), 1) << "neither part is empty";
}

TEST_F(Csv, RefusesToTestOnTheFileOfTraining) {
  const std::string refused =
      "test_path is the file of path, or holds the same bytes; allowed: a file of other rows\n  Give such a "
      "file, or leave test_path out and have test_fraction set rows aside";
  EXPECT_EQ(refusal({{"test_path", "a.csv"}}), "a.csv: " + refused);
  std::filesystem::create_symlink("a.csv", folder_ / "link.csv");
  EXPECT_EQ(refusal({{"test_path", "link.csv"}}), "link.csv: " + refused);
  EXPECT_EQ(refusal_of([&] { load_with_test(kSmall, kRegression); }), "b.csv: " + refused);
  write_gzip("c.csv.gz", kSmall);
  EXPECT_EQ(refusal({{"test_path", "c.csv.gz"}}), "c.csv.gz: " + refused);
}

TEST_F(Csv, RefusesTooManyDifferentValues) {
  EXPECT_THAT(refusal(squares(1001), {{"target", "y"}, {"task", "classification"}}),
              HasSubstr("the column \"y\" holds 1001 different values"));
  EXPECT_THAT(refusal(squares(1001), {{"target", "y"}, {"task", "regression"}, {"categorical", "x"}}),
              HasSubstr("the column \"x\" holds 1001 different values; allowed: 1 to 1000"));
}

}  // namespace
}  // namespace fedarena
