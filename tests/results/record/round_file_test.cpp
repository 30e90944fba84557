// Files of rounds that are too large for any machine, and those that are not.
#include "results/record/round_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

class RoundFile : public testing::Test {
 protected:
  fs::path file() const { return scratch_ / "rounds.jsonl"; }
  void write(const std::vector<RoundRecord>& records, const std::string& rest = {}) const {
    std::string text;
    for (const RoundRecord& record : records) text += to_json_line(record) + "\n";
    put(file(), text + rest);
  }
  static std::vector<RoundRecord> rounds(std::int64_t count) {
    std::vector<RoundRecord> records;
    for (std::int64_t round = 1; round <= count; ++round) records.push_back(round_record(round));
    return records;
  }

  const Scratch scratch_;
};

TEST_F(RoundFile, IsReadAcrossBlocksAndWithoutItsTornEnd) {
  std::vector<RoundRecord> records = rounds(3);
  for (std::int64_t client = 0; client < 200'000; ++client) records[1].choices.push_back({client, 1});
  write(records, "{\"round\":4");
  EXPECT_EQ(all_rounds(file()), records);
  const RoundLines lines = for_each_round(file(), [](const RoundRecord&) {});
  const std::uintmax_t first = to_json_line(records[0]).size() + 1;
  const std::uintmax_t second = first + to_json_line(records[1]).size() + 1;
  const std::uintmax_t third = second + to_json_line(records[2]).size() + 1;
  EXPECT_THAT(lines.ends, ElementsAre(first, second, third));
  EXPECT_EQ(lines.size, third + 10);
}

TEST_F(RoundFile, IsGivenLineByLine) {
  write(rounds(2), "{}\n");
  std::vector<std::int64_t> seen;
  expect_refused("rounds.jsonl:3: field \"round\" is missing", [&] {
    for_each_round(file(), [&](const RoundRecord& record) { seen.push_back(record.round); });
  });
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST_F(RoundFile, WhoseCountsCannotBeAddedUpIsOneMessage) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto refused = [&](const std::function<void(RoundRecord&)>& change) {
    std::vector<RoundRecord> records = rounds(2);
    change(records[1]);
    write(records);
    return message_of([&] { all_rounds(file()); });
  };
  EXPECT_THAT(refused([](RoundRecord& round) { round.uplink_bytes = kMost; }),
              HasSubstr("rounds.jsonl:2: field \"uplink_bytes\" is 9223372036854775807; allowed: at most "
                        "9223372036854652927, so that rounds can be added up"));
  EXPECT_THAT(refused([](RoundRecord& round) { round.downlink_bytes = kMost; }),
              HasSubstr("field \"downlink_bytes\""));
  EXPECT_THAT(refused([](RoundRecord& round) { round.clients = kMost; }), HasSubstr("field \"clients\""));
  EXPECT_THAT(refused([](RoundRecord& round) { round.examples = round.cost.gradients = kMost; }),
              HasSubstr("field \"gradients\""));
}

// The file has holes, so that it takes no room on the disk, and none of it is read.
TEST_F(RoundFile, OfMoreThanItMayHaveIsOneMessage) {
  write(rounds(1));
  constexpr RoundLimits kLimits;
  fs::resize_file(file(), kLimits.file + 1);
  const std::string message = "rounds.jsonl: has more than 768 MiB; allowed: at most 768 MiB of rounds";
  expect_refused(message, [&] { all_rounds(file()); });
  expect_refused(message, [&] { for_each_round(file(), [](const RoundRecord&) {}); });
}

TEST_F(RoundFile, WithALineThatDoesNotEndIsOneMessage) {
  write(rounds(2), std::string(std::size_t{3} << 20, ' '));
  expect_refused("rounds.jsonl:3: a line of more than 2 MiB; allowed: at most 2 MiB",
                 [&] { all_rounds(file(), {.line = std::size_t{2} << 20}); });
  EXPECT_THAT(all_rounds(file()), SizeIs(2));  // torn, if it ends there
}

TEST_F(RoundFile, WhoseRecordsFillTheMemoryIsOneMessage) {
  std::vector<RoundRecord> records = rounds(2);
  for (std::int64_t client = 0; client < 100'000; ++client) records[1].choices.push_back({client, 1});
  write(records);
  const RoundLimits one{.records = std::size_t{1} << 20};
  expect_refused("rounds.jsonl:2: the rounds so far take more than 1 MiB of memory",
                 [&] { all_rounds(file(), one); });
  std::int64_t seen = 0;
  for_each_round(
      file(), [&](const RoundRecord&) { ++seen; }, one);  // which keeps none
  EXPECT_EQ(seen, 2);
}

// A run that could record more could not end.
TEST_F(RoundFile, TakesNoRoundThatNobodyCouldReadBack) {
  const fs::path path = scratch_ / "run";
  RunDirectory::create(path, "", "{}\n", unfinished("fedavg", 1, 0));
  RoundRecord large = round_record(2);
  for (std::int64_t client = 0; client < 1000; ++client) large.choices.push_back({client, 1});
  const std::string message = "rounds.jsonl: round 2 does not fit any more; allowed: at most ";
  for (const RoundLimits& limits : {RoundLimits{.file = 5000}, RoundLimits{.records = 10'000}}) {
    RunDirectory run = RunDirectory::resume(path, limits);
    if (run.rounds_recorded() == 0) run.append(round_record(1));
    expect_refused(message, [&] { run.append(large); });
    EXPECT_EQ(run.rounds_recorded(), 1);
    EXPECT_THAT(all_rounds(path / kRoundsFile), ElementsAre(round_record(1)));
  }
  RunDirectory::open(path).append(large);
}

}  // namespace
}  // namespace fedarena::results
