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
  std::string refusal(const std::string& content) const {
    return refusal_of([&] { joined(content); });
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
  EXPECT_EQ(refusal("a;b,c\n1;2,3\n"),
            "a.csv:1: the first line holds more than one separator: comma, semicolon\n"
            "  Set separator = \"comma\", or whichever stands between the names");
  CsvFile told(write("b.csv", "a;b,c\n1,2;3\n"), "semicolon");
  EXPECT_THAT(told.header(), ElementsAre("a", "b,c"));
  EXPECT_EQ(refusal("a b\n1 2\n"),
            "a.csv:1: the first line names one column, \"a b\"; allowed: names of columns between commas, "
            "semicolons, tabs or bars (|), one kind in a file");
}

TEST_F(CsvFiles, HaveNamesWithoutBlanksAndMayHaveColumnsWithoutOne) {
  const CsvFile file(write("a.csv", ", age , work,,\n0,1,2,3,4\n"));
  EXPECT_THAT(file.header(), ElementsAre("", "age", "work", "", ""));
  EXPECT_EQ(refusal("a, b,b\n"), "a.csv:1:6: two columns are called \"b\"\n  Rename one");
}

TEST_F(CsvFiles, ThatAreNoTextInUtf8AreRefused) {
  const std::string remedy = "\n  Save it as CSV in UTF-8; iconv -f UTF-16 -t UTF-8 converts text in UTF-16";
  EXPECT_EQ(refusal(std::string("\xff\xfe"
                                "a\0,\0b\0\n\0",
                                10)),
            "a.csv: the text is in UTF-16 or UTF-32" + remedy);
  EXPECT_EQ(
      refusal(std::string("a\0,\0b\0\n\0", 8)),
      "a.csv: bytes of 0 are no text in UTF-8, but UTF-16, a spreadsheet or another binary file" + remedy);
  EXPECT_EQ(
      refusal("a,b\n1,2\n3,\xe4\n"),
      "a.csv:3: the line is not in UTF-8\n  Convert the file, such as by iconv -f WINDOWS-1252 -t UTF-8");
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

TEST_F(CsvFiles, ThatRepeatTheirHeaderAreRefused) {
  const std::string refused =
      "a.csv:3: the record repeats the header\n  Remove the line: tables that are put together need one "
      "header";
  EXPECT_EQ(refusal("x,colour\n1,red\nx,colour\n2,blue\n"), refused);
  EXPECT_EQ(refusal("x,colour\n1,red\n x,\"colour\"\n"), refused);
  EXPECT_EQ(refusal("\xef\xbb\xbf"
                    "\"x\",colour\n1,red\n\xef\xbb\xbf\"x\",colour\n2,blue\n"),
            refused)
      << "each with a byte order mark";
  EXPECT_EQ(joined("x,colour\n1,colour\n"), "1|colour");
  EXPECT_EQ(joined("0,1\n1,0\n0,1\n"), "1|0/0|1") << "numbers may be a row";
}

TEST_F(CsvFiles, AreRefusedWithLineAndColumn) {
  EXPECT_EQ(refusal(""), "a.csv: the file is empty\n  Begin it with a line of column names");
  EXPECT_EQ(refusal("a,b,a\n"), "a.csv:1:5: two columns are called \"a\"\n  Rename one");
  EXPECT_EQ(refusal("a,b\n1,2\n3,4,5\n"),
            "a.csv:3: the record has 3 fields and the header 2, with a comma between them\n"
            "  Put fields that hold a comma in quotes, or set another separator");
  EXPECT_EQ(refusal("a,b\n1\n"),
            "a.csv:2: the record has 1 field and the header 2, with a comma between them\n"
            "  Put fields that hold a comma in quotes, or set another separator");
  EXPECT_EQ(refusal("a,b\n1,\"2\n3,4\n"), "a.csv:2:3: quotes that open here do not close\n  Close them");
  EXPECT_EQ(refusal("a,b\n1,\"2\"3\n"),
            "a.csv:2:6: text after closing quotes\n  Write \"\" for a quote inside of quotes");
}

}  // namespace
}  // namespace fedarena
