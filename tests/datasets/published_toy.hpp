#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datasets/published/published_files.hpp"

namespace fedarena::test {

/// A member of an archive: a file, or a symbolic link to `link`.
struct Member {
  std::string path;
  std::string content = {};
  std::string link = {};
};

namespace detail {

// What libarchive writes in that form.
inline std::string packed(int (*set_format)(archive*), const std::vector<Member>& members) {
  std::string bytes(1 << 24, 0);
  std::size_t used = 0;
  const std::unique_ptr<archive, int (*)(archive*)> writer(archive_write_new(), archive_write_free);
  archive_write_add_filter_gzip(writer.get());
  archive_write_set_options(writer.get(), "gzip:!timestamp");  // the same bytes whenever it is called
  set_format(writer.get());
  archive_write_open_memory(writer.get(), bytes.data(), bytes.size(), &used);
  for (const Member& member : members) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), member.path.c_str());
    archive_entry_set_filetype(entry.get(), member.link.empty() ? AE_IFREG : AE_IFLNK);
    if (!member.link.empty()) archive_entry_set_symlink(entry.get(), member.link.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
    archive_entry_set_perm(entry.get(), 0644);
    EXPECT_EQ(archive_write_header(writer.get(), entry.get()), ARCHIVE_OK);
    archive_write_data(writer.get(), member.content.data(), member.content.size());
  }
  EXPECT_EQ(archive_write_close(writer.get()), ARCHIVE_OK);
  bytes.resize(used);
  return bytes;
}

}  // namespace detail

/// A .tar.gz.
inline std::string tar_gz(const std::vector<Member>& members) {
  return detail::packed(archive_write_set_format_ustar, members);
}

/// A .gz of one file.
inline std::string gz(const std::string& content) {
  return detail::packed(archive_write_set_format_raw, {{.path = "any", .content = content}});
}

/// Bytes in which no stretch resembles another, and which do not compress; others for another seed.
inline std::string noise(std::size_t size, std::uint32_t seed = 1) {
  std::string bytes(size, 0);
  for (char& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

/// A file as if `content` had been published under that name.
inline PublishedFile published(const std::string& name, const std::string& content) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(content.data());
  return {name, static_cast<std::int64_t>(content.size()), sha256_of({bytes, content.size()})};
}

}  // namespace fedarena::test
