#include "fedarena/base/error.hpp"

#include <cmath>
#include <type_traits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fedarena {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(Place, PrintsOnlyWhatIsKnown) {
  EXPECT_EQ(Place{}.str(), "");
  EXPECT_EQ((Place{.file = "a.toml"}).str(), "a.toml");
  EXPECT_EQ((Place{.file = "a.toml", .line = 3}).str(), "a.toml:3");
  EXPECT_EQ((Place{.file = "a.toml", .line = 3, .column = 9}).str(), "a.toml:3:9");
  EXPECT_EQ((Place{.file = "a.toml", .column = 9}).str(), "a.toml");
}

TEST(Error, ComposesEveryPartInOrder) {
  const Error error(Complaint{.place = {"a.toml", 3, 9},
                              .found = "alhpa is 1",
                              .allowed = "alpha",
                              .nearest = "alpha",
                              .remedy = "rename it"});
  EXPECT_STREQ(error.what(), "a.toml:3:9: alhpa is 1; allowed: alpha; did you mean \"alpha\"?\n  rename it");
}

TEST(Error, LeavesEmptyPartsOut) {
  EXPECT_STREQ(Error(Complaint{.found = "no plugin"}).what(), "no plugin");
  EXPECT_STREQ(Error(Complaint{.found = "no plugin", .remedy = "build it"}).what(), "no plugin\n  build it");
}

TEST(Error, KeepsTheComplaint) {
  const Error error(Complaint{.found = "x is 3", .allowed = "an integer from 1 to 2"});
  EXPECT_EQ(error.complaint().found, "x is 3");
  EXPECT_EQ(error.complaint().allowed, "an integer from 1 to 2");
}

TEST(Error, FormatsAMessageWithoutAPlace) {
  EXPECT_STREQ(Error::of("no plugin {} of {}", "a", 2).what(), "no plugin a of 2");
}

TEST(Check, PassesSilently) { EXPECT_NO_THROW(FEDARENA_CHECK(1 + 1, ==, 2)); }

TEST(Check, NamesTheConditionBothOperandsAndThePlace) {
  const int found = 3;
  try {
    FEDARENA_CHECK(found, <, 2 + 0);
    FAIL() << "the check passed";
  } catch (const Bug& bug) {
    EXPECT_THAT(bug.what(), HasSubstr("error_test.cpp:"));
    EXPECT_THAT(bug.what(), EndsWith("check failed: found < 2 + 0 (3 vs 2)"));
  }
}

TEST(Check, EvaluatesEachOperandOnce) {
  int calls = 0;
  const auto next = [&calls] { return ++calls; };
  FEDARENA_CHECK(next(), ==, 1);
  EXPECT_EQ(calls, 1);
}

TEST(Check, FailsOnNan) { EXPECT_THROW(FEDARENA_CHECK(std::nan(""), >, 0.0), Bug); }

// The program catches the three kinds apart: exit codes, stack of a bug, resumable stop.
TEST(Exceptions, AreNotOneAnother) {
  EXPECT_FALSE((std::is_base_of_v<Error, Bug>));
  EXPECT_FALSE((std::is_base_of_v<std::runtime_error, Bug>));
  EXPECT_FALSE((std::is_base_of_v<std::runtime_error, Interrupted>));
  EXPECT_STREQ(Interrupted().what(), "interrupted");
}

}  // namespace
}  // namespace fedarena
