#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "results/bundle/bundle.hpp"
#include "results/record/find_runs.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct BundleArguments {
  std::vector<fs::path> folders;
  fs::path output;
};

int run_bundle(const BundleArguments& arguments) {
  check_ending("--output", arguments.output, {".tar.gz", ".tgz"});
  const std::vector<results::FoundRun> runs = results::find_runs(arguments.folders);
  const results::BundleSize size =
      results::write_bundle(runs, results::run_names(runs, arguments.folders), arguments.output);
  print("{}: {}, {} files, {}\n", arguments.output.string(), counted(runs.size(), "run"), size.files,
        results::human_bytes(static_cast<double>(size.bytes)));
  return kSuccess;
}

}  // namespace

void add_bundle_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_bundle, "bundle",
                  "Pack finished runs into one file that can be verified and replayed elsewhere.");
  command.add_option("RUN", arguments.folders, "folders with run directories")->required();
  command.add_option("-o,--output", arguments.output, "the file to write, such as paper.fedarena.tar.gz")
      ->type_name("FILE")
      ->required();
}

}  // namespace fedarena
