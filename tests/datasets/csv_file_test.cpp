#include "datasets/own/csv_file.hpp"

#include <gmock/gmock.h>

#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

class CsvFiles : public ScratchFolder {
 protected:
  // Fields joined by "|", records by "/".
  std::string joined(const std::string& content) const {
    CsvFile file(write("a.csv", content));
    std::string result;
    std::vector<CsvField> fields;
    while (file.next(fields)) {
      if (!result.empty()) result += '/';
      for (std::size_t i = 0; i < fields.size(); ++i) result += (i == 0 ? "" : "|") + fields[i].text;
    }
    return result;
  }
};

TEST_F(CsvFiles, AreReadAsRfc4180HasThem) {
  EXPECT_EQ(joined("a,b\n1,2\n3,4\n"), "1|2/3|4");
  EXPECT_EQ(joined("a,b\r\n1,2\r\n3,4"), "1|2/3|4");
  EXPECT_EQ(joined("a,b\n\"1,5\",\"say \"\"x\"\"\"\n\"two\nlines\",\n"), "1,5|say \"x\"/two\nlines|");
  EXPECT_EQ(joined("\xef\xbb\xbf"
                   "a,b\n,\n\n 1 ,it's 5\" long\n"),
            "|/ 1 |it's 5\" long");
  EXPECT_EQ(joined("a,b\n"), "");
  EXPECT_EQ(joined("a,b\r1,2\r3,4\r"), "1|2/3|4") << "lines of an old Macintosh";
  EXPECT_EQ(joined("a,b\n1, \"x, y\" \n"), "1|x, y") << "blanks around quotes";
}

// It takes no memory and, being full of holes, no disk.
TEST_F(CsvFiles, ThatAreTooLargeAreRefusedBeforeTheyAreRead) {
  const std::filesystem::path file = write("a.csv", "a,b\n1,2\n");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_EQ(refusal_of([&] { CsvFile{file}; }), "a.csv: the table has more than 16 GiB\n  Take a part of it");
}

TEST_F(CsvFiles, HaveTheSeparatorThatTheirHeaderHolds) {
  EXPECT_EQ(joined("\"a,1\";\"b\"\n6,3;9\n"), "6,3|9");
  EXPECT_EQ(joined("a\tb\n1\t 2\n"), "1| 2");
  EXPECT_EQ(joined("a|b\n1|2\n"), "1|2");
  EXPECT_EQ(joined("sep=;\r\na;b\r\n1;2\r\n"), "1|2");
  CsvFile told(write("b.csv", "a;b,c\n1,2;3\n"), "semicolon");
  EXPECT_THAT(told.header(), ElementsAre("a", "b,c"));
}

TEST_F(CsvFiles, HaveNamesWithoutBlanksAndMayHaveColumnsWithoutOne) {
  const CsvFile file(write("a.csv", ", age , work,,\n0,1,2,3,4\n"));
  EXPECT_THAT(file.header(), ElementsAre("", "age", "work", "", ""));
}

TEST_F(CsvFiles, TellWhereAFieldBegins) {
  CsvFile file(write_gzip("a.csv.gz", "a,b\n\"x\ny\",22\n3,\"4\"\n"));
  EXPECT_THAT(file.header(), ElementsAre("a", "b"));
  std::vector<CsvField> fields;
  ASSERT_TRUE(file.next(fields));
  EXPECT_EQ(std::pair(fields[1].line, fields[1].column), std::pair(3, 4));
  ASSERT_TRUE(file.next(fields));
  EXPECT_EQ(std::pair(fields[0].line, fields[0].column), std::pair(4, 1));
  EXPECT_EQ(std::pair(fields[1].line, fields[1].column), std::pair(4, 3));
  EXPECT_FALSE(file.next(fields));
}

TEST_F(CsvFiles, MayRepeatAPartOfTheirHeaderOrNumbers) {
  EXPECT_EQ(joined("x,colour\n1,colour\n"), "1|colour");
  EXPECT_EQ(joined("0,1\n1,0\n0,1\n"), "1|0/0|1") << "numbers may be a row";
}

}  // namespace
}  // namespace fedarena
