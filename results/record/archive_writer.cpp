#include "results/record/archive_writer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena::results {
namespace {

constexpr int kReadableByAll = 0644;

la_ssize_t append_bytes(archive* /*writer*/, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

ArchiveWriter::ArchiveWriter(Kind kind) : writer_(archive_write_new(), archive_write_free) {
  if (kind == Kind::kZip) {
    check(archive_write_set_format_zip(writer_.get()));
    check(archive_write_zip_set_compression_store(writer_.get()));
  } else {
    check(archive_write_set_format_pax_restricted(writer_.get()));
    check(archive_write_add_filter_gzip(writer_.get()));
    check(archive_write_set_options(writer_.get(), "gzip:!timestamp"));
  }
  check(archive_write_set_bytes_in_last_block(writer_.get(), 1));  // no padding
  check(archive_write_open(writer_.get(), &text_, nullptr, append_bytes, nullptr));
}

void ArchiveWriter::add(const std::string& name, std::string_view content) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  const Utf8Names names;
  archive_entry_set_pathname_utf8(entry.get(), name.c_str());
  if (archive_entry_pathname(entry.get()) == nullptr)
    throw Error(Complaint{.found = fmt::format("{} cannot be named in an archive", fedarena::quoted(name)),
                          .remedy = "Install the locale C.UTF-8, or rename the folders to ASCII."});
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), kReadableByAll);
  check(archive_write_header(writer_.get(), entry.get()));
  if (archive_write_data(writer_.get(), content.data(), content.size()) < 0) check(ARCHIVE_FATAL);
}

std::string ArchiveWriter::finish() {
  check(archive_write_close(writer_.get()));
  return std::move(text_);
}

void ArchiveWriter::check(int status) const {
  if (status == ARCHIVE_OK) return;
  const char* reason = archive_error_string(writer_.get());
  throw Bug(fmt::format("an archive cannot be written: {}", reason != nullptr ? reason : "no reason known"));
}

}  // namespace fedarena::results
