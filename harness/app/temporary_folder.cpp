#include "harness/app/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "fedarena/base/error.hpp"

#include "harness/app/stop_on_signal.hpp"
#include "results/record/durable_file.hpp"

namespace fedarena {

TemporaryFolder::TemporaryFolder() : stop_(stop_on_signal()) {
  std::error_code failure;
  const std::filesystem::path place = std::filesystem::temp_directory_path(failure);
  if (failure) {
    const char* const chosen = std::getenv("TMPDIR");
    results::fail_on_file(chosen == nullptr ? "/tmp" : chosen, "cannot hold temporary files",
                          failure.value());
  }
  std::string pattern = (place / "fedarena-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) results::fail_on_file(pattern, "cannot be created", errno);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryFolder::check_stop() const {
  if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace fedarena
