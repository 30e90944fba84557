#include "results/record/control_run.hpp"

#include <system_error>

#include "fedarena/base/file.hpp"

#include "results/record/resolved_settings.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {

bool is_control(const Summary& summary, const std::filesystem::path& run) {
  if (summary.audit) return summary.audit->control;
  if (!summary.privacy || summary.state == kFinished) return false;
  const std::filesystem::path file = run / kExperimentFile;
  std::error_code failure;
  if (!std::filesystem::is_regular_file(file, failure)) return false;
  const auto settings = resolved_settings(read_whole_file(file));
  const auto noise = settings.find("audit.noise");
  return noise != settings.end() && noise->second == "off";
}

}  // namespace fedarena::results
