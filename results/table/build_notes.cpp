#include "results/table/build_notes.hpp"

#include <cstdint>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/record/run_setup.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// The seeds of a row by the SHA-256 of what ran them.
using Builds = std::map<std::string, std::vector<std::int64_t>>;

// The builds of a row by what they are builds of.
using RowBuilds = std::map<std::string, Builds, NaturalOrder>;

// A text of an object; empty where it lacks it.
std::string text_at(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void add(RowBuilds& builds, const FoundRun& run) {
  const Summary& summary = *run.summary;
  Json environment;
  try {
    environment = read_environment(run.path);
  } catch (const Error&) {  // what shows environments names it
    return;
  }
  const auto add_build = [&](const std::string& what, const std::string& hash) {
    if (!hash.empty()) builds[what][hash].push_back(summary.seed);
  };
  add_build("fedarena", text_at(environment, "program_sha256"));
  const Json plugin = plugin_of(environment, summary.algorithm);
  add_build("the plugin " + text_at(plugin, "name"), text_at(plugin, "sha256"));
}

}  // namespace

std::vector<std::string> build_notes(std::span<const RowRuns> rows, std::span<const std::string> names) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowBuilds row;
    for (const FoundRun* run : rows[i].runs) add(row, *run);
    for (const auto& [what, builds] : row) {
      if (builds.size() < 2) continue;
      std::vector<std::string> texts;
      for (const auto& [hash, seeds] : builds)
        texts.push_back(fmt::format("{} (SHA-256 {})", seeds_text(seeds), short_hash(hash)));
      notes.push_back(fmt::format("{}: its seeds were run by different builds of {}: {}", names[i], what,
                                  fmt::join(texts, "; ")));
    }
  }
  return notes;
}

}  // namespace fedarena::results
