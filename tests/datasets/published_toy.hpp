#pragma once

#include <cstdint>
#include <string>

#include "datasets/published/published_files.hpp"

namespace fedarena::test {

/// A file as if `content` had been published under that name.
inline PublishedFile published(const std::string& name, const std::string& content) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(content.data());
  return {name, static_cast<std::int64_t>(content.size()), sha256_of({bytes, content.size()})};
}

}  // namespace fedarena::test
