#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/data/data_options.hpp"
#include "harness/app/options.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

std::string in_words(const Dataset& dataset) {
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
    print("{}: verified: {}{}\n", options.name, in_words(dataset),
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

}  // namespace

void add_data_verify(CLI::App& data, Action& action) {
  const auto [command, options] =
      add_command(data, action, run_verify, "verify",
                  "Read data sets as a run does: sizes, forms, labels and SHA-256 are compared.");
  add_dataset_name(command, options.name)->description("the data set; default all whose files are there");
  add_data_options(command, options);
}

}  // namespace fedarena
