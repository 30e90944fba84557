#include "results/bundle/build_difference.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "results/record/environment_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// A program's digest tells builds of one commit apart.
constexpr std::array<const char*, 9> kFields = {
    "fedarena", "commit", "program_sha256", "compiler", "libtorch", "sdk_abi", "blas", "processor", "device"};

// Enough of a digest for an eye.
constexpr std::size_t kShownDigits = 12;

std::string shown(const Json* value, std::string_view field) {
  if (value == nullptr) return "not recorded";
  const std::string text = one_line(value->is_string() ? value->get<std::string>() : json_text(*value, -1));
  return field.ends_with("sha256") ? text.substr(0, kShownDigits) : text;
}

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

void compare(const Json& recorded, const Json& replayed, const char* field, const std::string& name,
             std::vector<std::string>& differences) {
  const Json* left = member(recorded, field);
  const Json* right = member(replayed, field);
  if (left != nullptr && right != nullptr && *left == *right) return;
  differences.push_back(fmt::format("{} {}, now {}", name, shown(left, field), shown(right, field)));
}

}  // namespace

std::vector<std::string> build_differences(const std::filesystem::path& recorded,
                                           const std::filesystem::path& replayed) {
  const Json left = read_environment(recorded);
  const Json right = read_environment(replayed);
  std::vector<std::string> differences;
  for (const char* field : kFields) compare(left, right, field, field, differences);
  const std::string algorithm = RunDirectory::open(recorded).summary().algorithm;
  for (const char* field : {"version", "sha256"}) {
    compare(plugin_of(left, algorithm), plugin_of(right, algorithm), field,
            fmt::format("{} of the plugin of {}", field, algorithm), differences);
  }
  return differences;
}

}  // namespace fedarena::results
