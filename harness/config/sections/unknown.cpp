#include "harness/config/sections/unknown.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/config/syntax/document.hpp"

namespace fedarena::config {
namespace {

// Nobody reads the names of more algorithms that have a key.
constexpr std::size_t kMostOwners = 4;

constexpr std::string_view kListRemedy = "write [[algorithms]], once for each algorithm";

constexpr const char* kEpsilonRemedy =
    "the ledger computes epsilon; no file can state it; \"noise_for_epsilon\" in [privacy] finds the noise "
    "for one, and \"budget\" ends a run before it";

bool names_epsilon(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
  });
  return key.find("epsilon") != std::string::npos;
}

// An algorithm's own section goes before the one that it replaces: who writes of an algorithm means it alone.
const SectionSpec& nearer(const SectionSpec& spec, const SectionSpec* section) {
  if (section == nullptr) return spec;
  if (section->key() == spec.name) return *section;
  const SectionSpec* own = section->find_own(spec.name);
  return own == nullptr ? spec : *own;
}

// Where a key found in `section` could stand: "[experiment]", "[model] with name = "mlp"".
std::vector<std::string> homes_of(const std::string& key, const SectionSpec* section,
                                  const std::vector<SectionSpec>& specs) {
  std::vector<std::string> homes;
  for (const SectionSpec& any : specs) {
    const SectionSpec& spec = nearer(any, section);
    // Who writes a seed elsewhere hardly means that of trials.
    if (spec.kind == SectionSpec::Kind::kTuning) continue;
    if (spec.find(key) != nullptr) homes.push_back(spec.header());
    if (spec.kind != SectionSpec::Kind::kChoice && spec.kind != SectionSpec::Kind::kAlgorithms) continue;
    std::vector<std::string> owners;
    for (const CatalogEntry& entry : *spec.entries) {
      if (find_field(entry.fields, key) != nullptr) owners.push_back(in_quotes(entry.name));
    }
    if (owners.empty()) continue;
    const bool all = owners.size() == spec.entries->size();
    if (spec.kind == SectionSpec::Kind::kAlgorithms && (all || owners.size() > kMostOwners) &&
        (section == nullptr || section->name != kTraining)) {
      homes.push_back(fmt::format("[{}]", kTraining));
    } else if (all) {
      homes.push_back(spec.header());
    } else {
      homes.push_back(fmt::format("{} with {} = {}", spec.header(), spec.keys.front().field.name,
                                  fmt::join(owners, " or ")));
    }
  }
  return homes;
}

std::string home_remedy(const std::string& key, const SectionSpec* section,
                        const std::vector<SectionSpec>& specs) {
  const std::vector<std::string> homes = homes_of(key, section, specs);
  std::string home =
      homes.empty() ? "" : fmt::format("{} belongs in {}", in_quotes(key), fmt::join(homes, ", or in "));
  // Who writes "epsilon" means a run's, even where a policy or an algorithm has a setting of that name.
  if (!names_epsilon(key) || (!homes.empty() && key != "epsilon")) return home;
  return kEpsilonRemedy + (home.empty() ? "" : "; " + home);
}

// Of a key that other programs call so, where it could stand.
std::string home_of_ours(const std::string& key, const SectionSpec* section,
                         const std::vector<SectionSpec>& specs) {
  const std::string ours = our_name(key);
  const std::vector<std::string> homes =
      ours.empty() ? std::vector<std::string>() : homes_of(ours, section, specs);
  if (homes.empty()) return {};
  return fmt::format("it is called {} here, which belongs in {}", in_quotes(ours),
                     fmt::join(homes, ", or in "));
}

std::string headers(const std::vector<SectionSpec>& specs) {
  return join_names(names_of(specs, &SectionSpec::header));
}

}  // namespace

void complain_unknown_key(const std::string& key, const Place& place, const SectionSpec& section,
                          const std::vector<std::string>& known, const std::vector<SectionSpec>& specs) {
  std::string remedy = home_remedy(key, &section, specs);
  if (remedy.empty() && !contains(known, our_name(key))) remedy = home_of_ours(key, &section, specs);
  complain({.place = place,
            .found = fmt::format("unknown key {} in {}", in_quotes(key), section.header()),
            .allowed = known.empty() ? "no keys" : join_names(known),
            // A name that is right elsewhere is not a slip of the pen.
            .nearest = remedy.empty() ? nearest_to(key, known) : "",
            .remedy = remedy});
}

void complain_unknown_section(const std::string& name, const Place& place,
                              const std::vector<SectionSpec>& specs) {
  const std::string nearest = nearest_to(name, names_of(specs, &SectionSpec::name));
  std::string remedy;
  if (nearest == "algorithms") remedy = kListRemedy;
  if (names_epsilon(name)) remedy = home_remedy(name, nullptr, specs);
  complain({.place = place,
            .found = "unknown section " + in_quotes(name),
            .allowed = headers(specs),
            .nearest = nearest,
            .remedy = std::move(remedy)});
}

void complain_homeless_key(const std::string& key, const Place& place,
                           const std::vector<SectionSpec>& specs) {
  complain({.place = place,
            .found = fmt::format("{} stands outside every section", in_quotes(key)),
            .allowed = headers(specs),
            .remedy = home_remedy(key, nullptr, specs)});
}

}  // namespace fedarena::config
