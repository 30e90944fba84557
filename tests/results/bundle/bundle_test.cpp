#include "results/bundle/bundle.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "harness/digest/sha256.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/seal.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using testing::AnyOf;

const std::string kDigest(64, 'a');

Manifest sample() {
  return {.runs = {{.folder = "grid/fedavg-seed-1",
                    .files = {{.name = "rounds.jsonl", .bytes = 12, .sha256 = kDigest},
                              {.name = "synthetic/round-0001/images.npy", .bytes = 0, .sha256 = kDigest}}},
                   {.folder = "grid/fedavg-seed-2", .files = {}}}};
}

std::string refusal(const Manifest& manifest) {
  return message_of([&] { parse_manifest(to_json_text(manifest), "a.tar.gz"); });
}

TEST(Manifest, IsReadAsItWasWritten) {
  EXPECT_EQ(parse_manifest(to_json_text(sample()), "a.tar.gz"), sample());
}

TEST(Manifest, NamesNothingOutsideOfItsFolder) {
  for (const char* name : {"../summary.json", "/etc/passwd", "a/../../b", "a/./b", "a//b", ".", "..", "",
                           "a\\b", "a\nb", "C:/b", "a/"}) {
    SCOPED_TRACE(name);
    Manifest file = sample();
    file.runs[0].files[0].name = name;
    EXPECT_THAT(refusal(file), HasSubstr("without . and .."));
    Manifest folder = sample();
    folder.runs[0].folder = name;
    EXPECT_THAT(refusal(folder), HasSubstr("without . and .."));
  }
}

TEST(Manifest, ListsAFileOnce) {
  Manifest manifest = sample();
  manifest.runs[0].files[1] = manifest.runs[0].files[0];
  EXPECT_THAT(refusal(manifest), HasSubstr("each file once"));
}

TEST(Manifest, HoldsNoMoreThanABundleMay) {
  Manifest manifest = sample();
  manifest.runs[0].files[0].bytes = kMostBundledBytes;
  EXPECT_EQ(parse_manifest(to_json_text(manifest), "a.tar.gz"), manifest);
  manifest.runs[0].files[1].bytes = 1;
  EXPECT_THAT(refusal(manifest), HasSubstr("no more than 4 GiB"));
}

TEST(Manifest, RefusesOtherTexts) {
  Manifest manifest = sample();
  manifest.runs[0].files[0].sha256 = "ABC";
  EXPECT_THAT(refusal(manifest), HasSubstr("64 lower-case hexadecimal digits"));
  EXPECT_THAT(refusal({}), HasSubstr("at least one run"));
  const auto text_refusal = [](const std::string& text) {
    return message_of([&] { parse_manifest(text, "a.tar.gz"); });
  };
  EXPECT_THAT(text_refusal("{}"), HasSubstr("a.tar.gz"));
  EXPECT_THAT(text_refusal("none"), HasSubstr("a.tar.gz"));
  EXPECT_THAT(text_refusal(R"({"schema": 2, "runs": []})"), HasSubstr("another version of fedarena"));
  EXPECT_THAT(text_refusal(R"({"schema": 1, "runs": [{"folder": "a", "files": [], "mode": 1}]})"),
              HasSubstr("mode"));
}

