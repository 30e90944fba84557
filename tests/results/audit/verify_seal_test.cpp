// The seal of a finished run: whatever is changed in its directory afterwards is named.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fedarena/base/stream.hpp"

#include "results/audit/verify.hpp"
#include "results/record/seal.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;
using test::content_of;

class SealedRun : public testing::Test {
 protected:
  SealedRun() {
    scratch_.write("run/checkpoint.bin", std::string("weights\0and more", 16));
    scratch_.write("run/synthetic/round-0001/images.npy", "images");
    scratch_.write("run/clients.json",
                   to_json_text(ClientScores{
                       .round = 1, .clients = {{.client = 0, .test_examples = 9, .accuracy = 0.5}}}));
    record_partition(run_.open(), three_clients());  // which seals it again
  }

  fs::path file(const std::string& name) const { return run_.path() / name; }
  FoundRun found() const { return find_runs(std::vector{run_.path()}).front(); }

  static Summary without_result(Summary summary) {
    summary.state = std::string(kRunning);
    summary.final_test_accuracy = summary.final_test_loss = std::nullopt;
    summary.privacy->rdp = summary.privacy->pld = std::nullopt;
    summary.privacy->order = 0;
    return summary;
  }

  // The files that verify_seal() names, or those in the message of what cannot be read.
  std::set<std::string> named() const {
    std::set<std::string> names;
    try {
      for (const Difference& difference : verify_seal(found()).differences)
        names.insert(difference.file.lexically_relative(run_.path()).generic_string());
    } catch (const Error& error) {
      const std::string place = error.complaint().place.file;
      names.insert(fs::path(place).lexically_relative(run_.path()).generic_string());
    }
    return names;
  }

  // Writes another content for a moment.
  std::set<std::string> named_with(const std::string& name, const std::string& content) const {
    const std::string before = content_of(file(name));
    put(file(name), content);
    std::set<std::string> names = named();
    put(file(name), before);
    return names;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names{kSealFile};
    for (const auto& [name, digest] : current_seal(run_.path())) names.push_back(name);
    return names;
  }

  const Scratch scratch_;
  const RecordedRun run_{scratch_ / "run", {}};
};

TEST_F(SealedRun, HoldsAllFilesAndHasNoDifference) {
  EXPECT_THAT(files(), ElementsAre("seal.json", "checkpoint.bin", "clients.json", "environment.json",
                                   "experiment.toml", "ledger.json", "partition.json", "rounds.jsonl",
                                   "summary.json", "synthetic/round-0001/images.npy"));
  EXPECT_THAT(named(), IsEmpty());
  EXPECT_EQ(verify_seal(found()).values, 1 + 9);
}

TEST_F(SealedRun, NamesAFileWhereOneByteIsFlipped) {
  Stream draws({.seed = 1, .purpose = Purpose::kAlgorithm});
  for (const std::string& name : files()) {
    const std::string whole = content_of(file(name));
    for (int i = 0; i < 40; ++i) {
      std::string flipped = whole;
      const std::size_t at = draws.below(whole.size());
      flipped[at] = static_cast<char>(flipped[at] ^ static_cast<char>(1 << draws.below(8)));
      // A digest or a name in the seal is the one of a file.
      const std::set<std::string> found_in = named_with(name, flipped);
      EXPECT_TRUE(name == kSealFile ? !found_in.empty() : found_in == std::set{name}) << name << ", " << at;
    }
  }
}

// Each value of each file becomes another one of its kind, or goes, or comes twice.
std::vector<std::string> edits_of_json(const std::string& text) {
  std::vector<std::string> edited;
  const auto document = nlohmann::ordered_json::parse(text);
  const auto leaves = document.flatten();
  for (const auto& [pointer, value] : leaves.items()) {
    const nlohmann::ordered_json::json_pointer place(pointer);
    auto changed = document;
    changed[place] = value.is_number()    ? nlohmann::ordered_json(value.get<double>() + 1)
                     : value.is_string()  ? nlohmann::ordered_json(value.get<std::string>() + "x")
                     : value.is_boolean() ? nlohmann::ordered_json(!value.get<bool>())
                                          : nlohmann::ordered_json(1);
    edited.push_back(changed.dump());
    if (place.empty()) continue;
    auto without = document;
    auto& parent = without[place.parent_pointer()];
    if (parent.is_object()) parent.erase(place.back());
    if (parent.is_array()) parent.erase(parent.size() - 1);
    edited.push_back(without.dump());
  }
  return edited;
}

std::vector<std::string> edits_of_lines(const std::string& text) {
  std::vector<std::string> edited;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    edited.push_back(text.substr(0, begin) + text.substr(end));
    edited.push_back(text.substr(0, end) + line + text.substr(end));
    edited.push_back(text.substr(0, end - 1) + "0" + text.substr(end - 1));
    begin = end;
  }
  return edited;
}

