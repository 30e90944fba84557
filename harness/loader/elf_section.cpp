#include "harness/loader/elf_section.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <vector>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);

// A file of which nothing is believed. Mapping one that was cut short, as dlopen does, would end the program.
class BoundedFile {
 public:
  explicit BoundedFile(std::istream& file) : file_(file), size_(file.seekg(0, std::ios::end).tellg()) {}

  void require(std::uint64_t offset, std::uint64_t bytes, const char* what) const {
    if (offset <= size_ && bytes <= size_ - offset) return;
    throw Error::of(
        "it cannot be loaded: {} ({} bytes at {}) ends beyond the file's {} bytes, it was cut short; "
        "build or copy it again",
        what, bytes, offset, size_);
  }

  template <typename T>
  std::vector<T> read(std::uint64_t offset, std::size_t count, const char* what) {
    const std::size_t bytes = count * sizeof(T);
    require(offset, bytes, what);
    std::vector<T> values(count);
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
    if (!file_) throw Error::of("it cannot be loaded: {} cannot be read", what);
    return values;
  }

  Header header() {
    Dl_info here;  // the header of the program that this code is in says what fits this machine
    FEDARENA_CHECK(dladdr(reinterpret_cast<const void*>(&elf_section), &here), !=, 0);
    const auto& own = *static_cast<const Header*>(here.dli_fbase);
    const Header header = size_ < sizeof(Header) ? Header{} : read<Header>(0, 1, "its header").front();
    if (std::memcmp(header.e_ident, own.e_ident, EI_VERSION + 1) != 0 || header.e_machine != own.e_machine ||
        header.e_type != ET_DYN || (header.e_phnum != 0 && header.e_phentsize != sizeof(Segment)) ||
        (header.e_shnum != 0 && header.e_shentsize != sizeof(Section))) {
      throw Error::of(
          "it cannot be loaded: it is not a shared library (ELF) of this machine; "
          "build it here with fedarena_plugin()");
    }
    return header;
  }

 private:
  std::istream& file_;
  std::uint64_t size_;
};

}  // namespace

std::optional<std::string> elf_section(std::istream& stream, std::string_view name) {
  BoundedFile file(stream);
  const Header header = file.header();
  for (const Segment& segment : file.read<Segment>(header.e_phoff, header.e_phnum, "its segment table")) {
    file.require(segment.p_offset, segment.p_filesz, "a program segment");
  }
  const auto sections = file.read<Section>(header.e_shoff, header.e_shnum, "its section table");
  for (const Section& section : sections) {
    if (section.sh_type != SHT_NOBITS) file.require(section.sh_offset, section.sh_size, "a section");
  }
  if (header.e_shstrndx >= sections.size()) return std::nullopt;
  const auto content = [&](const Section& section) {
    const std::size_t size = std::min<std::uint64_t>(section.sh_size, 1 << 16);
    const std::vector<char> bytes = file.read<char>(section.sh_offset, size, "a section");
    return std::string(bytes.begin(), bytes.end());
  };
  const std::string names = content(sections[header.e_shstrndx]);
  const std::string wanted = std::string(name) + '\0';
  for (const Section& section : sections) {
    if (section.sh_type == SHT_PROGBITS && section.sh_name < names.size() &&
        names.compare(section.sh_name, wanted.size(), wanted) == 0) {
      return content(section);
    }
  }
  return std::nullopt;
}

}  // namespace fedarena
