#include "harness/loader/elf_section.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string>
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
  explicit BoundedFile(std::istream& file) : file_(file), size_(file.seekg(0, std::ios::end).tellg()) {
    if (!file) throw Error::of("it cannot be loaded: it cannot be read");
  }

  std::uint64_t size() const { return size_; }

  void require(std::uint64_t offset, std::uint64_t bytes, const char* what) const {
    if (offset <= size_ && bytes <= size_ - offset) return;
    throw Error::of(
        "it cannot be loaded: {} ({} bytes at {}) ends beyond the file's {} bytes, it was cut short; "
        "build or copy it again",
        what, bytes, offset, size_);
  }

  template <typename T>
  std::vector<T> read(std::uint64_t offset, std::size_t count, const char* what) {
    require(offset, count * sizeof(T), what);
    std::vector<T> values(count);
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!file_) throw Error::of("it cannot be loaded: {} cannot be read", what);
    return values;
  }

 private:
  std::istream& file_;
  std::uint64_t size_;
};

// The header of the program or library that this code is in: what fits it fits this machine.
const Header& own_header() {
  Dl_info info;
  FEDARENA_CHECK(dladdr(reinterpret_cast<const void*>(&find_elf_section), &info), !=, 0);
  return *static_cast<const Header*>(info.dli_fbase);
}

Header read_header(BoundedFile& file) {
  const bool whole = file.size() >= sizeof(Header);
  const Header header = whole ? file.read<Header>(0, 1, "its header").front() : Header{};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    throw Error::of(
        "it cannot be loaded: it is not a shared library in ELF format; build it with fedarena_plugin()");
  }
  const Header& own = own_header();
  if (std::memcmp(header.e_ident, own.e_ident, EI_VERSION + 1) != 0 || header.e_machine != own.e_machine) {
    throw Error::of(
        "it cannot be loaded: it was built for another machine (ELF class {}, byte order {}, machine {}; "
        "allowed: "
        "{}, {}, {}); build it on this one",
        header.e_ident[EI_CLASS], header.e_ident[EI_DATA], header.e_machine, own.e_ident[EI_CLASS],
        own.e_ident[EI_DATA], own.e_machine);
  }
  if (header.e_type != ET_DYN || (header.e_phnum != 0 && header.e_phentsize != sizeof(Segment)) ||
      (header.e_shnum != 0 && header.e_shentsize != sizeof(Section))) {
    throw Error::of(
        "it cannot be loaded: its ELF header is not that of a shared library; build it with "
        "fedarena_plugin()");
  }
  return header;
}

}  // namespace

std::optional<ElfSection> find_elf_section(std::istream& stream, std::string_view name) {
  BoundedFile file(stream);
  const Header header = read_header(file);
  for (const Segment& segment : file.read<Segment>(header.e_phoff, header.e_phnum, "its segment table")) {
    file.require(segment.p_offset, segment.p_filesz, "a program segment");
  }
  const std::vector<Section> sections =
      file.read<Section>(header.e_shoff, header.e_shnum, "its section table");
  for (const Section& section : sections) {
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) continue;
    file.require(section.sh_offset, section.sh_size, "a section");
  }
  if (header.e_shstrndx >= sections.size()) return std::nullopt;
  const Section& names = sections[header.e_shstrndx];
  for (const Section& section : sections) {
    const std::size_t length = name.size() + 1;  // with the zero that ends it
    if (section.sh_type != SHT_PROGBITS || section.sh_name > names.sh_size ||
        names.sh_size - section.sh_name < length) {
      continue;
    }
    const std::vector<char> found =
        file.read<char>(names.sh_offset + section.sh_name, length, "a section's name");
    if (found.back() == '\0' && std::equal(name.begin(), name.end(), found.begin())) {
      return ElfSection{section.sh_offset, section.sh_size};
    }
  }
  return std::nullopt;
}

}  // namespace fedarena
