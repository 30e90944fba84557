#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

namespace fedarena {

/// Something that an experiment can choose by name: a data set, a partition, a model, an algorithm, a policy.
struct CatalogEntry {
  std::string name;           ///< as experiments write it
  std::string summary;        ///< one sentence
  std::vector<Field> fields;  ///< its settings
  /// Of an algorithm: the policy without which experiments may not list it; empty: any.
  std::string requires_policy = {};
  /// Rules that span settings, where there are any: takes all of them, checked one by one, and throws an
  /// Error without a place. The place of the section is added.
  std::function<void(const Settings&)> check = {};
};

/// Everything that an experiment can choose from; whoever knows the registries fills it.
struct Catalog {
  std::vector<CatalogEntry> datasets;
  std::vector<CatalogEntry> partitions;  ///< each has the field "clients", an integer
  std::vector<CatalogEntry> models;
  std::vector<CatalogEntry> algorithms;
  std::vector<CatalogEntry> policies;  ///< among them "none", without fields
};

/// The entry of that name, or nullptr.
const CatalogEntry* find_entry(const std::vector<CatalogEntry>& entries, const std::string& name);

}  // namespace fedarena
