#include "results/record/seal.hpp"

#include <cerrno>
#include <span>
#include <system_error>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"
#include "fedarena/base/find.hpp"

#include "accounting/json_text.hpp"
#include "harness/digest/sha256.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/canary_audit.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSealSchema = 1;
constexpr const char* kFiles = "files";

// Checkpoints may be large.
std::string digest_of(const fs::path& path) {
  const RegularFile file(path);
  if (file.size() > kMostBytesOfFile) return kTooLarge;
  std::vector<std::uint8_t> block(std::size_t{1} << 20);
  Sha256 digest;
  while (true) {
    const auto count = read_some(file.descriptor(), std::as_writable_bytes(std::span(block)));
    if (count < 0) fail_on_file(path, "cannot be read", errno);
    if (count == 0) return digest.text();
    digest.add(std::span(block).first(static_cast<std::size_t>(count)));
  }
}

// Names of foreign files may be of any bytes, and JSON is UTF-8.
std::string name_of(const fs::path& file, const fs::path& run) {
  const std::string name = file.lexically_relative(run).generic_string();
  return parse_json<Json>(json_text(Json(name), -1)).get<std::string>();
}

bool is_sealed(const std::string& name) {
  // A crash may leave the beginning of a file; the next write of that file takes it away.
  const bool unfinished = name.ends_with(".partial");
  return !unfinished && name != kSealFile && name != kClientStatesFile && name != kChargedFile &&
         name != kAttackFile && name != kClaimFile;
}

}  // namespace

bool is_record(const std::string& name) {
  return contains(kNeededFiles, name) || name == kPartitionFile || name == kClientsFile ||
         name == kAuditFile || (name.starts_with("synthetic/") && name.ends_with(".npy"));
}

Seal current_seal(const fs::path& run) {
  Seal seal;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(run, failure);
       !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
    const fs::file_status status = at->symlink_status(failure);
    if (failure) fail_on_file(at->path(), "cannot be looked at", failure.value());
    const std::string name = name_of(at->path(), run);
    if (fs::is_directory(status) || !is_sealed(name)) continue;
    seal[name] = fs::is_regular_file(status) ? digest_of(at->path()) : kNotRegular;
  }
  if (failure) fail_on_file(run, "cannot be listed", failure.value());
  return seal;
}

std::string to_json_text(const Seal& seal) {
  Json files = Json::object();
  for (const auto& [name, digest] : seal) files[name] = digest;
  return json_text({{"schema", kSealSchema}, {kFiles, std::move(files)}}, 1) + "\n";
}

bool sealed_at_its_end(const fs::path& run, const Seal& recorded, const Seal& now) {
  const auto summary = recorded.find(kSummaryFile);
  if (summary == recorded.end()) return false;
  const fs::path prepared = partial_of(run / kSummaryFile);
  std::error_code ignored;
  const bool there = fs::is_regular_file(fs::symlink_status(prepared, ignored));
  if (!there || digest_of(prepared) != summary->second) return false;
  Seal others = now;
  others[kSummaryFile] = summary->second;
  return others == recorded;
}

Seal read_seal(const fs::path& run) {
  const std::string file = (run / kSealFile).string();
  const std::string text = read_whole_file(run / kSealFile);
  JsonFields fields(text, Place{.file = file});
  fields.schema(kSealSchema);
  Seal seal;
  for (auto& [name, digest] : fields.texts(kFiles)) {
    if (!is_sha256(digest) && digest != kNotRegular && digest != kTooLarge)
      fields.reject(kFiles, "64 lower-case hexadecimal digits for each file");
    seal.emplace(std::move(name), std::move(digest));
  }
  fields.finish();
  if (to_json_text(seal) != text) {
    throw Error::in(file, "is not written as fedarena writes a seal",
                    {.remedy = "the file is damaged or was edited; restore it"});
  }
  return seal;
}

}  // namespace fedarena::results
