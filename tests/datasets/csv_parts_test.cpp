#include "datasets/own/csv_parts.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/datasets/scratch_folder.hpp"
#include "tests/recorded_cases.hpp"

namespace fedarena {
namespace {

class CsvTables : public ScratchFolder {
 protected:
  // What a table says of itself, whose test rows are those of a second file.
  std::string words(const std::string& train, const std::string& test, CsvRoles roles = {.target = "y"},
                    bool features_scaled = true, bool tells_labels = true) const {
    CsvTable table(std::move(roles));
    CsvFile first(write("train.csv", train));
    table.append(first);
    const std::int64_t trained = table.rows();
    CsvFile second(write("test.csv", test));
    table.append(second);
    table.finish();
    const CsvParts parts = split_at(trained, table.rows());
    check_test_classes(table, parts);
    return in_words(table, parts, scale_columns(table, parts, features_scaled, false), tells_labels);
  }
};

TEST_F(CsvTables, AreRefusedAsRecorded) {
  std::string change, train, second;
  std::size_t cases = 0;
  for (const auto& [sign, text] : test::case_lines("tests/datasets/csv_refusals.txt")) {
    if (sign.empty()) change.clear();
    if (sign == "=") change = text;
    if (sign == "~") train = second = text;
    if (sign == "+") second = text;
    if (sign != ">") continue;
    CsvRoles roles{.target = "y"};
    if (change == "regression") roles.task = CsvTask::kRegression;
    if (change == "decimal comma") roles.decimal = ',';
    const auto read = [&] { words(train, second, roles, change != "unscaled"); };
    EXPECT_EQ(refusal_of(read), text) << train;
    ++cases;
  }
  EXPECT_GT(cases, 40U);
}

TEST_F(CsvTables, ShowBeginningsOfLongNames) {
  const std::string name(1'000'000, 'b');
  EXPECT_THAT(words("x,y\n1,a\n2," + name + "\n", "x,y\n3,a\n"),
              EndsWith(": \"a\" 1 + 1, \"" + name.substr(0, 60) + "...\" 1 + 0"));
}

TEST_F(CsvTables, SayWhatWasTakenOfATable) {
  EXPECT_EQ(
      words(
          "id,x,dose,flag,word,who,y,empty,\nA1,1,14.62,True,red,ann,no,,\nA2,2,14.62,False,red,bob,yes,,\n",
          "id,x,dose,flag,word,who,y,empty,,more\nA3,3,14.63,True,blue,ann,yes,,,9\n",
          {.target = "y", .categorical = {"word"}, .user = "who"}),
      "csv: 2 training rows and 1 test row\n"
      "  numbers: \"x\", \"dose\"\n"
      "  True and False as 1 and 0: \"flag\"\n"
      "  constant in the training rows, hence 0 everywhere: \"dose\"\n"
      "  categorical: \"word\" (2 values, 1 of them only in test rows)\n"
      "  user: \"who\" (2 users)\n"
      "  target: \"y\", 2 classes (training + test rows): \"no\" 1 + 0, \"yes\" 1 + 1\n"
      "  not used: \"\" (no name), \"more\" (only in test.csv), \"id\" (texts), \"empty\" (empty)");
  EXPECT_EQ(words("x,z,y\n1,4,2.5\n2,4,3\n", "y,x\n1,1\n",
                  {.target = "y", .task = CsvTask::kRegression, .features = {"x"}}),
            "csv: 2 training rows and 1 test row\n"
            "  numbers: \"x\"\n"
            "  target: \"y\", numbers from 1 to 3\n"
            "  not used: \"z\" (not in features)");
}

TEST_F(CsvTables, TellNothingOfLabelsWhereTheyArePrivate) {
  EXPECT_THAT(words("x,y\n1,no\n2,yes\n", "x,y\n3,yes\n", {.target = "y"}, true, false),
              EndsWith("\n  target: \"y\", 2 classes: \"no\", \"yes\""));
  EXPECT_THAT(words("x,w,y\n1,red,no\n2,red,yes\n", "x,w,y\n3,blue,yes\n",
                    {.target = "y", .categorical = {"w"}}, true, false),
              HasSubstr("categorical: \"w\" (2 values)\n"));
  EXPECT_THAT(
      words("x,y\n1,2.5\n2,3\n", "x,y\n1,1\n", {.target = "y", .task = CsvTask::kRegression}, true, false),
      EndsWith("\n  target: \"y\", numbers"));
}

TEST_F(CsvTables, AskWhetherATargetOfNumbersIsARegression) {
  std::string prices = "x,y\n";
  for (int i = 0; i < 60; ++i) prices += fmt::format("{},{}\n", i, 100 + i % 30);
  EXPECT_THAT(refusal_of([&] { words(prices, "x,y\n1,100\n"); }),
              HasSubstr("30 different numbers in 61 rows"));
  EXPECT_THAT(words("x,y\n1,1\n2,NA\n3,2\n", "x,y\n1,1\n"), HasSubstr("3 classes"));
  EXPECT_THAT(words("x,y\n1,1.5\n2,low\n3,high\n", "x,y\n1,low\n"), HasSubstr("3 classes"));
  const CsvRoles stars{.target = "y", .task = CsvTask::kClassification};
  EXPECT_THAT(words("x,y\n1,0.5\n2,1.5\n", "x,y\n1,0.5\n", stars), HasSubstr("\"0.5\" 1 + 1, \"1.5\" 1 + 0"));
  EXPECT_THAT(words("x,y\n1,0.0\n2,1.0\n", "x,y\n1,0.0\n"), HasSubstr("2 classes"));
}

// Else the columns are compared with each other, which takes minutes of the processor.
TEST_F(CsvTables, OfManyColumnsTakeTimeInProportionToThem) {
  std::string names = "y", first = "a", second = "b";
  for (int i = 0; i < 100'000; ++i) {
    names += fmt::format(",x{}", i);
    first += ",1";
    second += ",2";
  }
  const auto read = [&] {
    const rlimit seconds{20, 20};
    setrlimit(RLIMIT_CPU, &seconds);
    words(names + "\n" + first + "\n" + second + "\n", names + "\n" + first + "\n");
    ::_exit(0);
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(0), "");
}

TEST_F(CsvTables, NeedOnlyThoseColumnsInASecondFileThatAreUsed) {
  const std::string train = "x,name,y\n1,ann,a\n2,bob,b\n";
  EXPECT_THAT(words(train, "y,x\na,1\n"), HasSubstr("not used: \"name\" (texts)"));
}

}  // namespace
}  // namespace fedarena
