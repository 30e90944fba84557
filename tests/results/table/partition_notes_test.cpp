// Which partitions a table rests on, and records of before there were cards.
#include "results/table/partition_notes.hpp"

#include <gmock/gmock.h>

#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Summary dealt(const std::string& label, std::int64_t seed, const std::string& hash) {
  Summary summary = finished(label, seed, 0.5);
  summary.partition_id = "iid(clients=10,seed=" + std::to_string(seed) + ")";
  summary.partition_hash = hash;
  return summary;
}

TEST(PartitionNotes, NameEachPartitionOnceWithTheHashesOfItsSeeds) {
  const std::vector<FoundRun> runs = {found(dealt("fedprox", 10, "ab")), found(dealt("fedprox", 2, "cd")),
                                      found(dealt("fedavg", 2, "cd")), found(dealt("fedavg", 10, "ab"))};
  EXPECT_THAT(
      partition_notes(runs),
      ElementsAre(
          "partition of digits: iid(clients=10,seed=...): seed 2 index hash cd, seed 10 index hash ab"));
  const Table table = make_table(runs);
  EXPECT_EQ(table.notes, partition_notes(runs));
  EXPECT_THAT(render_markdown(table), HasSubstr("seed 10 index hash ab"));
}

TEST(PartitionNotes, TellDataSetsAndPartitionsApart) {
  Summary other = dealt("fedavg", 1, "ef");
  other.partition_id = "dirichlet(clients=10,alpha=0.1,seed=1)";
  Summary letters = dealt("fedavg", 1, "01");
  letters.dataset = "letters";
  EXPECT_THAT(
      partition_notes(std::vector{found(letters), found(dealt("fedavg", 1, "ab")), found(other)}),
      ElementsAre("partition of digits: dirichlet(clients=10,alpha=0.1,seed=...): seed 1 index hash ef",
                  "partition of digits: iid(clients=10,seed=...): seed 1 index hash ab",
                  "partition of letters: iid(clients=10,seed=...): seed 1 index hash 01"));
}

TEST(PartitionNotes, LeaveOutADataSetsSettingsWhereItsNameIsEnough) {
  Summary part = dealt("fedavg", 1, "ab");
  part.dataset = "csv (path = \"a.csv\")";
  part.dataset_note = "the target is standardised";
  const std::string partition = "iid(clients=10,seed=...): seed 1 index hash ab";
  EXPECT_THAT(make_table(std::vector{found(part), found(dealt("fedprox", 1, "ab"))}).notes,
              ElementsAre("data set csv: the target is standardised", "partition of csv: " + partition,
                          "partition of digits: " + partition));
  Summary other = part;
  other.dataset = "csv (path = \"b.csv\")";
  EXPECT_THAT(partition_notes(std::vector{found(part), found(other)}),
              ElementsAre("partition of csv (path = \"a.csv\"): " + partition,
                          "partition of csv (path = \"b.csv\"): " + partition));
}

TEST(PartitionNotes, SayWhereRunsOfASeedDisagree) {
  EXPECT_THAT(
      partition_notes(std::vector{found(dealt("fedavg", 1, "cd")), found(dealt("fedprox", 1, "ab"))}),
      ElementsAre(
          "partition of digits: iid(clients=10,seed=...): seed 1 index hash ab and cd (runs of this seed "
          "do not share a partition)"));
}

TEST(PartitionNotes, AreOfFinishedRunsThatHaveACard) {
  Summary running = dealt("fedavg", 1, "ab");
  running.state = std::string(kInterrupted);
  EXPECT_THAT(partition_notes(std::vector{found(running), found(finished("fedprox", 1, 0.5)),
                                          FoundRun{.path = "x", .summary = {}, .problem = "broken"}}),
              IsEmpty());
}

TEST(PartitionCardOfARecord, ComesBackAsItWent) {
  const Summary summary = dealt("fedavg", 1, "71210e180ad342a1");
  const std::string text = to_json_text(summary);
  EXPECT_THAT(text, HasSubstr("\"partition\": \"iid\",\n  \"partition_id\": \"iid(clients=10,seed=1)\",\n"
                              "  \"partition_hash\": \"71210e180ad342a1\",\n"));
  EXPECT_EQ(parse_summary(text, ""), summary);
}

TEST(PartitionCardOfARecord, IsWhole) {
  const auto complaint = [](const std::string& line, const std::string& instead) {
    std::string text = to_json_text(dealt("fedavg", 1, "ab"));
    const std::size_t at = text.find(line);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, line.size(), instead);
    return message_of([&] { parse_summary(text, "summary.json"); });
  };
  EXPECT_THAT(complaint("  \"partition_hash\": \"ab\",\n", ""),
              HasSubstr("summary.json: field \"partition_hash\" is missing"));
  EXPECT_THAT(complaint("  \"partition_id\": \"iid(clients=10,seed=1)\",\n", ""),
              HasSubstr("summary.json: field \"partition_id\" is missing"));
}

}  // namespace
}  // namespace fedarena::results
