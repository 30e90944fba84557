#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/digest/sha256.hpp"

namespace fedarena {

/// Folders in which data sets are looked for, the first one first.
using SearchPath = std::vector<std::filesystem::path>;

/// "DIR, DIR" for messages; "no folder at all" where there is none.
std::string searched_folders(const SearchPath& folders);

/// One file as its publisher made it.
struct PublishedFile {
  std::string name;         ///< without ".gz"; see may_be_gzipped
  std::int64_t size = 0;    ///< bytes of the uncompressed content
  std::string sha256 = {};  ///< of the uncompressed content; empty: any content of the right form
};

/// Where a program can have a publisher's files.
struct Publication {
  /// Web addresses of the folder that holds them, each with a "/" at its end; the first one is asked first.
  std::vector<std::string> addresses = {};
  std::string archive = {};  ///< the tar archive there that holds all files; empty: each lies there by itself
  std::string ending = {};   ///< what the names of single files have at their end there, such as ".gz"
};

/// The files of one data set, as its publisher names them.
struct PublishedFiles {
  std::string dataset;               ///< for messages
  std::vector<std::string> folders;  ///< names of the folder that may hold them, the preferred one first
  std::vector<PublishedFile> files;
  std::string origin;            ///< where the publisher's files come from, for the remedy
  Publication publication = {};  ///< no addresses: no program can fetch them
};

/// The folders that may hold a data set: every `FOLDER/NAME` with NAME in `names`, and every FOLDER that
/// itself is called so, in the order of the search path.
std::vector<std::filesystem::path> candidate_folders(const std::vector<std::string>& names,
                                                     const SearchPath& search_path);

/// Whether a file of that name may lie there as NAME.gz: not one that is compressed inside, which libraries
/// read by its path.
bool may_be_gzipped(const std::string& name);

/// The file of that name in a folder: the plain one, else the ".gz"; nothing where it holds neither.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& folder, const std::string& name);

/// The path of every file of `wanted.files`, in that order, all from the first of the candidate folders that
/// holds all of them. Throws one Error that lists files, folders and what to do.
std::vector<std::filesystem::path> find_published(const PublishedFiles& wanted,
                                                  const SearchPath& search_path);

/// A file or folder that the user named in the setting `key`: an absolute path as it is, any other in the
/// working directory, else in the first folder of the search path that has it. Throws Error when it is empty
/// or nowhere.
std::filesystem::path find_own(const std::string& key, const std::string& path,
                               const SearchPath& search_path);

/// The content of a file, decompressed where it is gzip, but at most `most` bytes of it: a caller that wants
/// N bytes asks for N + 1 and so sees that a file is too long without reading it all. Throws Error when the
/// file cannot be opened or its compressed stream is damaged.
std::vector<std::uint8_t> read_content(const std::filesystem::path& file, std::size_t most);

/// Throws Error unless the SHA-256 of `content` is `sha256` (64 lower-case hexadecimal digits). An empty
/// `sha256` accepts any content.
void check_sha256(const std::filesystem::path& file, const std::vector<std::uint8_t>& content,
                  const std::string& sha256);

/// Throws Error when `size`, the bytes read with the limit `expected` + 1, is not `expected`. `meaning` says
/// in a few words what the expected bytes hold.
void check_size(const std::filesystem::path& file, std::size_t size, std::size_t expected,
                const std::string& meaning);

/// Throws Error unless the uncompressed content of `file` has the size and the SHA-256 of `published`, as far
/// as these are known.
void check_published(const std::filesystem::path& file, const PublishedFile& published);

/// An Error on a file that is not what its publisher made, or, with another remedy, its user; the rest as in
/// Complaint.
[[noreturn]] void reject_file(const std::filesystem::path& file, std::string found, std::string allowed,
                              std::string remedy = "Replace the file with the publisher's");

}  // namespace fedarena
