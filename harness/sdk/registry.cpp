#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"
#include "fedarena/plugin.hpp"

namespace fedarena {

namespace {

// Runs lie in folders of that name.
void check_name(const std::string& name) {
  if (is_folder_name(name)) return;
  throw Error(Complaint{.found = fmt::format("an algorithm is called {}", to_text(Value(name))),
                        .allowed = kFolderNameRule});
}

// Keys of [[algorithms]] that are none of the algorithm's.
constexpr std::array<std::string_view, 3> kReserved = {"name", "label", "privacy"};

// Settings are keys of files and of records.
void check_settings(const AlgorithmInfo& info) {
  std::set<std::string> names;
  for (const Field& field : info.fields) {
    const auto refuse = [&](const std::string& found, const std::string& allowed) {
      throw Error(Complaint{.found = fmt::format("the setting {} of algorithm \"{}\" {}",
                                                 to_text(Value(field.name)), info.name, found),
                            .allowed = allowed});
    };
    const auto fits = [](char letter) { return is_letter_or_digit(letter) || letter == '_'; };
    if (field.name.empty() || !std::ranges::all_of(field.name, fits))
      refuse("has a name that no key of a file has", "letters, digits and '_'");
    if (contains(kReserved, field.name))
      refuse("has a name that [[algorithms]] needs for itself", "any but \"name\", \"label\", \"privacy\"");
    if (!names.insert(field.name).second) refuse("is declared twice", "one of a name");
    try {
      (void)field.checked(field.fallback);
    } catch (const Error& error) {
      refuse("has a default that it does not allow: " + error.complaint().found, error.complaint().allowed);
    }
  }
}

}  // namespace

void Registry::add(AlgorithmInfo info) {
  check_name(info.name);
  check_settings(info);
  if (const AlgorithmInfo* taken = find(info.name)) {
    throw Error::of("the algorithm name \"{}\" is already taken by {}", info.name,
                    taken->library.empty() ? "the same plugin" : taken->library);
  }
  algorithms_.push_back(std::move(info));
}

const AlgorithmInfo* Registry::find(std::string_view name) const {
  return find_named(algorithms_, name, &AlgorithmInfo::name);
}

}  // namespace fedarena
