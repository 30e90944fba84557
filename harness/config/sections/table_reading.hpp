#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

#include "harness/config/sections/experiment.hpp"
#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// The setting's value, checked against a field of a catalog entry. A value that equals the default passes
/// even when it lies outside of the range. `owner`, where there is one, goes into the message.
Value checked_setting(const Setting& setting, const Field& field, const std::string& owner = "");

/// Stores every key that the section itself declares into `into`, the default where it is not given. Other
/// keys are left to `given_settings`; a section of fixed keys has none, and Error is thrown.
void read_keys(const Table& table, const SectionSpec& spec, const std::vector<SectionSpec>& specs,
               void* into);

/// The catalog entry of that name; Error at the place when the section offers none.
const CatalogEntry& chosen(const SectionSpec& spec, const std::string& name, const Place& place);

/// The entry's settings that the table gives, checked one by one. Error for keys that nobody declared.
Settings given_settings(const Table& table, const SectionSpec& spec, const CatalogEntry& entry,
                        const std::vector<SectionSpec>& specs);

/// Every setting of the entry: the given one, else the one of `inherited`, else the default.
Settings filled(const CatalogEntry& entry, const Settings& given, const Settings& inherited = {});

/// Applies the rules of the entry that span settings. Their Errors get the place of the override without
/// which the rules hold, else of the setting whose name they begin with, else of the table; one that is not
/// in the file has the place `elsewhere`.
void check_rules(const CatalogEntry& entry, const Settings& settings, const Table& table,
                 const Place& elsewhere);

/// Adds the names of the fields that are not among the names.
void add_names(std::vector<std::string>& names, const std::vector<Field>& fields);

/// What an algorithm's own section chooses, complete. What its table leaves out comes from `shared` when both
/// choose the same, else it is the default; without such a section it is `shared`. Throws Error.
Choice own_choice(const Table& algorithm, const SectionSpec& own, const Choice& shared,
                  const std::vector<SectionSpec>& specs);

/// Adds the paths of the shared section's settings that count for the algorithm: those that its own section
/// does not give, where it chooses the same.
void add_shared(std::vector<std::string>& paths, const Table& algorithm, const SectionSpec& own,
                const Table& shared, bool chooses_the_same);

/// Throws Error for an override of the shared section that no algorithm heeds, each having its own.
/// `is_taken`: whether some algorithm has a path among those that `add_shared` added.
void check_shared_overrides(const Table& shared_table, const SectionSpec& own,
                            const std::vector<Table>& algorithms,
                            const std::function<bool(const std::string& path)>& is_taken);

}  // namespace fedarena::config
