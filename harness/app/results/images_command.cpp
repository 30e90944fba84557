#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "results/images/image_grid.hpp"
#include "results/images/pixel_statistics.hpp"
#include "results/images/synthetic_folder.hpp"
#include "results/plot/distribution_plots.hpp"
#include "results/plot/gnuplot.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct ImagesArguments {
  fs::path run, grid, histogram;
  std::int64_t round = 0;  // 0: the latest
  std::int64_t scale = 0;  // 0: as fits
  std::string format = "text";
};

// A round's images and their picture.
struct Grid {
  std::int64_t round = 0;
  results::LabelledImages images;
  results::PixelStatistics pixels;
  results::Raster raster;
  fs::path file;
};

[[noreturn]] void refuse_without_images(const results::RunDirectory& run) {
  const std::string place = run.path().string();
  if (run.rounds_recorded() == 0) {
    throw Error::in(place, "no round is complete yet",
                    {.remedy = "`fedarena list` says how far the run is; ask again when a round is done."});
  }
  throw Error::in(
      place, fmt::format("holds no synthetic images: its algorithm is \"{}\"", run.summary().algorithm),
      {.remedy =
           "Algorithms whose server trains on synthetic images leave them, such as fedlap, feddm and dsc."});
}

// The round that was asked for, when its images were kept.
std::int64_t choose_round(const results::RunDirectory& run, std::int64_t asked) {
  std::vector<std::int64_t> kept = run.synthetic().rounds();
  // A round is recorded after its images.
  std::erase_if(kept, [&](std::int64_t round) { return round > run.rounds_recorded(); });
  if (kept.empty()) refuse_without_images(run);
  if (asked == 0) return kept.back();
  const auto distance = [asked](std::int64_t round) { return std::abs(round - asked); };
  const std::int64_t nearest = *std::ranges::min_element(kept, {}, distance);
  if (nearest == asked) return asked;
  throw Error::in(run.path(), fmt::format("the images of round {} were not kept", asked),
                  {.allowed = fmt::format("{}", fmt::join(kept, ", ")), .nearest = std::to_string(nearest)});
}

Grid make_grid(const ImagesArguments& arguments, const results::RunDirectory& run) {
  Grid grid;
  grid.round = choose_round(run, arguments.round);
  const results::SyntheticFolder folder = run.synthetic();
  grid.images = results::as_images(folder.read(grid.round), folder.folder_of(grid.round).string());
  grid.pixels = results::pixel_statistics(grid.images.pixels);
  grid.raster = results::image_grid(
      grid.images, arguments.scale > 0 ? arguments.scale : results::default_scale(grid.images));
  grid.file = arguments.grid;
  if (grid.file.empty()) {
    std::error_code ignored;  // the run was just read
    const fs::path folder_name = fs::canonical(run.path(), ignored).filename();
    grid.file = fmt::format("{}-round-{}.png", folder_name.string(), grid.round);
    check_outside_runs("--output", grid.file);
  }
  return grid;
}

std::string render_text(const Grid& grid, const ImagesArguments& arguments) {
  const results::LabelledImages& images = grid.images;
  const std::vector<std::int64_t> classes = images.classes();
  std::string text =
      fmt::format("round {}: {} of {} ({}), {} x {} pixels, {}\n", grid.round,
                  counted(images.size(), "image"), counted(classes.size(), "class", "classes"),
                  classes.size() == 1 ? fmt::format("{}", classes.front())
                                      : fmt::format("{} to {}", classes.front(), classes.back()),
                  images.width, images.height, images.channels == 1 ? "grey" : "colour");
  if (grid.pixels.smallest) {
    text += fmt::format("pixel values: {:.4g} to {:.4g}; {} % lie outside 0 to 1 and are clipped\n",
                        *grid.pixels.smallest, *grid.pixels.largest, results::percent(grid.pixels.clipped));
  }
  if (grid.pixels.not_numbers > 0) {
    text += fmt::format("{} % of the pixels are no numbers and are shown black\n",
                        results::percent(grid.pixels.not_numbers));
  }
  text += fmt::format("{}: {} x {} pixels\n", grid.file.string(), grid.raster.width, grid.raster.height);
  if (!arguments.histogram.empty()) {
    text += fmt::format("{}: histogram, which leaves out at most 0.1 % of the pixels at either end\n",
                        arguments.histogram.string());
  }
  return text;
}

std::string render_json(const Grid& grid, const results::PixelHistogram& histogram) {
  const nlohmann::ordered_json object = {{"round", grid.round},
                                         {"images", grid.images.size()},
                                         {"classes", grid.images.classes()},
                                         {"smallest", *grid.pixels.smallest},
                                         {"largest", *grid.pixels.largest},
                                         {"clipped", grid.pixels.clipped},
                                         {"not_numbers", grid.pixels.not_numbers},
                                         {"edges", histogram.edges},
                                         {"shares", histogram.shares}};
  return object.dump() + "\n";
}

// Both or none; the plot may be empty.
void write_pictures(const Grid& grid, const fs::path& histogram, const std::string& plot) {
  results::prepare_file(grid.file, results::to_png(grid.raster));
  try {
    if (!plot.empty()) results::replace_file(histogram, plot);
  } catch (...) {
    results::remove_durably(results::partial_of(grid.file));
    throw;
  }
  results::rename_durably(results::partial_of(grid.file), grid.file);
}

int run_images(const ImagesArguments& arguments) {
  if (!arguments.grid.empty()) check_output("--output", arguments.grid, {".png"});
  if (!arguments.histogram.empty()) {
    check_output("--histogram", arguments.histogram,
                 {results::kMapEndings.begin(), results::kMapEndings.end()});
  }
  // Files are written when all of them are made.
  const Grid grid = make_grid(arguments, results::open_one_run(arguments.run));
  if (grid.file.lexically_normal() == arguments.histogram.lexically_normal()) {
    throw Error::in("--histogram",
                    fmt::format("{} is the picture of the images", arguments.histogram.string()),
                    {.remedy = "Give the plot another name"});
  }
  std::string answer;
  std::string plot;
  if (!arguments.histogram.empty() || arguments.format == "json") {
    const results::PixelHistogram histogram = results::pixel_histogram(grid.images.pixels);
    if (!arguments.histogram.empty()) {
      plot = results::run_gnuplot(
          results::histogram_script(histogram, results::terminal_of(arguments.histogram)));
    }
    if (arguments.format == "json") answer = render_json(grid, histogram);
  }
  if (answer.empty()) answer = render_text(grid, arguments);
  write_pictures(grid, arguments.histogram, plot);
  print("{}", answer);
  return kSuccess;
}

}  // namespace

void add_images_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_images, "images",
                  "Write the synthetic images that a round's model was trained on: a row for every class.");
  command.add_option("RUN", arguments.run, "the folder of one run, finished or not")->required();
  add_count(command, "--round", arguments.round, 1, std::numeric_limits<int>::max(),
            "default the latest; those of 1, 2, 5, 10, 20, 50, ... are kept, and the latest")
      ->type_name("R");
  add_value(command, "-o,--output", "FILE.png", arguments.grid,
            "the picture to write; default RUN-round-R.png here");
  add_value(command, "--histogram", "FILE", arguments.histogram,
            "also plot how often pixel values occur before clipping, as .png, .svg or .pdf");
  add_count(command, "--scale", arguments.scale, 1, 64,
            "screen pixels a pixel; default what brings images near 64 pixels");
  add_format(command, arguments.format, "text (the default), or json with the bins of the histogram");
}

}  // namespace fedarena
