#pragma once

#include <string>
#include <type_traits>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

namespace fedarena::test {

/// The message of the exception that `action` throws; a failure of the test when it throws none or another
/// one.
template <typename Exception = Error, typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

/// The message of the Error that `action` throws, or `otherwise`.
template <typename Action>
std::string message_or(const std::string& otherwise, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return otherwise;
}

/// Expects `action` to throw an Error whose message has this text in it, or is as a matcher says.
template <typename What, typename Action>
void expect_refused(const What& what, Action&& action, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  const testing::ScopedTrace caller(file, line, "what was to be refused");
  if constexpr (std::is_convertible_v<What, std::string>) {
    EXPECT_THAT(message_of(action), testing::HasSubstr(what));
  } else {
    EXPECT_THAT(message_of(action), what);
  }
}

}  // namespace fedarena::test
