#pragma once

#include <gmock/gmock.h>

#include "tests/message_of.hpp"

namespace fedarena {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using test::expect_refused;
using test::message_of;

/// Matches a text that holds all of these, in any order.
template <typename... Parts>
auto has_all(const Parts&... parts) {
  return AllOf(HasSubstr(parts)...);
}

}  // namespace fedarena
