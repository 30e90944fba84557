#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

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

std::string sizes_text(const Dataset& dataset) {
  std::string text =
      fmt::format("{} training and {} test examples", dataset.train.size(), dataset.test.size());
  text += dataset.classes > 0 ? fmt::format(", {} classes", dataset.classes) : ", a regression";
  if (!dataset.users.empty()) text += fmt::format(", {} users", dataset.users.size());
  return text;
}

// What reading the data set found, and what is wrong with files that it did not get to.
std::vector<std::string> problems_of(const DataOptions& options, const Error& error,
                                     const std::vector<fs::path>& files) {
  std::vector<std::string> problems = {error.what()};
  const std::vector<PublishedFile>& published = dataset_source(options.name).files.files;
  if (published.size() != files.size()) return problems;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].string() == error.complaint().place.file) continue;
    try {
      check_published(files[i], published[i]);
    } catch (const Error& other) {
      problems.emplace_back(other.what());
    }
  }
  return problems;
}

// Whether the data set is what it should be; says so.
bool verify(const DataOptions& options, const std::vector<fs::path>& files) {
  const SearchPath search_path = options.search_path();
  try {
    // Reading compares sizes, forms, labels and digests.
    const Dataset dataset = load_dataset(options.name, options.settings(), search_path);
    const fs::path folder = folder_of(options.name, files, search_path);
    print("{}: verified: {}{}\n", options.name, sizes_text(dataset),
          folder.empty() ? "" : " in " + results::one_line(folder.string()));
    if (!dataset.taken.empty()) print("{}{}\n", dataset.taken, dataset.overlap);
    return true;
  } catch (const Error& error) {
    // There is nothing else to be looked at, and the remedy is the user's.
    if (dataset_source(options.name).origin == DatasetOrigin::kOwn) throw;
    for (const std::string& problem : problems_of(options, error, files))
      print("{}: wrong: {}\n", options.name, results::one_line(problem.substr(0, problem.find('\n'))));
    return false;
  }
}

// The data set's files, or nothing when they are not there, which is said.
std::optional<std::vector<fs::path>> find(const DataOptions& options) {
  try {
    return find_dataset(options.name, options.settings(), options.search_path());
  } catch (const Error&) {
    print("{}: not there\n", options.name);
    return std::nullopt;
  }
}

int verify_all(const DataOptions& options) {
  if (!options.overrides.empty())
    throw Error(
        Complaint{.found = "--set is given without NAME", .remedy = "Name the data set that it is for"});
  const SearchPath search_path = options.search_path();
  std::size_t wrong = 0;
  for (const std::string& name : dataset_names()) {
    DataOptions one = options;
    one.name = name;
    // There is no one set of the user's own files.
    if (dataset_source(name).origin == DatasetOrigin::kOwn) continue;
    const auto files = find(one);
    if (files && !verify(one, *files)) ++wrong;
  }
  if (wrong == 0) return kSuccess;
  throw Error(
      Complaint{.found = fmt::format("the files of {} are not as they should be", counted(wrong, "data set")),
                .remedy = "`fedarena data fetch NAME` replaces wrong files by those of the publisher."});
}

int verify_one(const DataOptions& options) {
  check_dataset(options.name, complete(dataset_source(options.name).fields, options.settings()));
  // Not there is an error of its own, which says where its files belong.
  const auto files = find_dataset(options.name, options.settings(), options.search_path());
  if (verify(options, files)) return kSuccess;
  throw Error(
      Complaint{.found = fmt::format("the files of {} are not as they should be", options.name),
                .remedy = can_be_fetched(options.name)
                              ? fmt::format("`fedarena data fetch {}` replaces wrong files by those of the "
                                            "publisher.",
                                            options.name)
                              : ""});
}

int run_verify(const DataOptions& options) {
  return options.name.empty() ? verify_all(options) : verify_one(options);
}

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

void add_data_verify(CLI::App& data, Action& action) {
  const auto [command, options] =
      add_command(data, action, run_verify, "verify",
                  "Read data sets as a run does: sizes, forms, labels and SHA-256 are compared.");
  add_dataset_name(command, options.name)->description("the data set; default all whose files are there");
  add_data_options(command, options);
}

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