TEST_F(SealedRun, NamesTheFileOfEverySingleEdit) {
  std::size_t tried = 0;
  for (const std::string& name : files()) {
    const std::string whole = content_of(file(name));
    std::vector<std::string> edited = {"", whole + " ", whole + "\n", whole.substr(0, whole.size() - 1)};
    if (name.ends_with(".json")) {
      for (std::string& text : edits_of_json(whole)) edited.push_back(std::move(text));
    } else if (name.ends_with(".toml") || name.ends_with(".jsonl")) {
      for (std::string& text : edits_of_lines(whole)) edited.push_back(std::move(text));
    }
    for (const std::string& text : edited) {
      if (text == whole) continue;
      ++tried;
      const std::set<std::string> found_in = named_with(name, text);
      EXPECT_TRUE(name == kSealFile ? !found_in.empty() : found_in.contains(name)) << name << ": " << text;
    }
  }
  EXPECT_GT(tried, 200U);
}

TEST_F(SealedRun, NamesAFileThatIsGoneAndOneThatWasAdded) {
  for (const std::string& name : files()) {
    const std::string whole = content_of(file(name));
    fs::remove(file(name));
    EXPECT_THAT(named(), ElementsAre(name));
    put(file(name), whole);
  }
  for (const std::string name : {"notes.txt", "roc.json", "synthetic/round-0002/images.npy", ".hidden"}) {
    scratch_.write("run/" + name, "");
    EXPECT_THAT(named(), ElementsAre(name));
    fs::remove(file(name));
  }
  fs::create_symlink("summary.json", file("linked.json"));
  EXPECT_THAT(named(), ElementsAre("linked.json"));
  EXPECT_EQ(
      describe(verify_seal(found()).differences.front()),
      file("linked.json").string() + ": SHA-256 in seal.json is missing; recomputed: not a regular file");
}

TEST_F(SealedRun, IsSealedAsALinkToTheSameContentIsNot) {
  fs::rename(file(kLedgerFile), scratch_ / "ledger.json");
  fs::create_symlink(scratch_ / "ledger.json", file(kLedgerFile));
  EXPECT_THAT(named(), ElementsAre(kLedgerFile));
}

// A hole on disk: hashing it would take hours.
TEST_F(SealedRun, NamesAFileThatIsTooLargeToHash) {
  fs::resize_file(file("checkpoint.bin"), std::uintmax_t{1} << 40);
  EXPECT_THAT(named(), ElementsAre("checkpoint.bin"));
  EXPECT_THAT(describe(verify_seal(found()).differences.front()), EndsWith("recomputed: larger than 64 GiB"));
}

TEST_F(SealedRun, IsSealedWithForeignFilesThatHaveNoDigest) {
  scratch_.write("run/foreign", "");
  fs::resize_file(file("foreign"), std::uintmax_t{1} << 40);
  fs::create_symlink("nowhere", file("link"));
  fs::create_symlink("nowhere", file("audit.json"));  // of the record, which links cannot be
  run_.open().write_summary(run_.open().summary());
  EXPECT_THAT(named(), ElementsAre("audit.json"));
  fs::remove(file("audit.json"));
  EXPECT_THAT(named(), IsEmpty());
  fs::remove(file("link"));
  put(file("foreign"), "");
  EXPECT_THAT(named(), ElementsAre("foreign", "link"));
}

TEST_F(SealedRun, MayHaveFilesWithAnyNames) {
  scratch_.write("run/\xff\x01\n\"", "foreign");
  run_.open().write_summary(run_.open().summary());
  EXPECT_THAT(named(), IsEmpty());
}

// A run that goes on has another content with every round.
TEST_F(SealedRun, LosesItsSealWhenItGoesOn) {
  const RunDirectory run = run_.open();
  const Summary finished = run.summary();
  const Summary unfinished = without_result(finished);
  put(file(kSummaryFile), to_json_text(unfinished));
  EXPECT_THAT(named(), ElementsAre(kSealFile));
  run.write_summary(unfinished);
  EXPECT_FALSE(run.has(kSealFile));
  EXPECT_THAT(named(), IsEmpty());
  run.write_summary(finished);
  EXPECT_THAT(named(), IsEmpty());
  EXPECT_TRUE(run.has(kSealFile));
}

// The summary that the seal is about lies beside the one that it was to replace.
TEST_F(SealedRun, MayHaveBeenKilledBeforeItsLastSummary) {
  const std::string last = content_of(file(kSummaryFile));
  const std::string prepared = std::string(kSummaryFile) + ".partial";
  Summary unfinished = without_result(run_.open().summary());
  put(file(prepared), last);
  put(file(kSummaryFile), to_json_text(unfinished));
  EXPECT_THAT(named(), IsEmpty());
  EXPECT_THAT(verify_seal(found()).notes, ElementsAre("was killed at its very end; --resume finishes it"));
  // Nothing that is sealed may be another.
  for (const std::string& name : files()) {
    if (name == kSummaryFile || name == kSealFile) continue;
    EXPECT_THAT(named_with(name, content_of(file(name)) + " "), ElementsAre(kSealFile)) << name;
  }
  EXPECT_THAT(named_with(prepared, last + " "), ElementsAre(kSealFile));
  unfinished.state = std::string(kInterrupted);  // which a run says that has no seal
  EXPECT_THAT(named_with(kSummaryFile, to_json_text(unfinished)), ElementsAre(kSealFile));
  EXPECT_THAT(named(), IsEmpty());
}

// What clients remember lies there until a moment after the end.
TEST_F(SealedRun, DoesNotCountWhatClientsRemember) {
  scratch_.write(std::string("run/") + kClientStatesFile, "states");
  EXPECT_THAT(named(), IsEmpty());
}

}  // namespace
}  // namespace fedarena::results
