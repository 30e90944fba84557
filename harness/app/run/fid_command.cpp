#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/app/stop_on_signal.hpp"
#include "harness/attack/frechet_distance.hpp"
#include "harness/attack/sent_images.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/finished_run.hpp"
#include "harness/runner/progress/progress_line.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/json_fields.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct FidArguments {
  std::vector<fs::path> folders, plugin_path;
  int workers = WorkPool::available_cores();
  std::string device;
  std::string format = "text";
};

// Test images that every distance is taken from.
constexpr std::int64_t kTestImages = 10'000;
// Of smaller images the network of the features leaves nothing.
constexpr std::int64_t kSmallestSide = 16;

struct Distances {
  fs::path run;
  std::int64_t round = 0, images = 0;
  // From the test images: of the set, and of as many training examples and images of noise.
  double set = 0, training = 0, noise = 0;
  std::string features;
};

// The network of a data set, and what every distance is taken from.
struct Measure {
  Measure(const Dataset& dataset, const ImageFeatures::Setting& setting)
      : features(dataset, setting), test(features.of_some(dataset.test, kTestImages)) {}
  ImageFeatures features;
  torch::Tensor test;
};

Distances distances_of(const FinishedRun& run, const torch::Tensor& images, const Measure& measure) {
  const auto& [features, test] = measure;
  return {.run = run.path(),
          .round = last_sent_round(run),
          .images = images.size(0),
          .set = frechet_distance(features.of_images(images), test),
          .training = frechet_distance(features.of_some(run.dataset().train, images.size(0)), test),
          .noise = frechet_distance(features.of_noise(images.size(0)), test),
          .features = features.description()};
}

// Refuses what no distance is defined for before a network is trained for nothing.
torch::Tensor set_of(const FinishedRun& run) {
  torch::Tensor images = sent_images(run, last_sent_round(run));
  const auto refuse = [&](std::string found, std::string allowed) {
    throw Error::in(run.path(), std::move(found), {.allowed = std::move(allowed)});
  };
  if (images.size(0) < 2)
    refuse(fmt::format("the set of round {} is one image", last_sent_round(run)), "two images or more");
  for (const auto& [part, examples] :
       {std::pair("test", &run.dataset().test), {"training", &run.dataset().train}}) {
    if (examples->size() < 2)
      refuse(fmt::format("the data have {}", counted(examples->size(), fmt::format("{} image", part))),
             "two images or more");
  }
  if (std::min(images.size(2), images.size(3)) < kSmallestSide)
    refuse(fmt::format("the images have {}x{} pixels", images.size(2), images.size(3)),
           fmt::format("{0}x{0} or more, by which distances are measured", kSmallestSide));
  return images;
}

std::string text_of(const std::vector<Distances>& all) {
  std::vector<std::vector<std::string>> lines = {
      {"run", "round", "images", "FID", "of training examples", "of noise"}};
  std::vector<std::string> notes;
  for (const Distances& one : all) {
    lines.push_back({one.run.string(), fmt::format("{}", one.round), fmt::format("{}", one.images),
                     fmt::format("{:.4g}", one.set), fmt::format("{:.4g}", one.training),
                     fmt::format("{:.4g}", one.noise)});
    if (!contains(notes, one.features)) notes.push_back(one.features);
  }
  std::string text = results::aligned_lines(lines, {false, true, true, true, true, true});
  for (const std::string& note : notes)
    text += fmt::format(
        "\nFID: Frechet distance from the test images by {}. These are not Inception's features: published "
        "distances do not compare. Fewer images have a larger distance; beside each set stand as "
        "many training examples and images of uniform noise.\n",
        note);
  return text;
}

results::Json json_of(const std::vector<Distances>& all) {
  results::Json json = results::Json::array();
  for (const Distances& one : all) {
    json.push_back({{"run", one.run.string()},
                    {"round", one.round},
                    {"images", one.images},
                    {"fid", one.set},
                    {"fid_of_training_examples", one.training},
                    {"fid_of_noise", one.noise},
                    {"features", one.features}});
  }
  return json;
}

std::vector<Distances> measure_all(const std::vector<results::FoundRun>& found, const FidArguments& arguments,
                                   const std::atomic<bool>& stop) {
  const LoadedPlugins plugins = load_plugins(arguments.plugin_path);
  SharedInputs inputs;
  use_one_torch_thread();
  const WorkPool pool(arguments.workers, use_one_torch_thread);
  ProgressLine progress(stderr);
  const auto tell = [&](const std::string& what) {
    progress.draw([&](std::size_t room) { return std::string(beginning(what, room)); });
  };
  std::map<const Dataset*, std::unique_ptr<const Measure>> measures;
  std::vector<Distances> all;
  for (const results::FoundRun& each : found) {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
    try {
      const FinishedRun run(each.path, plugins.catalog, inputs, arguments.device);
      const torch::Tensor images = set_of(run);  // before a network is trained for nothing
      auto& measure = measures[&run.dataset()];
      if (measure == nullptr)
        measure = std::make_unique<const Measure>(
            run.dataset(), ImageFeatures::Setting{.pool = pool, .stop = stop, .tell = tell});
      tell(each.path.string());
      all.push_back(distances_of(run, images, *measure));
    } catch (const Error& error) {
      if (found.size() == 1) throw;
      // One run that has no images must not hide the others.
      progress.say("not measured: " + results::in_one_line(error, each.path.string()));
    }
  }
  return all;
}

int run_fid(const FidArguments& arguments) {
  const std::atomic<bool>& stop = stop_on_signal();
  const std::vector<results::FoundRun> found = results::find_runs(arguments.folders);
  std::vector<Distances> all;
  try {
    all = measure_all(found, arguments, stop);
  } catch (const Interrupted&) {
    print(stderr, "Stopped; distances are printed once all are measured.\n");
    return kInterrupted;
  }
  if (all.empty()) {
    throw Error(Complaint{.found = fmt::format("none of the {} runs could be measured", found.size()),
                          .remedy = "The lines above say why."});
  }
  print("{}", arguments.format == "json" ? results::json_text(json_of(all), 1) + "\n" : text_of(all));
  return kSuccess;
}

}  // namespace

void add_fid_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_fid, "fid",
                  "Measure how far the synthetic images of finished runs lie from the test images.");
  command.add_option("DIR", arguments.folders, "folders with run directories of finished runs")->required();
  add_workers(command, arguments.workers);
  add_device(command, arguments.device);
  add_format(command, arguments.format);
  add_plugin_path(command, arguments.plugin_path);
}

}  // namespace fedarena
