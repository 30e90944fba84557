// [audit]: canaries, guesses and the policies that they fit.

#include "sample.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

std::string audited_sample(const std::string& audit, const std::string& policy = "record") {
  return with("policy = \"none\"", "policy = \"" + policy + "\"") + "\n[audit]\n" + audit;
}

TEST(AuditSection, TakesAFifthOfTheCanariesForGuesses) {
  const Audit audit = parse_sample(audited_sample("kind = \"gradient\"\n")).audit;
  EXPECT_EQ(audit, (Audit{"gradient", 1000, 200, "on"}));
  EXPECT_EQ(parse_sample(audited_sample("kind = \"gradient\"\ncanaries = 57\n")).audit.guesses, 10);
  EXPECT_EQ(parse_sample(audited_sample("kind = \"gradient\"\ncanaries = 2\n")).audit.guesses, 2);
  EXPECT_EQ(
      parse_sample(audited_sample("kind = \"client\"\nguesses = 40\nnoise = \"off\"\n", "client")).audit,
      (Audit{"client", 1000, 40, "off"}));
}

TEST(AuditSection, IsPartOfTheResolvedFileOnlyWhereThereAreCanaries) {
  EXPECT_THAT(to_toml(parse_sample(kSample)), Not(HasSubstr("audit")));
  EXPECT_THAT(to_toml(parse_sample(audited_sample("kind = \"none\"\ncanaries = 7\n"))),
              Not(HasSubstr("audit")));
  const Experiment experiment = parse_sample(audited_sample("kind = \"gradient\"\n"));
  EXPECT_THAT(to_toml(experiment),
              HasSubstr("[audit]\nkind = \"gradient\"\ncanaries = 1000\nguesses = 200\n"));
  EXPECT_EQ(parse_sample(to_toml(experiment)), experiment);
}

TEST(AuditSection, MayBeSetAndSwept) {
  const std::string text = with("policy = \"none\"", "policy = \"record\"");
  EXPECT_EQ(parse_sample(text, {"audit.kind=gradient", "audit.canaries=20"}).audit,
            (Audit{"gradient", 20, 4, "on"}));
}

TEST(AuditSection, NeedsThePolicyThatItsCanariesGoThrough) {
  EXPECT_THAT(
      refusal(audited_sample("kind = \"gradient\"\n", "client")),
      AllOf(HasSubstr("canaries of the kind \"gradient\", and \"FedAvg\" runs under the policy \"client\""),
            HasSubstr("the policy \"record\"")));
  EXPECT_THAT(refusal(audited_sample("kind = \"client\"\n")), HasSubstr("the policy \"client\""));
  EXPECT_THAT(refusal(audited_sample("kind = \"mislabelled\"\n", "none")),
              HasSubstr("the policy \"record\""));
}

TEST(AuditSection, RefusesNumbersThatDoNotFit) {
  EXPECT_THAT(refusal(audited_sample("kind = \"gradient\"\ncanaries = 10\nguesses = 12\n")),
              AllOf(HasSubstr("guesses is 12"), HasSubstr("an even integer from 0 to 10, the canaries")));
  EXPECT_THAT(refusal(audited_sample("kind = \"gradient\"\nguesses = 11\n")), HasSubstr("guesses is 11"));
  EXPECT_THAT(refusal(audited_sample("kind = \"gradient\"\ncanaries = 1\n")), HasSubstr("from 2 to 1000000"));
  EXPECT_THAT(refusal(audited_sample("kind = \"gradients\"\n")), HasSubstr("\"gradient\""));
  EXPECT_THAT(refusal(audited_sample("canaries = 10\n")), HasSubstr("[audit] has no kind"));
}

}  // namespace
}  // namespace fedarena
