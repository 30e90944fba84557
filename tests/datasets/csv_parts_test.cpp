#include "datasets/own/csv_parts.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/datasets/scratch_folder.hpp"

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
  std::string refusal(const std::string& train, const std::string& test, CsvRoles roles = {.target = "y"},
                      bool features_scaled = true) const {
    return refusal_of([&] { words(train, test, std::move(roles), features_scaled); });
  }
};

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
  EXPECT_THAT(
      words("x,y\n1,2.5\n2,3\n", "x,y\n1,1\n", {.target = "y", .task = CsvTask::kRegression}, true, false),
      EndsWith("\n  target: \"y\", numbers"));
}

TEST_F(CsvTables, RefuseAClassThatNoTrainingRowHas) {
  EXPECT_EQ(
      refusal("x,y\n1,cat\n2,dog\n", "x,y\n1,dog\n2,dot\n"),
      "test.csv:3:3: the class \"dot\" is in no training row; allowed: cat, dog; did you mean \"dog\"?\n"
      "  Mend the label, leave the rows out, or train on such rows");
  EXPECT_THAT(refusal("x,y\n1, >50K\n2, <=50K\n", "x,y\n1, >50K.\n"),
              HasSubstr("test.csv:2:3: the column \"y\" holds \">50K.\" here and \">50K\" elsewhere"));
}

TEST_F(CsvTables, AskWhetherATargetOfNumbersIsARegression) {
  EXPECT_EQ(refusal("x,y\n1,-1.358\n2,-1.296\n", "x,y\n3,0.5\n"),
            "train.csv: the target \"y\" holds 3 different numbers in 3 rows, which may be classes or not\n"
            "  Set task = \"regression\", or task = \"classification\" to make each number a class");
  std::string prices = "x,y\n";
  for (int i = 0; i < 60; ++i) prices += fmt::format("{},{}\n", i, 100 + i % 30);
  EXPECT_THAT(refusal(prices, "x,y\n1,100\n"), HasSubstr("30 different numbers in 61 rows"));
  EXPECT_THAT(refusal("x;y\n1;6,3\n2;7,1\n", "x;y\n1;6,3\n"), HasSubstr("Set task = \"regression\""));
  for (const char* missing : {"NA", "nan", "-inf", "n/a"})
    EXPECT_EQ(
        refusal(fmt::format("x,y\n1,0.5\n2,0.7\n3,{}\n", missing), "x,y\n3,0.5\n"),
        fmt::format("train.csv:4:3: the target \"y\" holds \"{}\" here and 2 different numbers in 4 rows, "
                    "which may be classes or not\n  Mend it or leave the row out and set task = "
                    "\"regression\", or set task = \"classification\" to make each text a class",
                    missing));
  for (const char* empty : {"", " ", "\u00a0", "\u200b"})
    EXPECT_THAT(refusal(fmt::format("x,y\n1,0.5\n2,{}\n", empty), "x,y\n3,0.5\n"),
                AllOf(HasSubstr("train.csv:3:3: "), HasSubstr("\n  Fill it in or leave the row out")));
  EXPECT_THAT(words("x,y\n1,1\n2,NA\n3,2\n", "x,y\n1,1\n"), HasSubstr("3 classes"));
  EXPECT_THAT(words("x,y\n1,1.5\n2,low\n3,high\n", "x,y\n1,low\n"), HasSubstr("3 classes"));
  const CsvRoles stars{.target = "y", .task = CsvTask::kClassification};
  EXPECT_THAT(words("x,y\n1,0.5\n2,1.5\n", "x,y\n1,0.5\n", stars), HasSubstr("\"0.5\" 1 + 1, \"1.5\" 1 + 0"));
  EXPECT_THAT(words("x,y\n1,0.0\n2,1.0\n", "x,y\n1,0.0\n"), HasSubstr("2 classes"));
}

TEST_F(CsvTables, RefuseValuesThatLeaveNothingToLearnFrom) {
  const std::string rows = "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n";
  EXPECT_EQ(refusal(rows + "1e200,a\n", "x,y\n3,a\n"),
            "train.csv:8: the field of column \"x\" is 1e+200, beside which most others can hardly be told "
            "apart in single precision\n  Mend it, leave the row out, or leave the column out of features");
  EXPECT_THAT(refusal("x,y\n0,a\n0,b\n0,a\n0,b\n0,a\n0,b\n0,a\n0,b\n1,a\n2,b\n1e200,a\n", "x,y\n3,a\n"),
              HasSubstr("train.csv:12: the field of column \"x\" is 1e+200, beside which"));
  EXPECT_THAT(refusal(rows, "x,y\n3,a\n-1e300,b\n"),
              AllOf(HasSubstr("test.csv:3: the field of column \"x\" is -1e+300, "),
                    HasSubstr("deviations away from the mean of the training rows")));
  EXPECT_THAT(refusal(rows, "x,y\n1e19,b\n", {.target = "y"}, false),
              AllOf(HasSubstr("test.csv:2: the field of column \"x\" is 1e+19, which is larger than 1e+18"),
                    HasSubstr("or set standardise = \"features\"")));
  EXPECT_THAT(refusal("x,y\n9e15,a\n9000000000000001,b\n9000000000000002,a\n9000000000000003,b\n",
                      "x,y\n9e15,a\n", {.target = "y"}, false),
              HasSubstr("can hardly be told apart in single precision\n  Set standardise = \"features\""));
  EXPECT_EQ(refusal("x,y\n1,5\n2,5\n", "x,y\n1,6\n", {.target = "y", .task = CsvTask::kRegression}),
            "train.csv:2: the field of column \"y\" is 5, as in every training row, so that there is nothing "
            "to learn\n  Choose another target");
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
  EXPECT_THAT(refusal(train, "y,name\na,ann\n"),
              HasSubstr("there is no column \"x\", which train.csv names"));
}

}  // namespace
}  // namespace fedarena
