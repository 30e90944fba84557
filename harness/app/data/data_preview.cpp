#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/data/data_options.hpp"
#include "harness/app/options.hpp"
#include "results/images/image_grid.hpp"
#include "results/images/synthetic_folder.hpp"
#include "results/record/durable_file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

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