// Members by name and content, in a tar archive without compression.
void pack(const fs::path& file, const std::vector<std::pair<std::string, std::string>>& members) {
  archive* writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  if (file.extension() == ".gz") archive_write_add_filter_gzip(writer);
  ASSERT_EQ(archive_write_open_filename(writer, file.c_str()), ARCHIVE_OK);
  for (const auto& [name, content] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_write_header(writer, entry);
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_free(writer);
}

class BundleTest : public testing::Test {
 protected:
  BundleSize bundle(const fs::path& file) {
    const std::vector<fs::path> folders = {scratch_ / "runs"};
    const std::vector<FoundRun> runs = find_runs(folders);
    return write_bundle(runs, run_names(runs, folders), file);
  }
  void record(const fs::path& folder, const RecordedRun::Plan& plan = {}) const {
    const RecordedRun run(scratch_ / folder, plan);
  }
  std::string bundle_refusal(const std::string& file = "a.tar.gz") {
    return message_of([&] { bundle(scratch_ / file); });
  }
  std::string unpack_refusal(const fs::path& file) {
    return message_of([&] { unpack_bundle(file, scratch_ / "unpacked"); });
  }

  Scratch scratch_;
};

TEST_F(BundleTest, HoldsTheRecordsAndNothingElse) {
  record("runs/dp-fedavg-seed-1");
  record("runs/deeper/dp-fedavg-seed-2", {.seed = 2});
  record_partition(RunDirectory::open(scratch_ / "runs/dp-fedavg-seed-1"), three_clients());
  scratch_.write("runs/dp-fedavg-seed-1/checkpoint.bin", "to resume");
  scratch_.write("runs/dp-fedavg-seed-1/notes.txt", "the user's");
  const BundleSize size = bundle(scratch_ / "a.tar.gz");
  EXPECT_EQ(size.bytes, static_cast<std::int64_t>(fs::file_size(scratch_ / "a.tar.gz")));

  const Manifest manifest = unpack_bundle(scratch_ / "a.tar.gz", scratch_ / "unpacked");
  ASSERT_EQ(manifest.runs.size(), 2U);
  std::size_t files = 0;
  for (const BundledRun& run : manifest.runs) {
    for (const BundledFile& file : run.files) {
      ++files;
      const std::string content = content_of(scratch_ / "unpacked" / run.folder / file.name);
      EXPECT_EQ(file.sha256, sha256_of(content));
      if (file.name == kSealFile) continue;  // lists what is packed
      EXPECT_EQ(content_of(scratch_ / "runs" / run.folder / file.name), content);
    }
  }
  EXPECT_EQ(files, size.files);
  EXPECT_TRUE(fs::exists(scratch_ / "unpacked/dp-fedavg-seed-1/partition.json"));
  EXPECT_FALSE(fs::exists(scratch_ / "unpacked/dp-fedavg-seed-1/checkpoint.bin"));
  EXPECT_FALSE(fs::exists(scratch_ / "unpacked/dp-fedavg-seed-1/notes.txt"));
  EXPECT_TRUE(verify_run(scratch_ / "unpacked/deeper/dp-fedavg-seed-2").differences.empty());
  for (const FoundRun& run : find_runs(std::vector<fs::path>{scratch_ / "unpacked"}))
    EXPECT_TRUE(verify_seal(run).differences.empty());
  const std::vector<fs::path> unpacked = {scratch_ / "unpacked"};
  const std::vector<FoundRun> runs = find_runs(unpacked);
  write_bundle(runs, run_names(runs, unpacked), scratch_ / "again.tar.gz");
  EXPECT_EQ(content_of(scratch_ / "again.tar.gz"), content_of(scratch_ / "a.tar.gz"));
}

TEST_F(BundleTest, RefusesARunThatIsNotAsItWasSealed) {
  const fs::path run = scratch_ / "runs/dp-fedavg-seed-1";
  const auto refusal_without = [&](const char* name) {
    const std::string content = content_of(run / name);
    fs::remove(run / name);
    std::string message = bundle_refusal();
    put(run / name, content);
    return message;
  };
  record("runs/dp-fedavg-seed-1");
  for (const char* name : {kRoundsFile, kLedgerFile, kEnvironmentFile, kSealFile})
    EXPECT_THAT(refusal_without(name), HasSubstr(std::string("dp-fedavg-seed-1/") + name + ": is not there"));
  EXPECT_THAT(refusal_without(kExperimentFile),
              HasSubstr("dp-fedavg-seed-1: the run cannot be read: experiment.toml: is missing"));
  const std::string experiment = content_of(run / kExperimentFile);
  fs::remove(run / kExperimentFile);
  fs::create_symlink("/dev/null", run / kExperimentFile);
  EXPECT_THAT(bundle_refusal(),
              HasSubstr("experiment.toml: is not a regular file\n  It was lost or edited after the run"));
  fs::remove(run / kExperimentFile);
  put(run / kExperimentFile, experiment);
  const std::string ledger = content_of(run / kLedgerFile);
  put(run / kLedgerFile, ledger + " ");
  EXPECT_THAT(bundle_refusal(), HasSubstr("ledger.json: is not the file that the run's seal lists"));
  // Also where a seal was made without it.
  fs::remove(run / kLedgerFile);
  const RunDirectory directory = RunDirectory::open(run);
  directory.write_summary(directory.summary());
  EXPECT_THAT(bundle_refusal(), HasSubstr("ledger.json: is not there"));
  EXPECT_FALSE(fs::exists(scratch_ / "a.tar.gz"));
}

TEST_F(BundleTest, RefusesARunWhoseExperimentIsNone) {
  record("runs/dp-fedavg-seed-1");
  const RunDirectory run = RunDirectory::open(scratch_ / "runs/dp-fedavg-seed-1");
  const std::string experiment = run.read_file(kExperimentFile);
  for (const std::string& text : {std::string(), std::string("not TOML\n"), experiment.substr(0, 100)}) {
    run.write_file_atomically(kExperimentFile, text);
    run.write_summary(run.summary());  // with a seal of that
    EXPECT_THAT(bundle_refusal(), HasSubstr("experiment.toml: is not the experiment file of a run"));
  }
  EXPECT_FALSE(fs::exists(scratch_ / "a.tar.gz"));
}

TEST_F(BundleTest, RefusesAPartOfARecordThatIsNotSealed) {
  record("runs/dp-fedavg-seed-1");
  scratch_.write("runs/dp-fedavg-seed-1/synthetic/round-0001/images.npy", "x");
  EXPECT_THAT(bundle_refusal(),
              HasSubstr("dp-fedavg-seed-1/synthetic/round-0001/images.npy: is not among the files that"));
}

TEST_F(BundleTest, NamesFoldersInUtf8) {
  record("runs/\u00e9t\u00e9/\u6570-seed-1");
  bundle(scratch_ / "a.tar.gz");
  EXPECT_EQ(unpack_bundle(scratch_ / "a.tar.gz", scratch_ / "unpacked").runs.front().folder,
            "\u00e9t\u00e9/\u6570-seed-1");
  EXPECT_TRUE(fs::exists(scratch_ / "unpacked/\u00e9t\u00e9/\u6570-seed-1/summary.json"));
  fs::rename(scratch_ / "runs/\u00e9t\u00e9", scratch_ / "runs/\xe9");
  EXPECT_THAT(bundle_refusal("b.tar.gz"), HasSubstr("cannot be named in a bundle"));
  EXPECT_FALSE(fs::exists(scratch_ / "b.tar.gz"));
}

TEST_F(BundleTest, OfTheSameRunsHasTheSameBytes) {
  record("runs/dp-fedavg-seed-1");
  bundle(scratch_ / "a.tar.gz");
  fs::last_write_time(scratch_ / "runs/dp-fedavg-seed-1/summary.json", fs::file_time_type::clock::now());
  bundle(scratch_ / "b.tar.gz");
  EXPECT_EQ(content_of(scratch_ / "a.tar.gz"), content_of(scratch_ / "b.tar.gz"));
}

TEST_F(BundleTest, RefusesUnfinishedAndBrokenRunsAndWritesNothing) {
  record("runs/dp-fedavg-seed-1", {.finished = false});
  EXPECT_THAT(bundle_refusal(), HasSubstr("the run is unfinished (3 of 4 rounds)"));
  const fs::path file = scratch_ / "runs/dp-fedavg-seed-1/summary.json";
  Summary failed = parse_summary(content_of(file), file.string());
  failed.state = kFailed;
  failed.failure = "it threw";
  scratch_.write("runs/dp-fedavg-seed-1/summary.json", to_json_text(failed));
  EXPECT_THAT(bundle_refusal(),
              HasSubstr("the run failed (3 of 4 rounds)\n  `fedarena run FILE --resume` tries it again"));
  scratch_.write("runs/dp-fedavg-seed-1/summary.json", "{");
  EXPECT_THAT(bundle_refusal(), HasSubstr("the run cannot be read: summary.json"));
  EXPECT_FALSE(fs::exists(scratch_ / "a.tar.gz"));
}

TEST_F(BundleTest, ThatWasDamagedIsRefused) {
  record("runs/dp-fedavg-seed-1");
  bundle(scratch_ / "a.tar.gz");
  const Manifest manifest = unpack_bundle(scratch_ / "a.tar.gz", scratch_ / "unpacked");
  const std::string whole = content_of(scratch_ / "a.tar.gz");
  int refused = 0;
  // A few bytes of gzip and tar say nothing about a file: the first ones and the padding at the end.
  const auto expect_refusal_or_all_files = [&](const std::string& damaged) {
    try {
      EXPECT_EQ(unpack_bundle(scratch_.write("b.tar.gz", damaged), scratch_ / "unpacked"), manifest);
    } catch (const Error& error) {
      ++refused;
      EXPECT_THAT(
          error.what(),
          AnyOf(HasSubstr("damaged or cut off"), HasSubstr("the SHA-256 of its file"), HasSubstr("it lacks"),
                HasSubstr("no manifest"), HasSubstr("longer than"), HasSubstr("shorter than"),
                HasSubstr("which its manifest does not list"), HasSubstr("bundle.json")));
    }
  };
  constexpr std::size_t kPlaces = 50;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const std::size_t at = whole.size() * i / kPlaces;
    SCOPED_TRACE(at);
    expect_refusal_or_all_files(whole.substr(0, at));
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    expect_refusal_or_all_files(flipped);
  }
  EXPECT_GT(refused, 90);
  EXPECT_THAT(unpack_refusal(scratch_.write("text.tar.gz", "no archive")), HasSubstr("this is not a bundle"));
  EXPECT_THAT(unpack_refusal(scratch_ / "absent.tar.gz"), HasSubstr("absent.tar.gz"));
  ASSERT_EQ(::mkfifo((scratch_ / "pipe.tar.gz").c_str(), 0600), 0);
  EXPECT_THAT(unpack_refusal(scratch_ / "pipe.tar.gz"), HasSubstr("is a pipe"));
}

