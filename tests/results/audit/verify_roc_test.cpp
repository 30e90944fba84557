// What `verify` says of receiver operating characteristics.
#include <gmock/gmock.h>

#include "results/record/roc_file.hpp"
#include "results/audit/verify.hpp"
#include "tests/results/recorded_run.hpp"
#include "tests/results/roc_samples.hpp"

namespace fedarena::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class VerifyRoc : public testing::Test {
 protected:
  VerifyRoc() { write_roc(run_.open(), two_class_roc(false)); }

  Scratch scratch_;
  RecordedRun run_{scratch_ / "run", {}};
};

TEST_F(VerifyRoc, FindsNothingInWhatTheProgramWrote) {
  EXPECT_THAT(run_.differences(), IsEmpty());
  const std::int64_t values = verify_run(run_.path()).values;
  std::filesystem::remove(run_.path() / kRocFile);
  EXPECT_THAT(run_.differences(), IsEmpty());
  EXPECT_EQ(values - verify_run(run_.path()).values, 5);
}

// Half of the rates are 0.5 and half are 1.
TEST_F(VerifyRoc, FindsAnAreaThatTheRatesDoNotAllow) {
  run_.edit(kRocFile, "\"auc\":0.75", "\"auc\":0.77");
  EXPECT_THAT(
      run_.differences(),
      ElementsAre("roc.json: class 0 auc is 0.77; recomputed: from 0.75 to 0.755, as its rates have it"));
}

TEST_F(VerifyRoc, FindsCountsThatDoNotAddUp) {
  run_.edit(kRocFile, "\"positives\":2", "\"positives\":3");
  EXPECT_THAT(run_.differences(), ElementsAre("roc.json: class 0 negatives is 2; recomputed: 1",
                                              "roc.json: test_examples is 4; recomputed: 5"));
}

TEST_F(VerifyRoc, BearsAnyWholeNumber) {
  run_.edit(kRocFile, "\"positives\":2", "\"positives\":9223372036854775807");
  run_.edit(kRocFile, "\"positives\":2", "\"positives\":9223372036854775807");
  EXPECT_EQ(run_.differences().size(), 3U);
}

TEST_F(VerifyRoc, RefusesADamagedFile) {
  run_.edit(kRocFile, "[0.5,0.5,", "[0.5,0.4,");
  EXPECT_THAT(message_of([&] { verify_run(run_.path()); }),
              testing::AllOf(testing::HasSubstr("roc.json"), testing::HasSubstr("\"true_positive_rates\"")));
}

}  // namespace
}  // namespace fedarena::results
