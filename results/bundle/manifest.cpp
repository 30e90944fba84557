#include <algorithm>
#include <filesystem>
#include <set>

#include "fedarena/base/text.hpp"

#include "results/bundle/bundle.hpp"
#include "results/record/record_form.hpp"

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
  Json json = {{"schema", kSchema}};
  append_fields(json, manifest, form_manifest);
  return json_text(json, 2) + "\n";
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

}  // namespace fedarena::results