// Every file in it fits the manifest.
TEST_F(BundleTest, WhoseLastBytesAreDamagedIsRefused) {
  record("runs/dp-fedavg-seed-1");
  bundle(scratch_ / "a.tar.gz");
  const std::string whole = content_of(scratch_ / "a.tar.gz");
  for (const std::size_t from_end : {8, 1}) {  // checksum, length
    std::string damaged = whole;
    damaged[whole.size() - from_end] ^= 1;
    EXPECT_THAT(unpack_refusal(scratch_.write("b.tar.gz", damaged)),
                HasSubstr("this is not a bundle, or it is damaged or cut off (the compressed stream is "
                          "damaged: it does not fit its checksum, length or form)"));
  }
  EXPECT_THAT(unpack_refusal(scratch_.write("b.tar.gz", whole.substr(0, whole.size() - 1))),
              HasSubstr("(the compressed stream is cut off)"));
}

TEST_F(BundleTest, ThatSomethingFollowsIsRefused) {
  record("runs/dp-fedavg-seed-1");
  bundle(scratch_ / "a.tar.gz");
  const std::string whole = content_of(scratch_ / "a.tar.gz");
  const auto refusal_of = [&](const std::string& bytes) {
    return unpack_refusal(scratch_.write("b.tar.gz", bytes));
  };
  unpack_bundle(scratch_.write("padded.tar.gz", whole + std::string(5000, '\0')), scratch_ / "unpacked");
  EXPECT_THAT(refusal_of(whole + "junk"), HasSubstr("something that is not gzip follows"));
  EXPECT_THAT(refusal_of(whole + whole), HasSubstr("it holds bundle.json, which its manifest does not list"));
  pack(scratch_ / "rest.tar.gz", {{"x", "more"}});
  EXPECT_THAT(refusal_of(whole + content_of(scratch_ / "rest.tar.gz")), HasSubstr("it holds x, which its"));
}

