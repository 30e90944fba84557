#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/commands.hpp"
#include "harness/app/data/data_options.hpp"
#include "harness/app/options.hpp"
#include "harness/config/sections/help.hpp"
#include "results/images/image_grid.hpp"
#include "results/images/synthetic_folder.hpp"
#include "results/record/durable_file.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

// Where the data set is, or "" where its files are not there.
std::string place_of(const std::string& name, const SearchPath& search_path) {
  switch (dataset_source(name).origin) {
    case DatasetOrigin::kDrawn:
      return "in the program";
    case DatasetOrigin::kOwn:
      return "your own files";
    case DatasetOrigin::kFiles:
      break;
  }
  try {
    return folder_of(name, find_dataset(name, {}, search_path), search_path).string();
  } catch (const Error&) {
    return {};
  }
}

int list_datasets() {
  const SearchPath search_path = default_search_path();
  std::vector<std::vector<std::string>> lines = {{"name", "where", "what"}};
  std::vector<std::string> absent;
  for (const std::string& name : dataset_names()) {
    const std::string place = place_of(name, search_path);
    if (place.empty() && can_be_fetched(name)) absent.push_back(name);
    lines.push_back(
        {name, place.empty() ? "not there" : results::one_line(place), dataset_source(name).summary});
  }
  print("{}", results::aligned_lines(lines, {}));
  print("\nLooked in: {}\n", in_words(search_path));
  if (!absent.empty()) print("`fedarena data fetch NAME` brings {}.\n", join_names(absent));
  return kSuccess;
}

std::string digits_in_groups(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

void print_files(const PublishedFiles& published) {
  if (published.files.empty()) return;
  std::size_t width = 0;
  for (const PublishedFile& file : published.files) width = std::max(width, file.name.size());
  const bool gzipped = std::ranges::any_of(published.files, may_be_gzipped, &PublishedFile::name);
  print("\nFiles{} (size and SHA-256 of the content):\n", gzipped ? ", plain or .gz" : "");
  for (const PublishedFile& file : published.files) {
    if (file.sha256.empty())
      print("  {}\n", file.name);
    else
      print("  {:{}}  {:>11} bytes  {}\n", file.name, width, digits_in_groups(file.size), file.sha256);
  }
}

void print_source(const std::string& name, const PublishedFiles& published) {
  print("\nSource: {}\n", published.origin);
  if (!can_be_fetched(name)) return;
  print("`fedarena data fetch {}` asks:\n", name);
  for (const std::string& address : published.publication.addresses)
    print("  {}{}\n", address, published.publication.archive);
}

void print_places(const std::string& name, const Settings& settings, const SearchPath& search_path) {
  print("\nLooked for in:\n");
  for (const fs::path& folder : candidate_folders(dataset_source(name).files.folders, search_path))
    print("  {}\n", results::one_line(folder.string()));
  try {
    const auto files = find_dataset(name, settings, search_path);
    const fs::path folder = folder_of(name, files, search_path);
    print("Found in {}:\n", results::one_line(folder.string()));
    for (const fs::path& file : files)
      print("  {}\n", results::one_line(file.lexically_relative(folder).string()));
  } catch (const Error&) {
    print("Not found.\n");
  }
}

int inform(const DataOptions& options) {
  const DatasetSource& source = dataset_source(options.name);
  // A mistake in the options is found before anything is printed.
  const SearchPath search_path = options.search_path();
  const Settings settings = options.settings();
  const std::string fields = fields_help(source.fields, source.required);
  print("{}: {}\n", options.name, source.summary);
  if (!fields.empty()) print("\nSettings (name, type, default, allowed, meaning):\n{}", fields);
  switch (source.origin) {
    case DatasetOrigin::kDrawn:
      print("\nThe program draws it; there are no files.\n");
      break;
    case DatasetOrigin::kOwn:
      print("\nYou bring its files. A relative path is looked for in the working directory, then in:\n");
      for (const fs::path& folder : search_path) print("  {}\n", results::one_line(folder.string()));
      break;
    case DatasetOrigin::kFiles:
      print_files(source.files);
      print_source(options.name, source.files);
      print_places(options.name, settings, search_path);
  }
  return kSuccess;
}

struct PreviewArguments {
  DataOptions data;
  fs::path picture;
  std::string part = "train";
  std::int64_t per_class = 10;
  std::int64_t scale = 0;  // 0: as fits
};

// The first examples of each class, in the order of the data set.
std::vector<std::int64_t> first_of_each_class(const torch::Tensor& targets, std::int64_t per_class) {
  const auto labels = targets.accessor<std::int64_t, 1>();
  std::map<std::int64_t, std::int64_t> taken;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < labels.size(0); ++i)
    if (taken[labels[i]]++ < per_class) chosen.push_back(i);
  return chosen;
}

