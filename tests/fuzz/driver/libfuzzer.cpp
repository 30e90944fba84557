// The same readers under libFuzzer: PROGRAM TARGET CORPUS [OPTION...], or PROGRAM list. The seeds of a target
// go into its corpus first. scripts/fuzz builds and calls it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "tests/fuzz/driver/mutation.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are libFuzzer's
extern "C" int LLVMFuzzerInitialize(int* count, char*** words);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most,
                                               unsigned int seed);

namespace {

using fedarena::fuzz::Target;

Target chosen;

[[noreturn]] void list_targets(const std::vector<Target>& targets) {
  for (const Target& target : targets) fmt::print("{}\n", target.name);
  std::exit(0);
}

void write_seeds(const std::filesystem::path& corpus) {
  std::filesystem::create_directories(corpus);
  for (std::size_t i = 0; i < chosen.seeds.size(); ++i)
    std::ofstream(corpus / fmt::format("seed-{}", i), std::ios::binary) << chosen.seeds[i];
}

}  // namespace

int LLVMFuzzerInitialize(int* count, char*** words) {
  // Commands are read with stderr in a file.
  __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(::dup(STDERR_FILENO))));
  std::vector<Target> targets = fedarena::fuzz::targets();
  const std::string name = *count > 1 ? (*words)[1] : "list";
  if (name == "list") list_targets(targets);
  const auto found = std::ranges::find(targets, name, &Target::name);
  if (found == targets.end() || *count < 3) {
    fmt::print(stderr, "usage: PROGRAM TARGET CORPUS [OPTION OF LIBFUZZER...], or PROGRAM list\n");
    std::exit(2);
  }
  chosen = std::move(*found);
  write_seeds((*words)[2]);
  std::copy(*words + 2, *words + *count, *words + 1);
  --*count;
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    chosen.read({reinterpret_cast<const char*>(bytes), size});
  } catch (const fedarena::Error& error) {
    fedarena::fuzz::require(!error.complaint().found.empty(), "an Error without a word");
  }
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most,
                                    unsigned int seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(bytes, size, most);
  fedarena::Stream stream({.seed = seed});
  const std::string changed =
      fedarena::fuzz::mutated(chosen, std::string(reinterpret_cast<const char*>(bytes), size), stream);
  const std::size_t kept = std::min(changed.size(), most);
  std::copy_n(changed.begin(), kept, bytes);
  return kept;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
