#include "datasets/own/csv_column.hpp"

#include <gmock/gmock.h>

#include "datasets/own/csv_cell.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

TEST(CsvCells, AreNumbersInOneFormOnly) {
  EXPECT_EQ(number_of(" 12\t"), 12);
  EXPECT_EQ(number_of("+.5"), 0.5);
  EXPECT_EQ(number_of("1e-3"), 1e-3);
  EXPECT_EQ(number_of("-1e-400"), 0);
  EXPECT_EQ(number_of("6,25", ','), 6.25);
  for (const char* text : {"", " ", "1e400", "nan", "inf", "0x10", "1,5", "1 2", "+-1", "True"})
    EXPECT_EQ(number_of(text), std::nullopt) << text;
  for (const char* text : {"1.5", "1,5,0"}) EXPECT_EQ(number_of(text, ','), std::nullopt) << text;
}

TEST(CsvCells, ResembleNumbersWhenPeopleWouldReadThemAsSuch) {
  for (const char* text :
       {"1,234", "1,234,567.8", "1.234,5", "6,3", "$5", "-$1,000", "45%", "45 %", "1 234", "12€", "1'000",
        "1e5", "1\u00a0234", "1\u202f234,5", "\u00a012", "\u22121.5", "\u20135", "12\u200b", "1\u2019000"})
    EXPECT_TRUE(resembles_number(text)) << text;
  for (const char* text :
       {"n/a", "2011-01-05", "10.0.0.1", "A12", "12a", "555-1234", "", ",", "%", "\u2212", "12\u00a034"})
    EXPECT_FALSE(resembles_number(text)) << text;
}

TEST(CsvCells, HaveAnEssenceThatAccidentsOfWritingDoNotChange) {
  for (const char* name : {"<= 50k", "<=50K.", " <=50K", "<=50K\xc2\xa0"})
    EXPECT_EQ(essence_of(name, true), essence_of("<=50K", true)) << name;
  for (const char* name : {"1.0", "1.", "01", "1e0", "+1", "1.00000000000000000000", "0.1e1", "True", "TRUE"})
    EXPECT_EQ(essence_of(name, true), "1") << name;
  EXPECT_EQ(essence_of("\u22121", true), essence_of("-1.0", true));
  EXPECT_EQ(essence_of("1,50", true, ','), essence_of("1.5", true, ','));
  EXPECT_NE(essence_of("1,5", true), essence_of("1.5", true));
  EXPECT_EQ(essence_of("false", true), essence_of("0", true));
  EXPECT_EQ(essence_of("true", false), "true") << "a name that somebody has";
  EXPECT_EQ(essence_of("12345678901234567891.0", true), essence_of("12345678901234567891", true));
  EXPECT_NE(essence_of("a", true), essence_of("A", true)) << "letters of an alphabet";
  EXPECT_NE(essence_of("\u00e9", true), essence_of("\u00c9", true)) << "letters, too";
  EXPECT_NE(essence_of("aBc", false), essence_of("abc", false));
  EXPECT_NE(essence_of("12345678901234567890", true), essence_of("12345678901234567891", true));
}

TEST(CsvCells, HaveAnEssenceWithoutWhatNobodySees) {
  for (const char* unseen : {"\u00a0", "\u00ad", "\u1680", "\u180e", "\u2000", "\u200b", "\u200f",
                             "\u2028", "\u2029", "\u202a", "\u202e", "\u202f", "\u205f", "\u2060",
                             "\u2064", "\u2800", "\u3000", "\u3164", "\ufe0f", "\ufeff", "\U0001f600"}) {
    const bool seen = std::string_view(unseen) == "\U0001f600";
    EXPECT_EQ(essence_of(fmt::format("c{}at", unseen), true) == "cat", !seen) << unseen;
  }
  EXPECT_EQ(essence_of("caf\u00e9", false), essence_of("cafe\u0301", false));
  EXPECT_EQ(essence_of("\u015ar\u00f3da", true), essence_of("s\u0301RO\u0301DA", true));
  for (const char* other : {"cafe", "caf\u00e8", "cafe\u0300"})
    EXPECT_NE(essence_of("caf\u00e9", true), essence_of(other, true)) << other;
}

class CsvColumns : public ScratchFolder {
 protected:
  NumberColumn numbers(const std::vector<std::string>& cells, char decimal = '.') const {
    NumberColumn column("x", decimal);
    each(cells, [&](const CsvFile& file, const CsvField& field) { column.append(file, field); });
    return column;
  }
  TextColumn texts(const std::vector<std::string>& cells) const {
    TextColumn column("x");
    each(cells, [&](const CsvFile& file, const CsvField& field) { column.append(file, field); });
    return column;
  }

 private:
  template <typename Use>
  void each(const std::vector<std::string>& cells, const Use& use) const {
    std::string content = "y;x\n";
    for (const std::string& cell : cells) content += ";\"" + cell + "\"\n";
    CsvFile file(write("a.csv", content));
    std::vector<CsvField> fields;
    while (file.next(fields)) use(file, fields[1]);
  }
};

TEST_F(CsvColumns, AreWhatAllTheirCellsAre) {
  EXPECT_EQ(numbers({"1", "2.5", " 3 "}).kind(), ColumnKind::kNumbers);
  EXPECT_EQ(numbers({"6,3", "9"}, ',').kind(), ColumnKind::kNumbers);
  EXPECT_EQ(numbers({"True", "false", "TRUE"}).kind(), ColumnKind::kTruths);
  EXPECT_THAT(numbers({"True", "false", "TRUE"}).values(), ElementsAre(1, 0, 1));
  EXPECT_EQ(numbers({"ann", "", "True"}).kind(), ColumnKind::kTexts);
  EXPECT_EQ(numbers({"2011-01-05", "2011-01-06"}).kind(), ColumnKind::kTexts);
  EXPECT_EQ(numbers({"", " "}).kind(), ColumnKind::kEmpty);
}

TEST_F(CsvColumns, MayHaveDecimalsThatAreNoThousands) {
  const std::vector<std::vector<std::string>> honest = {
      {"1.250", "2.000", "12.500"},           // no whole number beside them
      {"1.250", "2.000", "12.500", "0.125"},  // nobody writes thousands with a 0 in front
      {"1.250", "2.000", "12.500", "7", "2.5"},
      {"1.250", "2.000", "12.500", "7", "1000"},
      {"1.250", "2.000", "12.500", "7", "1e3"},
      {"1.250", "2.000", "7", "8"},  // too few to tell
      {"1", "22", "333"}};
  for (const std::vector<std::string>& cells : honest)
    EXPECT_EQ(numbers(cells).kind(), ColumnKind::kNumbers) << cells.back();
}

TEST_F(CsvColumns, OfNamesAscendWithTheirPlacesAndForgetBlanks) {
  TextColumn words = texts({"pear", " fig", "fig ", "pear"});
  words.sort();
  EXPECT_THAT(words.names(), ElementsAre("fig", "pear"));
  EXPECT_THAT(words.values(), ElementsAre(1, 0, 0, 1));
  EXPECT_EQ(words.places()[0].line, 3);
  TextColumn numbers = texts({"10", "9", "-1"});
  numbers.sort();
  EXPECT_THAT(numbers.names(), ElementsAre("-1", "9", "10"));
}

TEST_F(CsvColumns, MayHaveNamesThatDiffer) {
  texts({"yes", "Yes", "a", "A"}).check_names(false);
  texts({"a", "A", "1.5", "15"}).check_names(true);
}

}  // namespace
}  // namespace fedarena
