#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"

#include "datasets/fetch/fetch.hpp"
#include "harness/app/data/data_options.hpp"
#include "harness/app/options.hpp"
#include "harness/app/stop_on_signal.hpp"
#include "harness/runner/progress/progress_line.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct FetchArguments {
  std::string name, from;
  fs::path to;
};

void check_fetchable(const std::string& name) {
  const PublishedFiles& files = dataset_source(name).files;
  switch (dataset_source(name).origin) {
    case DatasetOrigin::kDrawn:
      throw Error::of("there is nothing to fetch: the program draws \"{}\" itself", name);
    case DatasetOrigin::kOwn:
      throw Error(
          Complaint{.found = fmt::format("there is nothing to fetch: the files of \"{}\" are your own", name),
                    .remedy = "Name them in the setting path"});
    case DatasetOrigin::kFiles:
      break;
  }
  if (can_be_fetched(name)) return;
  throw Error(Complaint{
      .found = fmt::format(
          "\"{}\" cannot be fetched: no SHA-256 is known that would tell its files from others", name),
      .remedy = fmt::format("Put its files into {}/ below a folder of FEDARENA_DATA; {}",
                            files.folders.front(), files.origin)});
}

// Whether runs find the files without further ado.
bool is_found(const std::string& name, const fs::path& folder) {
  const SearchPath search_path = default_search_path();
  try {
    std::error_code ignored;
    return fs::equivalent(folder_of(name, find_dataset(name, {}, search_path), search_path), folder, ignored);
  } catch (const Error&) {
    return false;
  }
}

// How far a file's transfer is; `whole` is 0 where its size is unknown.
std::string transfer_text(const std::string& name, std::int64_t done, std::int64_t whole) {
  const std::string amount = results::human_bytes(static_cast<double>(done));
  if (whole == 0) return fmt::format("{}: {}", name, amount);
  return fmt::format("{}: {} of {}, {:.0f} %", name, amount, results::human_bytes(static_cast<double>(whole)),
                     100 * static_cast<double>(done) / static_cast<double>(whole));
}

int run_fetch(const FetchArguments& arguments) {
  check_fetchable(arguments.name);
  const PublishedFiles& wanted = dataset_source(arguments.name).files;
  const fs::path folder =
      fetch_folder(wanted, arguments.to.empty() ? default_search_path() : SearchPath{arguments.to});
  const std::atomic<bool>& stop_requested = stop_on_signal();
  ProgressLine progress(stderr);
  const auto say = [&](const std::string& sentence) {
    progress.clear();
    print("{}\n", results::one_line(sentence));
    std::fflush(stdout);
  };
  const auto update = [&](const std::string& name, std::int64_t done, std::int64_t whole) {
    progress.draw([&](std::size_t room) { return transfer_text(name, done, whole).substr(0, room); });
    return !stop_requested;
  };
  try {
    fetch_published(wanted, folder, {.from = arguments.from}, {.say = say, .progress = update});
  } catch (const Interrupted&) {
    progress.clear();
    print(stderr, "Stopped; what has come is kept. The same command goes on from there.\n");
    return kInterrupted;
  }
  say(fmt::format("{}: all {} files are in {}", arguments.name, wanted.files.size(), folder.string()));
  if (!is_found(arguments.name, folder))
    say(fmt::format("Set FEDARENA_DATA to {} for runs that use them.", fs::absolute(arguments.to).string()));
  return kSuccess;
}

}  // namespace

void add_data_fetch(CLI::App& data, Action& action) {
  const auto [command, arguments] = add_command(
      data, action, run_fetch, "fetch",
      "Bring the published files of a data set; good ones that are there are kept, wrong ones replaced.");
  add_dataset_name(command, arguments.name)->required();
  add_value(command, "--from", "URL|DIR", arguments.from,
            "a web folder or a folder of this machine that has the files, instead of the publisher's");
  add_value(command, "--to", "DIR", arguments.to,
            "the folder for data that gets them, below NAME/; default the first of FEDARENA_DATA, else "
            "the cache");
}

}  // namespace fedarena
