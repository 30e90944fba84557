#pragma once

#include <clocale>
#include <memory>
#include <string>
#include <string_view>

struct archive;

namespace fedarena::results {

/// While it lives, libarchive takes names on this thread as UTF-8: it asks the locale what they are, and in
/// that of a program that never chose one it has no name for what is not ASCII.
class Utf8Names {
 public:
  Utf8Names() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), before_(uselocale(utf8_)) {}
  ~Utf8Names() {
    uselocale(before_);
    if (utf8_ != nullptr) freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_, before_;  // `utf8_`: null where the system has no such locale
};

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
