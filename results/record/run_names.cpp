#include "results/record/run_names.hpp"

#include <system_error>
#include <utility>

#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// Also of what vanishes meanwhile.
fs::path real_path(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(path, ignored);
}

fs::path common_part(const fs::path& left, const fs::path& right) {
  fs::path common;
  for (auto [a, b] = std::pair(left.begin(), right.begin()); a != left.end() && b != right.end() && *a == *b;
       ++a, ++b) {
    common /= *a;
  }
  return common;
}

// The folder that holds all of these, where a run counts as what its folder holds.
fs::path base_of(std::span<const fs::path> folders) {
  fs::path base;
  for (const fs::path& folder : folders) {
    fs::path real = real_path(folder);
    if (fs::exists(real / kSummaryFile)) real = real.parent_path();
    base = base.empty() ? real : common_part(base, real);
  }
  return base;
}

}  // namespace

std::vector<std::string> run_names(std::span<const FoundRun> runs, std::span<const fs::path> folders) {
  const fs::path base = base_of(folders);
  std::vector<std::string> names;
  names.reserve(runs.size());
  for (const FoundRun& run : runs) {
    names.push_back(real_path(run.path).lexically_relative(base).generic_string());
  }
  return names;
}

}  // namespace fedarena::results
