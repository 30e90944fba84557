#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/digest/sha256.hpp"
#include "results/bundle/bundle.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

constexpr int kReadable = 0644;

la_ssize_t append(archive* /*writer*/, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

// A tar archive in memory, without times, owners or anything else that is not its content.
class Packer {
 public:
  Packer() : writer_(archive_write_new(), archive_write_free) {
    check(archive_write_set_format_pax_restricted(writer_.get()));
    check(archive_write_add_filter_gzip(writer_.get()));
    check(archive_write_set_options(writer_.get(), "gzip:!timestamp"));
    check(archive_write_set_bytes_in_last_block(writer_.get(), 1));  // no padding
    check(archive_write_open(writer_.get(), &text_, nullptr, append, nullptr));
  }

  void add(const std::string& name, std::string_view content) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname_utf8(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), kReadable);
    check(archive_write_header(writer_.get(), entry.get()));
    if (archive_write_data(writer_.get(), content.data(), content.size()) < 0) check(ARCHIVE_FATAL);
  }

  std::string finish() {
    check(archive_write_close(writer_.get()));
    return std::move(text_);
  }

 private:
  void check(int status) const {
    if (status == ARCHIVE_OK) return;
    const char* reason = archive_error_string(writer_.get());
    throw Bug(fmt::format("an archive cannot be written: {}", reason ? reason : "no reason known"));
  }

  std::string text_;
  std::unique_ptr<archive, int (*)(archive*)> writer_;
};

void check_finished(const FoundRun& run) {
  const auto refuse = [&](std::string found) {
    throw Error(Complaint{.place = {.file = run.path.string()}, .found = std::move(found)});
  };
  if (!run.summary) refuse(fmt::format("the run cannot be read: {}", run.problem));
  if (run.summary->state == kFinished) return;
  throw Error(
      Complaint{.place = {.file = run.path.string()},
                .found = fmt::format("the run is unfinished ({} of {} rounds)", run.summary->rounds_done,
                                     run.summary->rounds),
                .remedy = "`fedarena run FILE --resume` goes on with it; or name finished runs alone."});
}

}  // namespace

namespace fs = std::filesystem;

std::vector<std::string> record_files(const fs::path& run) {
  std::vector<std::string> names;
  for (const char* name : {kExperimentFile, kEnvironmentFile, kPartitionFile, kRoundsFile, kLedgerFile,
                           kClientsFile, kSummaryFile}) {
    if (fs::is_regular_file(run / name)) names.emplace_back(name);
  }
  const SyntheticFolder synthetic(run);
  for (const std::int64_t round : synthetic.rounds()) {
    for (const fs::directory_entry& entry : fs::directory_iterator(synthetic.folder_of(round))) {
      if (entry.is_regular_file() && entry.path().extension() == ".npy") {
        names.push_back(entry.path().lexically_relative(run).generic_string());
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

BundleSize write_bundle(std::span<const FoundRun> runs, std::span<const std::string> names,
                        const fs::path& file) {
  FEDARENA_CHECK(runs.size(), ==, names.size());
  Manifest manifest;
  std::vector<std::pair<std::string, std::string>> contents;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    check_finished(runs[i]);
    BundledRun& run = manifest.runs.emplace_back(BundledRun{.folder = names[i], .files = {}});
    for (const std::string& name : record_files(runs[i].path)) {
      std::string content = read_whole_file(runs[i].path / name);
      bytes += static_cast<std::int64_t>(content.size());
      run.files.push_back(
          {.name = name, .bytes = static_cast<std::int64_t>(content.size()), .sha256 = sha256_of(content)});
      contents.emplace_back(run.folder + "/" + name, std::move(content));
    }
  }
  if (bytes > kMostBundledBytes) {
    throw Error(Complaint{.place = {.file = file.string()},
                          .found = fmt::format("the runs hold {} bytes", bytes),
                          .allowed = "at most 4 GiB in a bundle",
                          .remedy = "Make several bundles."});
  }
  const std::string text = to_json_text(manifest);
  parse_manifest(text, file.string());  // what cannot be read back must not be written
  Packer packer;
  packer.add(kManifestFile, text);
  for (const auto& [name, content] : contents) packer.add(name, content);
  const std::string archive = packer.finish();
  replace_file(file, archive);
  return {.files = contents.size(), .bytes = static_cast<std::int64_t>(archive.size())};
}

}  // namespace fedarena::results
