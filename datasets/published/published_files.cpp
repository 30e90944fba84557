#include "datasets/published/published_files.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/digest/gzip_file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

// A small file that unpacks to more is not a data set but an attack on the memory.
constexpr std::size_t kMostUnpacked = 100;
constexpr std::size_t kUnpackedAnyway = std::size_t{1} << 28;

[[noreturn]] void reject_absence(const PublishedFiles& wanted, const SearchPath& searched,
                                 const std::string& partial) {
  const std::string fetch = wanted.publication.addresses.empty()
                                ? ""
                                : fmt::format(", or `fedarena data fetch {}`", wanted.dataset);
  const std::vector<std::string> names = names_of(wanted.files, &PublishedFile::name);
  throw Error(
      Complaint{.found = fmt::format("the data set \"{}\" was not found: looked for {}{} in {}{}",
                                     wanted.dataset, join_names(names),
                                     std::ranges::any_of(names, may_be_gzipped) ? " (each plain or .gz)" : "",
                                     searched_folders(searched), partial),
                .remedy = fmt::format("Set FEDARENA_DATA to a folder that holds {}/ with these files{}; {}",
                                      wanted.folders.front(), fetch, wanted.origin)});
}

}  // namespace

std::string searched_folders(const SearchPath& folders) {
  if (folders.empty()) return "no folder at all";
  return join_names(names_of(folders, [](const fs::path& folder) { return folder.string(); }));
}

std::vector<fs::path> candidate_folders(const std::vector<std::string>& names,
                                        const SearchPath& search_path) {
  std::vector<fs::path> candidates;
  for (const fs::path& folder : search_path) {
    for (const std::string& name : names) candidates.push_back(folder / name);
    // "." has a name only once it is absolute; "data/mnist/" ends in an empty one, so its parent has the
    // name.
    const fs::path whole = fs::absolute(folder).lexically_normal();
    const fs::path own = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
    for (const std::string& name : names)
      if (own == name) candidates.push_back(folder);
  }
  return candidates;
}

bool may_be_gzipped(const std::string& name) { return !name.ends_with(".mat") && !name.ends_with(".h5"); }

std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;  // an unreadable folder is one that does not hold the file
  if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  const fs::path gzipped = folder / (name + ".gz");
  if (may_be_gzipped(name) && fs::is_regular_file(gzipped, ignored)) return gzipped;
  return std::nullopt;
}

std::vector<fs::path> find_published(const PublishedFiles& wanted, const SearchPath& search_path) {
  const auto candidates = candidate_folders(wanted.folders, search_path);
  std::string partial;
  for (const fs::path& folder : candidates) {
    std::vector<fs::path> paths;
    std::vector<std::string> missing;
    for (const PublishedFile& file : wanted.files) {
      if (const auto path = find_file(folder, file.name))
        paths.push_back(*path);
      else
        missing.push_back(file.name);
    }
    if (missing.empty()) return paths;
    if (!paths.empty())
      partial += fmt::format("; {} holds some of them but lacks {}", folder.string(), join_names(missing));
  }
  reject_absence(wanted, candidates, partial);
}

std::vector<std::uint8_t> read_content(const fs::path& file, std::size_t most) {
  GzipFile opened(file);
  // Enough for a file that is not compressed, and more when that is not.
  const auto on_disk = static_cast<std::size_t>(opened.size());
  const std::size_t limit = std::min(most, std::max(kUnpackedAnyway, on_disk * kMostUnpacked));
  std::vector<std::uint8_t> content(std::min(limit, on_disk + 1));
  std::size_t size = 0;
  while (size < limit) {
    if (size == content.size()) content.resize(std::min(limit, 2 * size + (std::size_t{1} << 16)));
    const std::ptrdiff_t got = opened.read(std::span(content).subspan(size));
    // A publisher's file or the user's own.
    if (got < 0)
      reject_file(file, opened.problem(), "a whole gzip file or an uncompressed one",
                  "Copy or compress the file again");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size == limit && limit < most)
    reject_file(file, fmt::format("the content is longer than {} bytes", limit),
                fmt::format("at most {} times the size of the compressed file", kMostUnpacked),
                "Unpack the file, if it is what it should be");
  content.resize(size);
  return content;
}

void check_size(const fs::path& file, std::size_t size, std::size_t expected, const std::string& meaning) {
  if (size == expected) return;
  reject_file(file,
              size < expected ? fmt::format("the content ends after {} bytes", size)
                              : fmt::format("the content is longer than {} bytes", expected),
              fmt::format("exactly {} bytes: {}", expected, meaning));
}

void check_sha256(const fs::path& file, const std::vector<std::uint8_t>& content, const std::string& sha256) {
  if (sha256.empty()) return;
  const std::string found = sha256_of(content);
  if (found != sha256)
    reject_file(
        file,
        fmt::format("this is not the published file: the SHA-256 of its uncompressed content is {}", found),
        sha256);
}

void check_published(const fs::path& file, const PublishedFile& published) {
  if (published.size == 0) return;
  const auto size = static_cast<std::size_t>(published.size);
  const std::vector<std::uint8_t> content = read_content(file, size + 1);
  check_size(file, content.size(), size, published.name);
  check_sha256(file, content, published.sha256);
}

void reject_file(const fs::path& file, std::string found, std::string allowed, std::string remedy) {
  throw Error::in(file, std::move(found), {.allowed = std::move(allowed), .remedy = std::move(remedy)});
}

fs::path find_own(const std::string& key, const std::string& path, const SearchPath& search_path) {
  SearchPath candidates{path};
  if (candidates.front().is_relative()) {
    for (const fs::path& folder : search_path) candidates.push_back(folder / path);
  }
  std::error_code ignored;  // what cannot be seen is not there
  for (const fs::path& candidate : candidates) {
    if (!path.empty() && fs::exists(candidate, ignored)) return candidate;
  }
  for (fs::path& candidate : candidates) candidate = fs::absolute(candidate).lexically_normal();
  throw Error(Complaint{
      .found =
          fmt::format("{} = \"{}\" is not there: looked for {}", key, path, searched_folders(candidates)),
      .remedy = "Give an absolute path, one below the working directory, or one below a folder of "
                "FEDARENA_DATA"});
}

}  // namespace fedarena
