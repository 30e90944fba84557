#include "datasets/fetch/fetch.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "datasets/fetch/download.hpp"
#include "datasets/fetch/unpack.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

using Files = std::vector<PublishedFile>;

bool is_published(const fs::path& path, const PublishedFile& published) {
  try {
    check_published(path, published);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// No packed form of the files is longer: gzip adds little to what it cannot compress, tar a kilobyte a file.
std::int64_t most_packed(const Files& files) {
  std::int64_t content = 0;
  for (const PublishedFile& file : files) content += file.size;
  return content + content / 100 + (std::int64_t{1} << 20);
}

// What is fetched at once: one file or an archive.
struct Parcel {
  std::string name;  // at the publisher
  Packing packing = Packing::kOneFile;
  Files files;  // those in it that are wanted
  std::int64_t most = 0;
};

std::vector<Parcel> parcels_of(const PublishedFiles& wanted, const Files& missing) {
  const Publication& publication = wanted.publication;
  if (missing.empty()) return {};
  if (!publication.archive.empty())
    return {{publication.archive, Packing::kArchive, missing, most_packed(wanted.files)}};
  std::vector<Parcel> parcels;
  for (const PublishedFile& file : missing)
    parcels.push_back({file.name + publication.ending, Packing::kOneFile, {file}, most_packed({file})});
  return parcels;
}

void unpack(const Parcel& parcel, const fs::path& packed, const fs::path& folder, const std::string& source,
            const FetchListener& listener) {
  unpack_published(packed, parcel.packing, parcel.files, folder, source);
  for (const PublishedFile& file : parcel.files)
    listener.say(fmt::format("{}: fetched, {} bytes with the published SHA-256", file.name, file.size));
}

void fetch_from_web(const Parcel& parcel, const std::string& address, const fs::path& folder,
                    const FetchOptions& options, const FetchListener& listener) {
  GrowingFile part(folder / (parcel.name + ".part"));
  const Download wanted{
      .address = address,
      .most = parcel.most,
      .on_progress = [&](std::int64_t done,
                         std::int64_t whole) { return listener.progress(parcel.name, done, whole); },
      .patience = options.patience};
  for (bool again = false;; again = true) {
    const bool pieced = download(wanted, part);
    try {
      unpack(parcel, part.path(), folder, address, listener);
      break;
    } catch (const SourceError&) {
      // Bytes that are not the file's must not be gone on from.
      part.clear();
      if (!pieced || again) {
        part.remove();
        throw;
      }
      listener.say(fmt::format("{}: the parts of two transfers do not fit together; fetching it as a whole",
                               parcel.name));
    }
  }
  part.remove();
}

void fetch_from_addresses(const Parcel& parcel, const std::vector<std::string>& addresses,
                          const fs::path& folder, const FetchOptions& options,
                          const FetchListener& listener) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    try {
      fetch_from_web(parcel, addresses[i] + parcel.name, folder, options, listener);
      return;
    } catch (const SourceError& error) {
      if (i + 1 == addresses.size()) throw;
      Complaint complaint = error.complaint();
      complaint.remedy.clear();
      listener.say(fmt::format("{}; trying {}", Error(complaint).what(), addresses[i + 1]));
    }
  }
}

// The publisher's archive or the files themselves, whichever a folder holds.
void fetch_from_folder(const Parcel& parcel, const PublishedFiles& wanted, const fs::path& from,
                       const fs::path& folder, const FetchListener& listener) {
  std::vector<fs::path> candidates = {from};
  for (const std::string& name : wanted.folders) candidates.push_back(from / name);
  std::error_code ignored;  // an unreadable folder is one that does not hold the file
  for (const fs::path& candidate : candidates) {
    if (parcel.packing == Packing::kArchive && fs::is_regular_file(candidate / parcel.name, ignored)) {
      unpack(parcel, candidate / parcel.name, folder, (candidate / parcel.name).string(), listener);
      return;
    }
  }
  for (const PublishedFile& file : parcel.files) {
    std::optional<fs::path> found;
    for (const fs::path& candidate : candidates)
      if (!found) found = find_file(candidate, file.name);
    if (!found)
      throw Error(
          Complaint{.place = {from.string()},
                    .found = fmt::format("the folder holds neither {0} nor {0}.gz{1}", file.name,
                                         parcel.packing == Packing::kArchive ? " nor " + parcel.name : ""),
                    .remedy = "Name the folder that holds the published files"});
    unpack({file.name, Packing::kOneFile, {file}}, *found, folder, found->string(), listener);
  }
}

// The web folders that `from` means; none when it is a folder of this machine.
std::vector<std::string> addresses_of(const PublishedFiles& wanted, const std::string& from) {
  if (from.empty()) return wanted.publication.addresses;
  const std::size_t scheme = from.find("://");
  if (scheme == std::string::npos) return {};
  if (from.substr(0, scheme) != "http" && from.substr(0, scheme) != "https")
    throw Error::in(
        "--from " + from,
        fmt::format("addresses that begin with {}:// cannot be fetched from", from.substr(0, scheme)),
        {.allowed = "http://, https:// or a folder"});
  if (const std::size_t host = scheme + 3; host == from.size() || from[host] == '/')
    throw Error::in("--from " + from, "the address names no server",
                    {.allowed = "http://HOST/FOLDER, https://HOST/FOLDER or a folder"});
  return {from.ends_with('/') ? from : from + "/"};
}

}  // namespace

fs::path fetch_folder(const PublishedFiles& wanted, const SearchPath& search_path) {
  if (search_path.empty())
    throw Error(Complaint{.found = "there is no folder for data: neither FEDARENA_DATA nor HOME is set",
                          .remedy = "Name one with --to DIR"});
  std::optional<fs::path> some;
  for (const fs::path& folder : candidate_folders(wanted.folders, search_path)) {
    const auto is_there = [&](const PublishedFile& file) { return find_file(folder, file.name).has_value(); };
    if (std::all_of(wanted.files.begin(), wanted.files.end(), is_there)) return folder;
    if (!some && std::any_of(wanted.files.begin(), wanted.files.end(), is_there)) some = folder;
  }
  return some.value_or(search_path.front() / wanted.folders.front());
}

void fetch_published(const PublishedFiles& wanted, const fs::path& folder, const FetchOptions& options,
                     const FetchListener& listener) {
  const std::vector<std::string> addresses = addresses_of(wanted, options.from);
  const bool from_folder = addresses.empty();
  if (from_folder && !fs::is_directory(options.from))
    throw Error::in("--from " + options.from, "there is no such folder",
                    {.allowed = "http://, https:// or a folder"});
  Files missing;
  for (const PublishedFile& file : wanted.files) {
    const auto there = find_file(folder, file.name);
    const bool good = there && is_published(*there, file);
    if (good) listener.say(fmt::format("{}: kept, it is the published file", there->filename().string()));
    if (there && !good)
      listener.say(fmt::format("{}: not the published file, to be replaced", there->filename().string()));
    if (!good) missing.push_back(file);
  }
  for (const Parcel& parcel : parcels_of(wanted, missing)) {
    if (from_folder)
      fetch_from_folder(parcel, wanted, options.from, folder, listener);
    else
      fetch_from_addresses(parcel, addresses, folder, options, listener);
  }
}

}  // namespace fedarena
