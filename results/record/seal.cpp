#include "results/record/seal.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/digest/sha256.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSealSchema = 1;
constexpr const char* kFiles = "files";

bool is_sha256(const std::string& text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Checkpoints may be large.
std::string digest_of(const fs::path& file) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> block(kBlock);
  Sha256 digest;
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    digest.add(
        {reinterpret_cast<const std::uint8_t*>(block.data()), static_cast<std::size_t>(stream.gcount())});
  }
  if (!stream.eof()) fail_on_file(file, "cannot be read", errno);
  return digest.text();
}

// Names of foreign files may be of any bytes, and JSON is UTF-8.
std::string name_of(const fs::path& file, const fs::path& run) {
  const std::string name = file.lexically_relative(run).generic_string();
  return Json::parse(json_text(Json(name), -1)).get<std::string>();
}

}  // namespace

Seal current_seal(const fs::path& run) {
  Seal seal;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(run, failure);
       !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
    const fs::file_status status = at->symlink_status(failure);
    if (failure) fail_on_file(at->path(), "cannot be looked at", failure.value());
    const std::string name = name_of(at->path(), run);
    if (fs::is_directory(status) || name == kSealFile || name == kClientStatesFile) continue;
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

Seal parse_seal(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(kSealSchema);
  Seal seal;
  for (auto& [name, digest] : fields.texts(kFiles)) {
    if (!is_sha256(digest)) fields.reject(kFiles, "64 lower-case hexadecimal digits for each file");
    seal.emplace(std::move(name), std::move(digest));
  }
  fields.finish();
  if (to_json_text(seal) != text) {
    throw Error(Complaint{.place = {.file = file},
                          .found = "is not written as fedarena writes a seal",
                          .remedy = "the file is damaged or was edited; restore it"});
  }
  return seal;
}

Seal read_seal(const fs::path& run) {
  return parse_seal(read_whole_file(run / kSealFile), (run / kSealFile).string());
}

}  // namespace fedarena::results
