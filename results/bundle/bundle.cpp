#include "results/bundle/bundle.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "harness/digest/sha256.hpp"
#include "results/record/archive_writer.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/record_form.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"
#include "results/record/seal.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kSchema = 1;

// A path below the bundle's folder.
void form_name(RecordForm& form, const char* field, std::string& name) {
  form.text(field, name);
  if (form.fields() != nullptr && !is_bundle_name(name))
    form.fields()->reject(field, "a path below the bundle's folder, without . and ..");
}

void form_manifest(RecordForm& form, Manifest& manifest) {
  std::set<std::string> paths;
  std::int64_t bytes = 0;
  form.objects("runs", manifest.runs, [&](RecordForm& of_run, BundledRun& run) {
    form_name(of_run, "folder", run.folder);
    of_run.objects("files", run.files, [&](RecordForm& of_file, BundledFile& file) {
      form_name(of_file, "name", file.name);
      of_file.integer("bytes", file.bytes, 0);
      of_file.field("sha256", file.sha256, &JsonFields::digest);
      const JsonFields* fields = of_file.fields();
      if (fields == nullptr) return;
      if (file.bytes > kMostBundledBytes - bytes)
        fields->reject("bytes", "no more than 4 GiB in all files of a bundle");
      bytes += file.bytes;
      if (!paths.insert(run.folder + "/" + file.name).second) fields->reject("name", "each file once");
    });
  });
}

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& place, std::string found, std::string remedy = {}) {
  throw Error::in(place, std::move(found), {.remedy = std::move(remedy)});
}

void check_finished(const FoundRun& run) {
  if (!run.summary)
    refuse(
        run.path, fmt::format("the run cannot be read: {}", run.problem),
        "Restore the file, or remove the run directory and run this cell again; or name other runs alone.");
  if (run.summary->state == kFinished) return;
  const bool failed = run.summary->state == kFailed;
  refuse(run.path,
         fmt::format("the run {} ({} of {} rounds)", failed ? "failed" : "is unfinished",
                     run.summary->rounds_done, run.summary->rounds),
         fmt::format("`fedarena run FILE --resume` {}; or name finished runs alone.",
                     failed ? "tries it again" : "goes on with it"));
}

// What a bundle takes of a run, by name: files as the run's seal has them, and a seal of these alone.
std::map<std::string, std::string> sealed_contents(const fs::path& run) {
  const std::string remedy =
      "It was lost or edited after the run, whose files `fedarena verify` compares: restore it, or "
      "remove the run directory and run this cell again.";
  const auto require = [&](const char* name) {
    std::error_code ignored;
    const fs::file_status status = fs::status(run / name, ignored);
    if (fs::is_regular_file(status)) return;
    refuse(run / name, fs::exists(status) ? "is not a regular file" : "is not there", remedy);
  };
  require(kSealFile);
  std::ranges::for_each(kNeededFiles, require);
  const Seal seal = read_seal(run);
  for (const auto& [name, digest] : current_seal(run)) {
    if (is_record(name) && !seal.contains(name))
      refuse(run / name, "is not among the files that the run's seal lists",
             "It came after the run, whose files `fedarena verify` compares: move it elsewhere.");
  }
  std::set<std::string> names(kNeededFiles.begin(), kNeededFiles.end());
  for (const auto& [name, digest] : seal) {
    if (is_record(name)) names.insert(name);
  }
  std::map<std::string, std::string> contents;
  Seal bundled;
  for (const std::string& name : names) {
    require(name.c_str());
    contents[name] = read_whole_file(run / name);
    bundled[name] = sha256_of(contents[name]);
    const auto sealed = seal.find(name);
    if (sealed == seal.end() || sealed->second != bundled[name])
      refuse(run / name, "is not the file that the run's seal lists", remedy);
  }
  if (!is_whole_experiment(contents[kExperimentFile]))
    refuse(run / kExperimentFile, "is not the experiment file of a run, so that nobody could replay it",
           remedy);
  contents[kSealFile] = to_json_text(bundled);
  if (read_attacks(run)) contents[kAttackFile] = read_whole_file(run / kAttackFile);
  return contents;
}

}  // namespace

bool is_bundle_name(const std::string& name) {
  const auto is_bad = [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F || byte == '\\' || byte == ':';
  };
  if (first_invalid_utf8(name) != name.size()) return false;
  if (name.empty() || name.front() == '/' || std::any_of(name.begin(), name.end(), is_bad)) return false;
  const std::filesystem::path path(name);
  return path.lexically_normal().generic_string() == name &&
         std::none_of(path.begin(), path.end(),
                      [](const auto& part) { return part.empty() || part == "." || part == ".."; });
}

std::string to_json_text(const Manifest& manifest) {
  return json_text(json_of_record(manifest, form_manifest, kSchema), 2) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& file) {
  JsonFields fields(text, {.file = file});
  if (fields.integer("schema") != kSchema) {
    fields.reject("schema", std::to_string(kSchema), "another version of fedarena wrote this bundle");
  }
  Manifest manifest;
  RecordForm form(fields);
  form_manifest(form, manifest);
  fields.finish();
  if (manifest.runs.empty()) fields.reject("runs", "at least one run");
  return manifest;
}

std::vector<std::string> record_files(const fs::path& run) {
  std::vector<std::string> names;
  for (const auto& [name, digest] : current_seal(run)) {
    if (is_record(name) && digest != kNotRegular) names.push_back(name);
  }
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
    if (!is_bundle_name(names[i]))
      refuse(runs[i].path, fmt::format("{} cannot be named in a bundle", fedarena::quoted(names[i])),
             "Rename the folders on the way there: without control characters, \\ and :, in UTF-8.");
    BundledRun& run = manifest.runs.emplace_back(BundledRun{.folder = names[i], .files = {}});
    for (auto& [name, content] : sealed_contents(runs[i].path)) {
      bytes += static_cast<std::int64_t>(content.size());
      run.files.push_back(
          {.name = name, .bytes = static_cast<std::int64_t>(content.size()), .sha256 = sha256_of(content)});
      contents.emplace_back(run.folder + "/" + name, std::move(content));
    }
  }
  if (bytes > kMostBundledBytes) {
    throw Error::in(file, fmt::format("the runs hold {} bytes", bytes),
                    {.allowed = "at most 4 GiB in a bundle", .remedy = "Make several bundles."});
  }
  const std::string text = to_json_text(manifest);
  parse_manifest(text, file.string());  // what cannot be read back must not be written
  ArchiveWriter packer(ArchiveWriter::Kind::kTarGzip);
  packer.add(kManifestFile, text);
  for (const auto& [name, content] : contents) packer.add(name, content);
  const std::string archive = packer.finish();
  replace_file(file, archive);
  return {.files = contents.size(), .bytes = static_cast<std::int64_t>(archive.size())};
}

}  // namespace fedarena::results
