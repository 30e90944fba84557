#include "results/bundle/bundled_files.hpp"

#include <algorithm>

#include "results/record/run_directory.hpp"

namespace fedarena::results {

namespace fs = std::filesystem;

std::vector<std::string> record_files(const fs::path& run) {
  std::vector<std::string> names;
  for (const char* name : {kExperimentFile, kEnvironmentFile, kPartitionFile, kRoundsFile, kLedgerFile,
                           kClientsFile, kSummaryFile}) {
    if (fs::is_regular_file(run / name)) names.emplace_back(name);
  }
  const SyntheticFolder synthetic(run);
  for (const std::int64_t round : synthetic.rounds()) {
    for (const fs::directory_entry& entry : fs::directory_iterator(synthetic.folder_of(round))) {
      if (entry.is_regular_file() && entry.path().extension() == ".npy") {
        names.push_back(entry.path().lexically_relative(run).generic_string());
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fedarena::results
