// Experiments with [audit], from the file to the table.
#include <string>

#include "results/record/canary_audit.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using AuditedExperiments = ScratchTest;

SmallExperiment audited(const std::string& audit, const std::string& policy = "record") {
  return {.training = "local_steps = 4\nbatch_size = 600\nrate = 0.05\nweighting = \"uniform\"",
          .more = "\n[privacy]\npolicy = \"" + policy + "\"\nnoise_multiplier = 2.0\n\n[audit]\n" + audit};
}

const std::string kCell = "out/fedavg-seed-1";

results::CanaryScores scores_of(const results::RunDirectory& run) {
  return results::parse_canary_scores(run.read_file(results::kAuditFile), results::kAuditFile);
}

TEST_F(AuditedExperiments, EndInAFileASummaryAndATable) {
  run_small(scratch, audited("kind = \"gradient\"\ncanaries = 500\n"));
  const results::Summary summary = summary_of(scratch / kCell);
  ASSERT_TRUE(summary.audit);
  EXPECT_EQ(summary.audit->kind, "gradient");
  EXPECT_EQ(summary.audit->canaries, 500);
  EXPECT_EQ(summary.audit->guesses, 100);
  EXPECT_LT(summary.audit->lower_bound, *results::claimed_epsilon(*summary.privacy));
  const auto run = results::RunDirectory::open(scratch / kCell);
  EXPECT_EQ(audit_of(scores_of(run), *summary.privacy), *summary.audit);
  EXPECT_TRUE(results::read_seal(scratch / kCell).contains(results::kAuditFile));
  EXPECT_THAT(run.read_file(results::kExperimentFile),
              HasSubstr("[audit]\nkind = \"gradient\"\ncanaries = 500\nguesses = 100\nnoise = \"on\"\n"));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences\n"));
  const std::string table = succeed("table out").out;
  EXPECT_THAT(table, has_all("epsilon >=", "with their canaries in"));
  EXPECT_THAT(table, Not(HasSubstr("control")));
  EXPECT_THAT(succeed("privacy " + kCell).out,
              HasSubstr("of 100 guesses about 500 gradient canaries right: epsilon >= "));
  EXPECT_THAT(succeed("table out --format csv").out,
              HasSubstr(",epsilon_at_least_mean,epsilon_at_least_std,"));
  succeed("report out -o report.html");
  succeed("export out --format csv -o rounds.csv");
  succeed("bundle out -o out.tar.gz");
  EXPECT_THAT(succeed("verify out.tar.gz").out, HasSubstr(", 0 differences\n"));
  EXPECT_THAT(succeed("replay out.tar.gz").out, HasSubstr("same"));
}

TEST_F(AuditedExperiments, AreFoundOutWithoutNoiseWhichIsMarked) {
  run_small(scratch, audited("kind = \"gradient\"\ncanaries = 500\nnoise = \"off\"\n"));
  const results::Summary summary = summary_of(scratch / kCell);
  ASSERT_TRUE(summary.audit);
  EXPECT_TRUE(summary.audit->control);
  EXPECT_GT(summary.audit->lower_bound, 1);
  EXPECT_EQ(summary.audit->p_value, 1.0);
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences\n"));
  EXPECT_THAT(succeed("table out").out, has_all("fedavg: the control of an audit", "inf"));
  EXPECT_THAT(succeed("privacy " + kCell).out, HasSubstr("answers without noise"));
}

// No canary would be in any answer, and the bound of 0 would pass for the algorithm's.
TEST_F(AuditedExperiments, AreRefusedByGradientsWhereNoneIsAskedFor) {
  SmallExperiment{.model = "name = \"convnet\"\nwidth = 4\ndepth = 1",
                  .training = "",
                  .algorithms = {"feddm"},
                  .more =
                      "class_means = \"votes\"\nimage_init = \"noise\"\n\n[privacy]\npolicy = \"record\"\n"
                      "public_classes = true\n\n[audit]\nkind = \"gradient\"\ncanaries = 50\n"}
      .write_to(scratch);
  EXPECT_THAT(refused("run small.toml"),
              has_all("canaries of the kind \"gradient\" stand in gradients of examples, and algorithm "
                      "\"feddm\" asks for none",
                      "kind = \"mislabelled\""));
}

TEST_F(AuditedExperiments, OfEveryKindAreVerifiedWithTheirControl) {
  for (const std::string kind : {"mislabelled", "client"}) {
    const Scratch folder;
    const std::string swept = "canaries = 50\n\n[sweep]\n\"audit.noise\" = [\"on\", \"off\"]\n";
    run_small(folder, audited("kind = \"" + kind + "\"\n" + swept, kind == "client" ? "client" : "record"));
    EXPECT_THAT(test::succeed(folder, "verify out").out, HasSubstr(", 0 differences\n")) << kind;
    EXPECT_FALSE(summary_of(folder / "out/audit.noise=on/fedavg-seed-1").audit->control);
    EXPECT_TRUE(summary_of(folder / "out/audit.noise=off/fedavg-seed-1").audit->control);
  }
}

TEST_F(AuditedExperiments, AreNotVerifiedOnceTheirFileWasChanged) {
  run_small(scratch, audited("kind = \"gradient\"\ncanaries = 500\n"));
  const auto run = results::RunDirectory::open(scratch / kCell);
  results::CanaryScores scores = scores_of(run);
  scores.in[7] = !scores.in[7];
  run.write_file_atomically(results::kAuditFile, to_json_text(scores));
  EXPECT_THAT(failed("verify out").out, HasSubstr("audit.json: in is 1 canaries other than the seed draws"));
  fs::remove(scratch / kCell / results::kAuditFile);
  EXPECT_THAT(call("verify out").out,
              HasSubstr("audit.json: the file is \"missing\"; recomputed: \"there\""));
}

// A finished run whose summary says that its audit contradicts its claim.
TEST_F(AuditedExperiments, ThatContradictTheirClaimEndInAnError) {
  run_small(scratch, audited("kind = \"gradient\"\ncanaries = 500\n"));
  edit_summary(scratch / kCell, [](results::Summary& summary) { summary.audit->lower_bound = 4000; });
  const std::string message = refused("run small.toml --out out --resume");
  EXPECT_THAT(message, has_all("fedavg, seed 1: the audit contradicts the claimed epsilon of ",
                               "epsilon >= 4000.00 (95 %)", "run other seeds",
                               "The record in out/fedavg-seed-1 is whole"));
}

TEST_F(AuditedExperiments, GiveNothingAwayBeforeTheirEnd) {
  const SmallExperiment experiment = audited("kind = \"gradient\"\ncanaries = 100\n");
  experiment.write_to(scratch);
  run_small(scratch, experiment);
  unfinish(scratch / kCell);
  fs::remove(scratch / kCell / results::kAuditFile);
  succeed("run small.toml --out out --resume");
  EXPECT_TRUE(fs::exists(scratch / kCell / results::kAuditFile));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(", 0 differences\n"));
}

}  // namespace
}  // namespace fedarena::test