TEST_F(BundleTest, OfAManifestThatIsNestedDeeplyIsRefused) {
  pack(scratch_ / "a.tar", {{kManifestFile, "{\"schema\":" + std::string(1'000'000, '[') + "}"}});
  EXPECT_THAT(unpack_refusal(scratch_ / "a.tar"), HasSubstr("bundle.json: lists and objects lie too deep"));
}

// A megabyte of blanks takes a kilobyte in an archive.
TEST_F(BundleTest, ThatUnpacksToFarMoreThanItHasIsRefused) {
  const auto refusal_of = [&](std::int64_t bytes) {
    const std::string digest(64, 'a');
    const Manifest manifest{
        .runs = {{.folder = "a", .files = {{.name = "x", .bytes = bytes, .sha256 = digest}}}}};
    const std::string blanks(static_cast<std::size_t>(bytes), ' ');
    pack(scratch_ / "a.tar.gz", {{kManifestFile, to_json_text(manifest)}, {"a/x", blanks}});
    return unpack_refusal(scratch_ / "a.tar.gz");
  };
  EXPECT_THAT(refusal_of(1 << 20), HasSubstr("the SHA-256 of its file a/x is not that of the manifest"));
  EXPECT_THAT(refusal_of(17 << 20), HasSubstr("it unpacks to more than 100 times its "));
}

