// What `verify` says of the card of a run's partition.
#include <gmock/gmock.h>

#include "results/audit/verify.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class VerifyPartition : public testing::Test {
 protected:
  VerifyPartition() { record_partition(run_.open(), three_clients()); }

  Scratch scratch_;
  RecordedRun run_{scratch_ / "run", {}};
};

TEST_F(VerifyPartition, FindsNothingInWhatTheProgramWrote) {
  EXPECT_THAT(run_.differences(), IsEmpty());
  const std::int64_t values = verify_run(run_.path()).values;
  std::filesystem::remove(run_.path() / kPartitionFile);
  EXPECT_THAT(run_.differences(), IsEmpty());
  // Five of all, and three of each client.
  EXPECT_EQ(values - verify_run(run_.path()).values, 5 + 3 * 3);
}

TEST_F(VerifyPartition, FindsTheCardOfAnotherRun) {
  run_.edit(kPartitionFile, "classes(clients=3,seed=1)", "classes(clients=3,seed=2)");
  run_.edit(kPartitionFile, "\"seed\":1", "\"seed\":2");
  run_.edit(kPartitionFile, "0123456789abcdef", "0123456789abcdee");
  run_.edit(kPartitionFile, "digits", "glyphs");
  EXPECT_THAT(
      run_.differences(),
      ElementsAre(
          "partition.json: id is \"classes(clients=3,seed=2)\"; recomputed: \"classes(clients=3,seed=1)\"",
          "partition.json: index_hash is \"0123456789abcdee\"; recomputed: \"0123456789abcdef\"",
          "partition.json: dataset is \"glyphs\"; recomputed: \"digits\"",
          "partition.json: seed is 2; recomputed: 1"));
}

TEST_F(VerifyPartition, FindsAnotherNumberOfClients) {
  RecordedPartition more = three_clients();
  more.sizes.push_back(4);
  more.class_counts.push_back({0, 4});
  more.label_entropy.push_back(0);
  record_partition(run_.open(), more);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: clients is 4; recomputed: 3"));
  RecordedPartition fewer = three_clients();
  fewer.sizes.pop_back();
  fewer.class_counts.pop_back();
  fewer.label_entropy.pop_back();
  record_partition(run_.open(), fewer);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: clients is 2; recomputed: 3"));
}

TEST_F(VerifyPartition, FindsCountsThatDoNotAddUp) {
  run_.edit(kPartitionFile, "[0,1002]", "[0,1001]");
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: client 2 sum of class_counts is 1001; recomputed: 1002"));
}

TEST_F(VerifyPartition, FindsAnEntropyThatTheCountsDoNotGive) {
  RecordedPartition partition = three_clients();
  partition.label_entropy[2] = 0.5;
  record_partition(run_.open(), partition);
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: client 2 label_entropy is 0.5; recomputed: 0"));
}

// Where a ledger lists the clients; a run that has just begun has none.
TEST_F(VerifyPartition, FindsSizesThatAreNotThoseOfTheLedger) {
  RecordedPartition partition = three_clients();
  partition.sizes[1] = 1002;
  partition.class_counts[1] = {2, 1000};
  partition.label_entropy[1] = label_entropy(partition.class_counts[1]);
  record_partition(run_.open(), partition);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: client 1 size is 1002; recomputed: 1001"));
  const RecordedRun begun(scratch_ / "begun", {.finished = false});
  record_partition(begun.open(), partition);
  std::filesystem::remove(begun.path() / kLedgerFile);
  EXPECT_THAT(begun.differences(), IsEmpty());
}

TEST_F(VerifyPartition, BearsAnyWholeNumber) {
  run_.edit(kPartitionFile, "[500,500]", "[9223372036854775807,9223372036854775807]");
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: client 0 sum of class_counts is -2; recomputed: 1000"));
}

TEST_F(VerifyPartition, RefusesADamagedFile) {
  run_.edit(kPartitionFile, "[500,500]", "[500]");
  EXPECT_THAT(message_of([&] { verify_run(run_.path()); }),
              testing::AllOf(testing::HasSubstr("partition.json"), testing::HasSubstr("\"class_counts\"")));
}

}  // namespace
}  // namespace fedarena::results
