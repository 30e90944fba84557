#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// A position in a user's file; lines and columns count from 1, 0 means unknown.
struct FEDARENA_API Place {
  std::string file = {};
  int line = 0;
  int column = 0;

  /// "file:line:column", without the parts that are unknown.
  std::string str() const;
};

/// What a user needs to mend a mistake. Empty parts are left out of the message, long ones cut at 2,000
/// bytes.
struct FEDARENA_API Complaint {
  Place place = {};          ///< where
  std::string found = {};    ///< what was found there, as a sentence without a full stop
  std::string allowed = {};  ///< what is allowed instead
  std::string nearest = {};  ///< the nearest valid name
  std::string remedy = {};   ///< what to do, as a sentence without a full stop
};

/// A mistake in something the user gave: a file, a plugin, a command line. The program prints the
/// message and exits with 2. Bugs of ours hit FEDARENA_CHECK instead.
class FEDARENA_API Error : public std::runtime_error {
 public:
  explicit Error(Complaint complaint);

  /// An error without a place, from a format string: `Error::of("no plugin {}", name)`.
  template <typename... Args>
  static Error of(fmt::format_string<Args...> format, Args&&... args) {
    return Error(Complaint{.found = fmt::format(format, std::forward<Args>(args)...)});
  }

  /// An error at a place; what is allowed, what is nearest and the remedy are in `rest`, if anywhere.
  static Error at(Place place, std::string found, Complaint rest = {});
  /// The same in a file (a path or its name), or in what stands in a file's place: an option with its value.
  template <typename File>
  static Error in(const File& file, std::string found, Complaint rest = {}) {
    if constexpr (requires { file.string(); }) {
      return at({.file = file.string()}, std::move(found), std::move(rest));
    } else {
      return at({.file = std::string(file)}, std::move(found), std::move(rest));
    }
  }

  const Complaint& complaint() const { return complaint_; }

 private:
  Complaint complaint_;
};

/// A broken invariant of ours; never caused by input.
class FEDARENA_API Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The user asked to stop (Ctrl-C). Thrown out of long work so that a resumable run is left.
class FEDARENA_API Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

namespace detail {
[[noreturn]] FEDARENA_API void fail_check(std::string_view condition, std::string_view values,
                                          std::string_view file, int line);
}  // namespace detail

}  // namespace fedarena

/// Throws Bug with the operands when `left op right` does not hold.
#define FEDARENA_CHECK(left, op, right)                                                                  \
  do {                                                                                                   \
    const auto& fedarena_left = (left);                                                                  \
    const auto& fedarena_right = (right);                                                                \
    if (!(fedarena_left op fedarena_right))                                                              \
      ::fedarena::detail::fail_check(#left " " #op " " #right,                                           \
                                     ::fmt::format("{} vs {}", fedarena_left, fedarena_right), __FILE__, \
                                     __LINE__);                                                          \
  } while (false)