TEST_F(BundleTest, HoldsExactlyWhatItsManifestLists) {
  const std::string content = "{}\n";
  const Manifest manifest{
      .runs = {{.folder = "a", .files = {{.name = "x", .bytes = 3, .sha256 = sha256_of(content)}}}}};
  const std::string text = to_json_text(manifest);
  Manifest whole = manifest;
  whole.runs[0].files.push_back({.name = kSummaryFile, .bytes = 3, .sha256 = sha256_of(content)});
  const fs::path file = scratch_ / "a.tar";
  pack(file, {{kManifestFile, text}, {"a/x", content}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("its manifest lists no summary.json of a"));
  pack(file, {{kManifestFile, to_json_text(whole)}, {"a/x", content}, {"a/summary.json", content}});
  EXPECT_EQ(unpack_bundle(file, scratch_ / "unpacked"), whole);
  EXPECT_EQ(content_of(scratch_ / "unpacked/a/x"), content);

  pack(file, {{kManifestFile, text}, {"a/x", content}, {"../x", content}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("it holds ../x, which its manifest does not list"));
  EXPECT_FALSE(fs::exists(scratch_ / "x"));
  pack(file, {{kManifestFile, text}, {"a/x", content}, {"a/x", content}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("it holds a/x, which its manifest does not list"));
  pack(file, {{kManifestFile, text}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("it lacks a/x, which its manifest lists"));
  pack(file, {{kManifestFile, text}, {"a/x", content + content}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("its file a/x is longer than 3 bytes"));
  pack(file, {{kManifestFile, text}, {"a/x", "{}"}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("its file a/x is shorter than 3 bytes"));
  pack(file, {{kManifestFile, text}, {"a/x", "[]\n"}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("the SHA-256 of its file a/x is not that of the manifest"));
  pack(file, {{"a/x", content}, {kManifestFile, text}});
  EXPECT_THAT(unpack_refusal(file), HasSubstr("its first file is not a manifest"));
}

}  // namespace
}  // namespace fedarena::results