results::LabelledImages images_of(const Examples& examples, const std::vector<std::int64_t>& chosen) {
  const auto index = torch::tensor(chosen, torch::kInt64);
  const auto pixels = examples.inputs.index_select(0, index).to(torch::kFloat32).div(255).contiguous();
  const auto labels = examples.targets.index_select(0, index).contiguous();
  return {.channels = pixels.size(1),
          .height = pixels.size(2),
          .width = pixels.size(3),
          .pixels = {pixels.data_ptr<float>(), pixels.data_ptr<float>() + pixels.numel()},
          .labels = {labels.data_ptr<std::int64_t>(), labels.data_ptr<std::int64_t>() + labels.numel()}};
}

void check_images(const std::string& name, const Dataset& dataset) {
  if (dataset.train.inputs.dim() == 4) return;
  throw Error(
      Complaint{.found = fmt::format("\"{}\" holds no images: its examples are rows of a table", name),
                .remedy = fmt::format("`fedarena data verify {}` counts its examples", name)});
}

int run_preview(const PreviewArguments& arguments) {
  check_output("--output", arguments.picture, {".png"});
  const Settings settings = arguments.data.settings();
  const SearchPath search_path = arguments.data.search_path();
  check_not_input("--output", arguments.picture, own_files(arguments.data.name, settings, search_path));
  const Dataset dataset = load_dataset(arguments.data.name, settings, search_path);
  check_images(arguments.data.name, dataset);
  const Examples& examples = arguments.part == "train" ? dataset.train : dataset.test;
  const results::LabelledImages images =
      images_of(examples, first_of_each_class(examples.targets, arguments.per_class));
  const results::Raster raster =
      results::image_grid(images, arguments.scale > 0 ? arguments.scale : results::default_scale(images));
  results::replace_file(arguments.picture, results::to_png(raster));
  print("{}, {} examples: the first {} of each of {} classes, {} images of {} x {} pixels, {}\n",
        dataset.name, arguments.part == "train" ? "training" : "test", arguments.per_class,
        images.classes().size(), images.size(), images.width, images.height,
        images.channels == 1 ? "grey" : "colour");
  if (!dataset.taken.empty()) print("{}{}\n", dataset.taken, dataset.overlap);
  print("{}: {} x {} pixels, a row for every class\n", arguments.picture.string(), raster.width,
        raster.height);
  return kSuccess;
}

}  // namespace

void add_data_list(CLI::App& data, Action& action) {
  CLI::App* command =
      data.add_subcommand("list", "Every data set: whether its files are there, and what it is.");
  command->callback([&action] { action = list_datasets; });
}

void add_data_command(CLI::App& app, Action& action) {
  CLI::App* data = app.add_subcommand("data", "List, explain, verify, fetch and show data sets.");
  data->require_subcommand(1);
  data->footer("`fedarena data COMMAND --help` explains a command.");
  for (const auto add : {add_data_list, add_data_info, add_data_verify, add_data_fetch, add_data_preview})
    add(*data, action);
}

void add_data_info(CLI::App& data, Action& action) {
  const auto [command, options] =
      add_command(data, action, inform, "info",
                  "One data set: settings, files with sizes and SHA-256, source, where it lies.");
  add_dataset_name(command, options.name)->required();
  add_data_options(command, options);
}

void add_data_preview(CLI::App& data, Action& action) {
  const auto [command, arguments] = add_command(
      data, action, run_preview, "preview", "Draw the first images of every class: a row for every class.");
  add_dataset_name(command, arguments.data.name)->required();
  add_value(command, "-o,--output", "FILE.png", arguments.picture, "the picture to write")->required();
  add_choice(command, "--part", arguments.part, {"train", "test"}, "train (the default) or test");
  add_count(command, "--per-class", arguments.per_class, 1, 1000, "images of each class; default 10");
  add_count(command, "--scale", arguments.scale, 1, 64,
            "screen pixels a pixel; default what brings images near 64 pixels");
  add_data_options(command, arguments.data);
}

}  // namespace fedarena
