// What tables show and say of audits by canaries.

#include "results/record/json_fields.hpp"
#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/table/claim_samples.hpp"

namespace fedarena::results {
namespace {

Summary audited(std::int64_t seed, double lower_bound, bool control = false) {
  Summary summary = finished_privately(control ? "control" : "fedavg", seed, 0.5);
  summary.audit = CanaryAudit{.kind = "gradient",
                              .canaries = 1000,
                              .guesses = 200,
                              .right = 150,
                              .lower_bound = lower_bound,
                              .control = control};
  return summary;
}

TEST(AuditTable, HasTheMeanOfTheBoundsAndMarksControls) {
  const Table table = table_of(
      {audited(1, 0.25), audited(2, 0.75), audited(1, 4, true), finished_privately("plain", 1, 0.5)});
  EXPECT_EQ(table.rows[1].label, "fedavg");
  EXPECT_DOUBLE_EQ(table.rows[1].epsilon_at_least->mean, 0.5);
  EXPECT_FALSE(table.rows[1].control);
  EXPECT_TRUE(table.rows[0].control);
  EXPECT_FALSE(table.rows[2].epsilon_at_least);
  EXPECT_THAT(table.notes, Contains("control: the control of an audit, which ran without noise"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("with their canaries in")));
  EXPECT_THAT(to_markdown(reader_table(table)), HasSubstr("epsilon >="));
  EXPECT_THAT(render_csv(table), HasSubstr("epsilon_at_least_mean,epsilon_at_least_std,control"));
}

TEST(AuditTable, RoundsBoundsDownToTheDigitsThatItPrints) {
  const std::string table =
      to_markdown(reader_table(table_of({audited(1, 0.580829), audited(1, 12.3456, true)})));
  EXPECT_THAT(table, has_all(" 0.5808 |", " 12.34 |"));
}

TEST(AuditTable, NamesSeedsWhoseAuditsContradictTheirClaims) {
  // Of the smaller epsilon, 2.5; a control claims nothing.
  Summary control = audited(1, 4, true);
  control.privacy->rdp = control.privacy->pld = Claim{.epsilon = kInfinity};
  const Table table = table_of({audited(1, 0.25), audited(2, 2.75), audited(3, 2.5), audited(7, 3), control});
  EXPECT_THAT(table.notes, Contains("fedavg: the audits of 2 of 4 seeds contradict the claim, each with a "
                                    "lower bound above its run's epsilon, as that of one honest run in "
                                    "twenty at most does: seeds 2, 7"));
  EXPECT_THAT(table.notes, Not(Contains(StartsWith("control: the audits"))));
  EXPECT_THAT(render_csv(table), has_all(",control,audits_contradicting", ",false,2 7\n", ",true,\n"));
  const Json rows = Json::parse(render_json(table))["rows"];
  EXPECT_EQ(rows[0]["audits_contradicting"], Json::array());
  EXPECT_EQ(rows[1]["audits_contradicting"], Json({2, 7}));
}

TEST(AuditTable, AveragesNeitherOverControlsNorOverOtherCanaries) {
  Summary control = audited(2, 4, true);
  control.label = control.algorithm = "fedavg";
  expect_refused("differ in audit: \"gradient\" and \"gradient, without noise\"", [&] {
    table_of({audited(1, 0.25), control});
  });
  expect_refused("differ in audit", [&] {
    table_of({audited(1, 0.25), finished_privately("fedavg", 2, 0.5)});
  });
}

}  // namespace
}  // namespace fedarena::results
