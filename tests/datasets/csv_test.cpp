#include <cmath>
#include <set>

#include <gmock/gmock.h>

#include "datasets/registry.hpp"
#include "tests/datasets/scratch_folder.hpp"

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

TEST_F(Csv, RefusesAJoinThatFindsNothingOrTooMuch) {
  const Settings join = {{"join_path", "c.csv"}, {"join", "colour"}};
  write("c.csv", "colour,wave\nred,700\nbleu,470\ngreen,530\n");
  EXPECT_EQ(refusal(join),
            "a.csv:3:3: the field of column \"colour\" is \"blue\", which no row of c.csv has; did you mean "
            "\"bleu\"?\n  Add such a row there, or leave this one out");
  write("c.csv", "colour,wave\nred,700\nred,470\n");
  EXPECT_EQ(refusal(join), "c.csv:3:1: two rows have \"red\" in the column \"colour\"\n  Remove one");
  write("c.csv", "colour,size\nred,700\n");
  EXPECT_EQ(refusal(join), "a.csv: the column \"size\" is in the table of join_path, too\n  Rename one");
  write("c.csv", "color,wave\nred,700\n");
  EXPECT_THAT(refusal(join), HasSubstr("c.csv: there is no column \"colour\", which join names"));
  write("c.csv", "colour,wave\nred,n/a\nblue,470\ngreen,530\n");
  EXPECT_THAT(refusal(join), HasSubstr("a.csv:2:3: the field of column \"wave\" is \"n/a\""));
  EXPECT_THAT(refusal({{"join_path", "d.csv"}, {"join", "colour"}}),
              HasSubstr("join_path = \"d.csv\" is not there: looked for "));
}

TEST_F(Csv, RefusesAnIndexOrUnitsThatFitNothing) {
  const auto indexed = [](const std::string& values) {
    return Settings{{"index", "colour"}, {"index_values", values}};
  };
  EXPECT_EQ(refusal(indexed("red, pink, blue")),
            "a.csv: no text of the column \"colour\" begins with \"pink\", as index_values has it");
  EXPECT_EQ(refusal(indexed("pink")),
            "a.csv: the file has 0 rows that index_values takes; allowed: at least 2");
  EXPECT_EQ(refusal(indexed("green, gr")),
            "index_values: \"green\" begins with \"gr\"; allowed: values of which none begins as another");
  EXPECT_EQ(refusal({{"index", "colour"}}), "index is given without index_values\n  Give both or neither");
  EXPECT_EQ(refusal({{"join_path", "c.csv"}}), "join_path is given without join\n  Give both or neither");
  for (const std::string unit : {"size", "size: 0", "size: -1", "size: much", ":"})
    EXPECT_EQ(
        refusal({{"units", unit}}),
        fmt::format("units holds \"{}\"; allowed: names of columns and numbers > 0, as in \"x: 100, y: 0.5\"",
                    unit));
  EXPECT_THAT(refusal({{"units", "size: 1e300"}}),
              AllOf(HasSubstr("can hardly be told apart in single precision"),
                    HasSubstr("Choose another unit, subtract a constant from the column")));
  EXPECT_EQ(refusal({{"units", "size: 1, size: 2"}}), "units names the column \"size\" twice");
  EXPECT_EQ(
      refusal({{"units", "sizes: 2"}}),
      "units names the column \"sizes\", which is not one of numbers in use; allowed: size, price; did you "
      "mean \"size\"?");
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

TEST_F(Csv, RefusesAFieldThatIsNoNumberWithItsPlace) {
  EXPECT_EQ(refusal("x,y\n1,2\n3,\n", {{"target", "y"}, {"task", "regression"}}),
            "a.csv:3:3: the field of column \"y\" is empty; allowed: a finite number\n"
            "  Mend it, leave the row out, or set task = \"classification\"");
  EXPECT_THAT(refusal("x,y\n1,2\ninf,4\n", {{"target", "y"}, {"task", "regression"}}),
              HasSubstr("a.csv:3:1: "));
  EXPECT_EQ(
      refusal("x,y\n1,a\n3,\n", {{"target", "y"}}),
      "a.csv:3:3: the field of column \"y\" is empty; allowed: a text\n  Fill it in or leave the row out");
}

TEST_F(Csv, RefusesAColumnThatIsNotThereWithTheNearest) {
  EXPECT_EQ(refusal(kSmall, {{"target", "prise"}}),
            "a.csv: there is no column \"prise\", which target names; allowed: size, colour, who, price"
            "; did you mean \"price\"?");
  EXPECT_THAT(refusal({{"categorical", "color"}}), HasSubstr("\"color\", which categorical names"));
  EXPECT_THAT(refusal({{"features", "size,weight"}}), HasSubstr("\"weight\", which features names"));
  EXPECT_THAT(refusal({{"user", "whom"}}), HasSubstr("\"whom\", which user names"));
  write("b.csv", "size,who\n1,ann\n");
  EXPECT_THAT(refusal({{"test_path", "b.csv"}}),
              HasSubstr("b.csv: there is no column \"price\", which target names"));
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

TEST_F(Csv, RefusesSettingsThatDoNotGoTogether) {
  EXPECT_EQ(refusal(kSmall, {}), "target is \"\"; allowed: the name of a column");
  EXPECT_EQ(refusal(kSmall, {{"target", "price"}, {"user", "price"}}),
            "the column \"price\" is named twice; allowed: one role a column: features, categorical, index, "
            "target or user");
  EXPECT_THAT(message_of([&] {
                load_dataset("csv", {{"path", "no.csv"}, {"target", "y"}}, {folder_});
              }),
              HasSubstr("path = \"no.csv\" is not there: looked for "));
}

TEST_F(Csv, RefusesTooFewRowsAndColumnsWithoutUse) {
  EXPECT_EQ(refusal("x,y\n", {{"target", "y"}}), "a.csv: the file has 0 rows; allowed: at least 2");
  EXPECT_EQ(refusal("x,y\n1,2\n", {{"target", "y"}}), "a.csv: the file has 1 row; allowed: at least 2");
  EXPECT_EQ(refusal("x,y\nred,2\nblue,3\n", {{"target", "y"}}),
            "a.csv: no column but the target holds numbers\n  Name columns of texts under categorical");
  EXPECT_EQ(refusal("x,y\n1,2\n2,2\n", {{"target", "y"}}),
            "a.csv: the column \"y\" holds 1 different value; allowed: 2 to 1000\n"
            "  Set task = \"regression\", or choose another target");
  EXPECT_THAT(refusal(squares(1001), {{"target", "y"}, {"task", "classification"}}),
              HasSubstr("the column \"y\" holds 1001 different values"));
  EXPECT_THAT(refusal(squares(1001), {{"target", "y"}, {"task", "regression"}, {"categorical", "x"}}),
              HasSubstr("the column \"x\" holds 1001 different values; allowed: 1 to 1000"));
}

}  // namespace
}  // namespace fedarena
