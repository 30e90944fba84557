#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/algorithm.hpp"
#include "fedarena/plugin.hpp"

namespace fedarena {

/// What came of one plugin file.
struct PluginReport {
  std::filesystem::path library;
  std::string name = {}, version = {};  ///< empty when the file could not be read that far
  std::vector<std::string> algorithms = {};
  std::string problem = {};  ///< why it is not in use; empty when it is
};

/// Finds, checks and loads plugins. A loaded plugin is never unloaded: exceptions and objects of its types
/// may live until the end. A broken plugin is reported and does not stop the others.
class PluginHost {
 public:
  PluginHost() = default;
  /// A plugin with a setting of such a name is not in use: tables and sweeps know it as another's, that of
  /// the privacy policy.
  explicit PluginHost(std::vector<std::string> policy_settings)
      : policy_settings_(std::move(policy_settings)) {}

  /// Loads every plugin in the folder, in order of file name. Error when the folder does not exist.
  void load_folder(const std::filesystem::path& folder);

  const Registry& registry() const { return registry_; }
  const std::vector<PluginReport>& reports() const { return reports_; }
  /// The algorithm with those settings; what it throws is translated so that it names plugin, algorithm and
  /// call (see `guarded`). Error with the nearest name when there is none.
  std::unique_ptr<const Algorithm> create(const std::string& algorithm, const Settings& settings) const;
  /// The description of that algorithm; Error with the nearest name when there is none.
  const AlgorithmInfo& info(const std::string& algorithm) const;

 private:
  // Loads a plugin that fits; `try_first`: in a copy of the process.
  void load(PluginReport& report, bool try_first);

  void check_settings(const AlgorithmInfo& info) const;

  std::vector<std::string> policy_settings_;
  Registry registry_;
  std::vector<PluginReport> reports_;
};

/// Where plugins are looked for: beside the running program (build tree or installation), then `given`, then
/// the entries of FEDARENA_PLUGIN_PATH (separated by colons).
std::vector<std::filesystem::path> plugin_folders(std::span<const std::filesystem::path> given);

}  // namespace fedarena
