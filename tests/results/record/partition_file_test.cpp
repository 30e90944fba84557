#include "results/record/partition_file.hpp"

#include <cmath>
#include <functional>

#include <nlohmann/json.hpp>

#include "tests/matchers.hpp"
#include "tests/results/record/record_samples.hpp"

namespace fedarena::results {
namespace {

using nlohmann::json;

std::string refusal(const std::function<void(json&)>& damage) {
  json changed = json::parse(to_json_text(skewed()));
  damage(changed);
  return message_of([&] { parse_partition(changed.dump(), "runs/a/partition.json"); });
}

TEST(PartitionFile, ReadsWhatItWrote) {
  EXPECT_EQ(parse_partition(to_json_text(skewed()), ""), skewed());
  EXPECT_EQ(parse_partition(to_json_text(three_clients()), ""), three_clients());
  RecordedPartition regression = three_clients();
  regression.class_counts.clear();
  regression.label_entropy.clear();
  EXPECT_EQ(parse_partition(to_json_text(regression), ""), regression);
}

// Programs read it, from here and from `fedarena partition --format json`.
TEST(PartitionFile, IsOneLineOfCompactJson) {
  RecordedPartition partition = skewed();
  partition.label_entropy = {0.5, 0.25, 0};
  EXPECT_EQ(to_json_text(partition),
            R"j({"schema":1,"id":"classes(clients=3,seed=1)","kind":"classes","dataset":"digits","seed":1,)j"
            R"j("index_hash":"0123456789abcdef","clients":3,"sizes":[1000,1001,1002],)j"
            R"j("label_entropy":[0.5,0.25,0.0],"class_counts":[[500,500],[1,1000],[0,1002]],)j"
            R"j("noise":[0.0,0.05,0.1],"rotations":[0,90,0]})j"
            "\n");
}

TEST(PartitionFile, EntropyIsInNats) {
  EXPECT_DOUBLE_EQ(label_entropy({7, 7}), std::log(2.0));
  EXPECT_DOUBLE_EQ(label_entropy({1, 0, 3}), 0.25 * std::log(4.0) + 0.75 * std::log(4.0 / 3));
  EXPECT_EQ(label_entropy({0, 9}), 0);
  EXPECT_EQ(label_entropy({0, 0}), 0);
}

TEST(PartitionFile, IsOnDiskInItsRun) {
  const Scratch folder;
  const Summary summary = finished("fedavg", 1, 0.5);
  EXPECT_EQ(read_partition(RunDirectory::create(folder / "old", "", "{}", summary)), std::nullopt);
  const RunDirectory run = RunDirectory::create(folder / "a", "", "{}", summary, to_json_text(skewed()));
  EXPECT_EQ(read_partition(run), skewed());
  put(folder / "a/partition.json", "{");
  expect_refused(has_all("a/partition.json", "not valid JSON"), [&] { read_partition(run); });
}

TEST(PartitionFile, OfAnAttemptThatCrashedIsNotKept) {
  const Scratch folder;
  const Summary summary = finished("fedavg", 1, 0.5);
  for (const char* left : {"partition.json", "partition.json.partial"}) {
    std::filesystem::create_directories(folder / left);
    put(folder / left / left, "{");
    EXPECT_EQ(read_partition(RunDirectory::create(folder / left, "", "{}", summary, to_json_text(skewed()))),
              skewed());
    EXPECT_FALSE(std::filesystem::exists(folder / left / "partition.json.partial"));
  }
  std::filesystem::create_directories(folder / "without");
  put(folder / "without/partition.json", "{");
  EXPECT_EQ(read_partition(RunDirectory::create(folder / "without", "", "{}", summary)), std::nullopt);
}

TEST(PartitionFile, EveryFieldMustBeThere) {
  const json whole = json::parse(to_json_text(skewed()));
  for (const auto& field : whole.items()) {
    const std::string& name = field.key();
    EXPECT_THAT(refusal([&](json& card) { card.erase(name); }),
                HasSubstr("runs/a/partition.json: field \"" + name + "\" is missing"));
    EXPECT_THAT(refusal([&](json& card) { card[name] = true; }), HasSubstr("field \"" + name + "\" is true"));
  }
  EXPECT_THAT(refusal([](json& card) { card["owner"] = 1; }), HasSubstr("field \"owner\" is unknown"));
}

TEST(PublicDeal, IsWhatAnotherExampleWouldChange) {
  const std::string labels = "who holds which examples (dealt by their labels)";
  const std::string digests = "who holds which examples (dealt in the order of their digests)";
  EXPECT_EQ(public_deal("record", "mnist", "dirichlet"), labels);
  EXPECT_EQ(public_deal("record", "image-folder", "shards"), labels);
  EXPECT_EQ(public_deal("record", "image-folder", "iid"), digests);
  EXPECT_EQ(public_deal("label", "image-folder", "classes"), labels);
  EXPECT_EQ(public_deal("label", "image-folder", "iid"), "") << "pictures are public";
  EXPECT_EQ(public_deal("record", "csv", "quantity"), "");
  for (const char* policy : {"none", "client", "local"})
    EXPECT_EQ(public_deal(policy, "image-folder", "dirichlet"), "") << policy;
}

TEST(PartitionFile, WhatCannotBeReadBackIsABug) {
  EXPECT_THROW(to_json_text(RecordedPartition()), Bug);
  RecordedPartition partition = three_clients();
  partition.sizes.pop_back();
  EXPECT_THROW(to_json_text(partition), Bug);
}

}  // namespace
}  // namespace fedarena::results
