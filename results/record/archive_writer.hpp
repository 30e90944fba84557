#pragma once

#include <memory>
#include <string>
#include <string_view>

struct archive;

namespace fedarena::results {

/// An archive in memory, without times, owners or anything else that is not its content: the same files give
/// the same bytes.
class ArchiveWriter {
 public:
  enum class Kind {
    kTarGzip,
    kZip,  ///< not compressed
  };
  explicit ArchiveWriter(Kind kind);

  /// Adds a file. Throws Error for a name that the archive cannot hold.
  void add(const std::string& name, std::string_view content);
  /// The bytes of the whole; nothing can be added any more.
  std::string finish();

 private:
  void check(int status) const;

  std::string text_;
  std::unique_ptr<archive, int (*)(archive*)> writer_;
};

}  // namespace fedarena::results
