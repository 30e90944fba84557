#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fedarena {

/// Where the bytes of an HTTP answer lie in the whole file (RFC 9110, section 14.4). What is not said is
/// missing.
struct ContentRange {
  std::optional<std::int64_t> first, whole;
};

/// Reads "Content-Range: bytes FIRST-LAST/WHOLE", or "bytes */WHOLE" where the answer has none of them;
/// nothing when the header is another one.
std::optional<ContentRange> content_range(std::string_view header);

}  // namespace fedarena
