#include "harness/runner/plan/catalog.hpp"

#include <set>

#include "datasets/registry.hpp"
#include "harness/config/sections/sections.hpp"
#include "harness/models/zoo.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/runner/plan/weights_file.hpp"
#include "partitions/partition.hpp"

namespace fedarena {

Catalog make_catalog(const PluginHost& host) {
  Catalog catalog;
  for (const std::string& name : dataset_names()) {
    const DatasetSource& source = dataset_source(name);
    catalog.datasets.push_back({.name = name,
                                .summary = source.summary,
                                .fields = source.fields,
                                .check = [name](const Settings& settings) { check_dataset(name, settings); },
                                .required = source.required});
  }
  catalog.proxies = proxies_among(catalog.datasets);
  for (const std::string& kind : partition_names()) {
    catalog.partitions.push_back(
        {.name = kind,
         .summary = partition_summary(kind),
         .fields = partition_fields(kind),
         .check = [kind](const Settings& settings) { check_partition_settings(kind, settings); }});
  }
  for (const ModelInfo& model : model_zoo()) {
    CatalogEntry& entry = catalog.models.emplace_back(CatalogEntry{.name = model.name,
                                                                   .summary = model.summary,
                                                                   .fields = model.fields,
                                                                   .check = check_weights_settings});
    for (const Field& field : weights_fields()) entry.fields.push_back(field);
  }
  for (const AlgorithmInfo& algorithm : host.registry().algorithms()) {
    catalog.algorithms.push_back({.name = algorithm.name,
                                  .summary = algorithm.description.summary,
                                  .fields = algorithm.fields,
                                  .requires_policy = algorithm.description.requires_policy,
                                  .requires_proxy = algorithm.description.requires_proxy,
                                  .one_round = algorithm.description.one_round,
                                  .requires_classes = algorithm.description.requires_classes});
  }
  for (const PolicyInfo& policy : policies()) {
    catalog.policies.push_back({.name = policy.name,
                                .summary = policy.summary,
                                .fields = policy.fields,
                                .check = [make = policy.make](const Settings& settings) { make(settings); }});
  }
  return catalog;
}

std::vector<std::string> policy_settings() {
  const Catalog catalog = make_catalog(PluginHost());
  const std::vector<config::SectionSpec> specs = config::sections(catalog);
  const config::SectionSpec& section = *config::find_spec(specs, config::kPrivacy);
  std::set<std::string> names;
  for (const config::Key& key : section.keys) names.insert(key.name());
  for (const CatalogEntry& policy : *section.entries) {
    for (const Field& field : policy.fields) names.insert(field.name);
  }
  return {names.begin(), names.end()};
}

}  // namespace fedarena
