#pragma once

#include <string>

#include <gtest/gtest.h>

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

}  // namespace fedarena::test
