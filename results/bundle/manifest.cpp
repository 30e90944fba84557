#include <algorithm>
#include <filesystem>
#include <set>

#include "fedarena/base/text.hpp"

#include "results/bundle/bundle.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kSchema = 1;

std::string safe_name(JsonFields& fields, const std::string& field) {
  std::string name = fields.text(field);
  if (!is_bundle_name(name)) fields.reject(field, "a path below the bundle's folder, without . and ..");
  return name;
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
  Json runs = Json::array();
  for (const BundledRun& run : manifest.runs) {
    Json files = Json::array();
    for (const BundledFile& file : run.files) {
      files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
    }
    runs.push_back({{"folder", run.folder}, {"files", std::move(files)}});
  }
  return json_text({{"schema", kSchema}, {"runs", std::move(runs)}}, 2) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& file) {
  JsonFields document(text, {.file = file});
  if (document.integer("schema") != kSchema) {
    document.reject("schema", std::to_string(kSchema), "another version of fedarena wrote this bundle");
  }
  Manifest manifest;
  std::set<std::string> paths;
  std::int64_t bytes = 0;
  for (JsonFields& fields : document.objects("runs")) {
    BundledRun& run =
        manifest.runs.emplace_back(BundledRun{.folder = safe_name(fields, "folder"), .files = {}});
    for (JsonFields& listed : fields.objects("files")) {
      BundledFile bundled{.name = safe_name(listed, "name"),
                          .bytes = listed.integer("bytes", 0),
                          .sha256 = listed.digest("sha256")};
      if (bundled.bytes > kMostBundledBytes - bytes) {
        listed.reject("bytes", "no more than 4 GiB in all files of a bundle");
      }
      bytes += bundled.bytes;
      if (!paths.insert(run.folder + "/" + bundled.name).second) listed.reject("name", "each file once");
      listed.finish();
      run.files.push_back(std::move(bundled));
    }
    fields.finish();
  }
  document.finish();
  if (manifest.runs.empty()) document.reject("runs", "at least one run");
  return manifest;
}

}  // namespace fedarena::results
