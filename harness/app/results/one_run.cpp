#include "harness/app/results/one_run.hpp"

#include <vector>

#include "fedarena/base/error.hpp"

#include "results/record/find_runs.hpp"

namespace fedarena {

results::RunDirectory open_one_run(const std::filesystem::path& path) {
  const std::vector<results::FoundRun> found = results::find_runs(std::vector{path});
  if (found.size() > 1) {
    throw Error(
        Complaint{.place = {.file = path.string()},
                  .found = fmt::format("holds {} runs", found.size()),
                  .allowed = "one run",
                  .remedy = fmt::format("Name one of them, such as {}.", found.front().path.string())});
  }
  return results::RunDirectory::open(found.front().path);
}

}  // namespace fedarena
