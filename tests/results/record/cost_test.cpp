// What runs took to compute: in rounds.jsonl and summary.json, in tables, and how `verify` adds it up.

#include "results/audit/verify.hpp"
#include "results/record/record.hpp"
#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

RoundRecord counted_round(std::int64_t round, const Cost& cost) {
  RoundRecord record = round_record(round);
  record.cost = cost;
  return record;
}

Summary counted(const std::string& label, std::int64_t seed, std::int64_t examples, const Cost& cost) {
  Summary summary = finished(label, seed, 0.5);
  summary.examples = examples;
  summary.cost = cost;
  return summary;
}

TEST(Cost, OfARunIsTheSumOverItsRounds) {
  const std::vector<RoundRecord> rounds = {counted_round(1, {700, 5000, false}),
                                           counted_round(2, {640, 3000, true}),
                                           counted_round(3, {640, 3000, false})};
  EXPECT_EQ(total_cost(rounds), (Cost{1980, 11000, true}));
  EXPECT_EQ(total_cost(std::vector{rounds[0], rounds[2]}), (Cost{1340, 8000, false}));
}

TEST(Cost, StandsInTablesOnRequestAlone) {
  const Table table = make_table(std::vector{found(counted("fedavg", 1, 640, {640, 1'234'500'000, false})),
                                             found(counted("fedavg", 2, 650, {650, 1'300'000'000, false})),
                                             found(counted("feddm", 1, 12'800, {20'000, 99'960, true})),
                                             found(counted("feddm", 2, 12'800, {20'000, 99'960, false}))});
  EXPECT_THAT(to_markdown(reader_table(table)), Not(HasSubstr("gradients")));
  const Selection selection = parse_selection("gradients,operations,examples,total-downlink");
  EXPECT_EQ(to_markdown(reader_table(table, selection)),
            R"(Experiment quickstart, data set digits, partition iid, model mlp.

| algorithm | gradients | operations | examples | total downlink |
|:----------|----------:|-----------:|---------:|---------------:|
| fedavg    |       645 |     1.27 G |      645 |       1.56 MiB |
| feddm     |    20.0 k |    ≥ 100 k |   12.8 k |       1.56 MiB |

Examples: gradients that the oracle took of clients' examples, one for each time an example is used. Gradients: of single examples, clients' and public or synthetic ones, as the harness took them. Operations: floating-point, of gradients, second derivatives and losses, counted from the model (multiplications and additions of convolutions and affine maps); ≥: a plugin computed more by itself. These are sums over a run, evaluation left out; k, M, G, T, P: 10^3 to 10^15. Total downlink: bytes of all clients in a run.

Notes:
- partition of digits: iid(clients=10,seed=...): seed 1 index hash 000000000000abc1, seed 2 index hash 000000000000abc2
)");
  EXPECT_THAT(
      to_latex(reader_table(table, selection)),
      has_all("feddm & 20.0 k & $\\geq$ 100 k & 12.8 k & 1.56 MiB", "affine maps); $\\geq$: a plugin"));
}

TEST(Cost, IsAlwaysInWhatProgramsRead) {
  const Table table = make_table(std::vector{found(counted("feddm", 1, 640, {700, 5000, true})),
                                             found(counted("feddm", 2, 641, {702, 5000, false}))});
  EXPECT_THAT(render_csv(table), HasSubstr(",640.5,701,5000,true,819200,1638400,"));
  const std::string json = render_json(table);
  EXPECT_THAT(json, has_all("\"examples\": 640.5,\n      \"gradients\": 701,\n      \"operations\": 5000,\n"
                            "      \"operations_at_least\": true,",
                            "\"examples\": 641,\n          \"gradients\": 702,\n          \"operations\": "
                            "5000,\n          \"operations_at_least\": false"));
}

// A run whose rounds were counted.
class CountedRun : public WithFolder {
 protected:
  CountedRun() {
    run_.change_rounds([](RoundRecord& round) { round.cost = Cost{700, 5000, false}; });
    run_.change_summary([](Summary& summary) {
      summary.examples = 4 * 640;
      summary.cost = Cost{4 * 700, 4 * 5000, false};
    });
  }

  const RecordedRun run_{folder_ / "run", {.policy = "none"}};
};

TEST_F(CountedRun, IsVerified) {
  EXPECT_THAT(run_.differences(), IsEmpty());
  const std::vector<FoundRun> runs = find_runs(std::vector{folder_.path()});
  EXPECT_THAT(verify_table(runs).differences, IsEmpty());
  run_.edit(kSummaryFile, "\"examples\": 2560", "\"examples\": 2561");
  EXPECT_THAT(run_.differences(), ElementsAre("summary.json: examples is 2561; recomputed: 2560"));
  EXPECT_THAT(verify_table(find_runs(std::vector{folder_.path()})).differences, SizeIs(1));
  run_.edit(kSummaryFile, "\"examples\": 2561", "\"examples\": 2560");
  run_.edit(kSummaryFile, "\"gradients\": 2800", "\"gradients\": 2799");
  run_.edit(kSummaryFile, "\"operations\": 20000", "\"operations\": 20001");
  EXPECT_THAT(run_.differences(), ElementsAre("summary.json: gradients is 2799; recomputed: 2800",
                                              "summary.json: operations is 20001; recomputed: 20000"));
}

TEST_F(CountedRun, IsNoticedWhereALowerBoundIsPassedOffAsExact) {
  run_.edit(kRoundsFile, "\"operations\":5000", "\"operations\":5000,\"operations_at_least\":true");
  EXPECT_THAT(run_.differences(),
              ElementsAre("summary.json: operations_at_least is absent; recomputed: true"));
}

}  // namespace
}  // namespace fedarena::results
