// Rows of a table hold runs under the same conditions, also under those that no summary states.
#include "results/table/row_conditions.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/table/row_key.hpp"
#include "tests/results/samples.hpp"
#include "tests/scratch.hpp"

namespace fedarena::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::string kFile =
    "[experiment]\nname = \"e\"\nseeds = [1]\ndtype = \"float32\"\n\n[cohort]\nsize = "
    "5\n\n[evaluation]\nevery = 1\n\n"
    "[stopping]\npatience = 3\n\n[privacy]\npolicy = \"none\"\n\n[[algorithms]]\nname = \"fedavg\"\n\n"
    "[algorithms.privacy]\npolicy = \"record\"\nnoise_multiplier = 1.0\n";

std::string with(const std::string& before, const std::string& after) {
  std::string text = kFile;
  text.replace(text.find(before), before.size(), after);
  return text;
}

TEST(RowConditions, AreThoseThatNoSummaryStates) {
  const test::Scratch scratch;
  scratch.write("run/experiment.toml", kFile);
  EXPECT_THAT(row_conditions(scratch / "run"),
              ElementsAre(Pair("algorithms.privacy.noise_multiplier", "1.0"),
                          Pair("algorithms.privacy.policy", "record"), Pair("cohort.size", "5"),
                          Pair("experiment.dtype", "float32"), Pair("stopping.patience", "3")));
  EXPECT_THAT(row_conditions(scratch / "none"), IsEmpty());
}

class SameRow : public testing::Test {
 protected:
  // What is wrong with a row of a run of that file and one of kFile, or "nothing".
  std::string wrong_with(const std::string& file) const {
    scratch_.write("a/experiment.toml", kFile);
    scratch_.write("b/experiment.toml", file);
    const FoundRun first{scratch_ / "a", finished("fedavg", 1, 0.5), {}};
    const FoundRun second{scratch_ / "b", finished("fedavg", 2, 0.6), {}};
    try {
      check_same_row(first, second);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }

  test::Scratch scratch_;
};

TEST_F(SameRow, RefusesOtherConditions) {
  EXPECT_EQ(wrong_with(with("seeds = [1]", "seeds = [2]")), "nothing");
  EXPECT_EQ(wrong_with(with("every = 1", "every = 2")), "nothing") << "the last round is evaluated anyway";
  EXPECT_EQ(wrong_with(with("[stopping]\npatience = 3\n\n", "")), "nothing") << "older than the setting";
  EXPECT_THAT(wrong_with(with("size = 5", "size = 50")),
              HasSubstr("belong to one row, \"fedavg\", but differ in cohort.size: \"5\" and \"50\""));
  EXPECT_THAT(wrong_with(with("patience = 3", "patience = 0")),
              HasSubstr("differ in stopping.patience: \"3\" and \"0\""));
  EXPECT_THAT(wrong_with(with("float32", "float64")), HasSubstr("differ in experiment.dtype"));
  EXPECT_THAT(wrong_with(with("noise_multiplier = 1.0", "noise_multiplier = 2.0")),
              HasSubstr("differ in algorithms.privacy.noise_multiplier: \"1.0\" and \"2.0\""));
}

}  // namespace
}  // namespace fedarena::results
