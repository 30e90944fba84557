#pragma once

#include <clocale>

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

}  // namespace fedarena::results
