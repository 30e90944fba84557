#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "datasets/published/published_files.hpp"

namespace fedarena {

/// Whom `fetch_published` tells what it does. Every function must be there.
struct FetchListener {
  /// A whole sentence on what is finished or why it begins anew, without a full stop.
  std::function<void(const std::string& sentence)> say;
  /// Bytes of the file `name` that are there, and of the whole file (0: unknown); returns whether to go on.
  std::function<bool(const std::string& name, std::int64_t done, std::int64_t whole)> progress;
};

/// How to fetch.
struct FetchOptions {
  /// "": from the publisher; a web address: from the folder there, in which files and archives have the
  /// publisher's names; anything else: from that folder of this machine, out of the publisher's archive or
  /// the files themselves, plain or ".gz".
  std::string from = {};
  std::chrono::seconds patience{60};  ///< with a server that sends nothing
};

/// The folder that files fetched for a data set belong into: the one that is read now, or that holds some of
/// them, else the preferred one of the first folder of `search_path`. Throws Error where there is no folder
/// at all.
std::filesystem::path fetch_folder(const PublishedFiles& wanted, const SearchPath& search_path);

/// Makes sure that `folder` holds the published files. A file that is there with its published SHA-256 is
/// kept; any other is fetched, compared, and only then put in its place, decompressed, so that no failure
/// makes anything worse. What a stopped transfer brought stays in NAME.part, from where the next call goes
/// on; when a file made of two transfers is not the published one, it is fetched once more as a whole. Of
/// several addresses the next is tried when one fails. Throws Error; Interrupted when `progress` says so.
void fetch_published(const PublishedFiles& wanted, const std::filesystem::path& folder,
                     const FetchOptions& options, const FetchListener& listener);

}  // namespace fedarena
