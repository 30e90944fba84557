#include "harness/app/run/attack_inversion.hpp"

#include <map>
#include <memory>
#include <numeric>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/attack/uplink_inversion.hpp"
#include "results/images/image_grid.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

std::vector<std::int64_t> first_clients(const FinishedRun& run, std::int64_t count) {
  const auto population = static_cast<std::int64_t>(run.dealt().partition.size());
  if (count > population) {
    throw Error::in(run.path(), fmt::format("--clients is {}, but the run has {}", count, population),
                    {.allowed = fmt::format("1 to {}", population)});
  }
  std::vector<std::int64_t> clients(static_cast<std::size_t>(count));
  std::iota(clients.begin(), clients.end(), 0);
  return clients;
}

std::vector<InvertedUplink> inverted(const FinishedRun& run, const InversionArguments& arguments,
                                     const InversionSetting& setting) {
  const AlgorithmEntry& entry = *run.cell().algorithm;
  const std::unique_ptr<const Algorithm> algorithm =
      setting.resources.host.create(entry.name, entry.settings);
  const SimulationSetup setup = cell_setup(run.cell(), run.dealt(), *algorithm, setting.resources);
  Simulation simulation(setup);
  if (arguments.round == "next") {
    const std::string bytes =
        results::RunDirectory::open(run.path()).read_file(results::kCheckpointFile, kMostBytesOfFile);
    simulation.restore(std::as_bytes(std::span(bytes)));
  }
  const std::vector<std::int64_t> clients = first_clients(run, arguments.clients);
  return invert_uplinks(
      {.simulation = simulation,
       .setup = setup,
       .hyper_parameters = entry.settings,
       .method = arguments.method == "dlg" ? Inversion::kDlg : Inversion::kIdlg,
       .effort = arguments.effort,
       .tell =
           [&](std::size_t done) {
             setting.tell(fmt::format("{} of {} inverted", done, counted(clients.size(), "client")));
           }},
      clients);
}

fs::path picture_of(const fs::path& run, const InversionArguments& arguments) {
  if (!arguments.picture.empty()) return arguments.picture;
  std::error_code ignored;  // the run was just found
  const fs::path folder = fs::canonical(run, ignored).filename();
  return fmt::format("{}-{}.png", folder.string(), arguments.method);
}

std::string text_of(const std::vector<InvertedUplink>& uplinks) {
  std::vector<std::vector<std::string>> lines = {
      {"client", "label", "guess", "MSE", "PSNR (dB)", "SSIM", "gradients"}};
  for (const InvertedUplink& uplink : uplinks) {
    for (const InvertedExample& example : uplink.examples) {
      lines.push_back({fmt::format("{}", uplink.client), fmt::format("{}", example.label),
                       fmt::format("{}", example.guess), fmt::format("{:.3g}", example.quality.mse),
                       fmt::format("{:.1f}", example.quality.psnr),
                       fmt::format("{:.3f}", example.quality.ssim), fmt::format("{}", uplink.gradients)});
    }
  }
  return results::aligned_lines(lines, std::vector<bool>(lines.front().size(), true));
}

results::Json json_of(const std::vector<InvertedUplink>& uplinks) {
  results::Json json = results::Json::array();
  for (const InvertedUplink& uplink : uplinks) {
    results::Json examples = results::Json::array();
    for (const InvertedExample& example : uplink.examples) {
      examples.push_back({{"label", example.label},
                          {"guess", example.guess},
                          {"mse", results::json_number(example.quality.mse)},
                          {"psnr", results::json_number(example.quality.psnr)},
                          {"ssim", results::json_number(example.quality.ssim)}});
    }
    json.push_back({{"client", uplink.client},
                    {"gradients", uplink.gradients},
                    {"distance", results::json_number(uplink.distance)},
                    {"examples", std::move(examples)}});
  }
  return json;
}

}  // namespace

void add_inversion_options(CLI::App& command, InversionArguments& arguments) {
  CLI::Option* invert =
      add_choice(command, "--invert", arguments.method, {"dlg", "idlg"},
                 "turn what clients send back into their images: dlg, or idlg (of one example)")
          ->type_name("METHOD");
  add_count(command, "--clients", arguments.clients, 1, 1'000'000,
            "invert what the first N clients send; default the first alone")
      ->needs(invert);
  add_choice(command, "--round", arguments.round, {"first", "next"},
             "invert the first round (first, the default), or the one after the last (next)")
      ->needs(invert);
  add_count(command, "--iterations", arguments.effort.iterations, 1, 1'000'000,
            "invert by so many iterations of L-BFGS at most; default 300")
      ->needs(invert);
  add_count(command, "--starts", arguments.effort.starts, 1, 1'000'000,
            "begin anew up to N times where the gradient was not found; default 1, as published")
      ->needs(invert);
  add_value(command, "-o,--output", "FILE.png", arguments.picture,
            "the picture of images beside what was made of them; default RUN-METHOD.png here")
      ->needs(invert);
}

void check_pictures(std::span<const results::FoundRun> runs, const InversionArguments& arguments) {
  if (runs.size() > 1 && !arguments.picture.empty()) {
    throw Error(
        Complaint{.found = fmt::format("--output names one picture, but there are {} runs", runs.size()),
                  .remedy = "Name one run, or leave --output out"});
  }
  std::map<fs::path, fs::path> pictures;
  for (const results::FoundRun& run : runs) {
    const fs::path picture = picture_of(run.path, arguments);
    check_outside_runs("--output", picture);
    const auto [known, is_new] = pictures.try_emplace(picture, run.path);
    if (is_new) continue;
    throw Error(Complaint{.found = fmt::format("{} and {} would both write {}", known->second.string(),
                                               run.path.string(), known->first.string()),
                          .remedy = "Attack them one after the other, each with an --output of its own"});
  }
}

AttackAnswer invert_run(const FinishedRun& run, const InversionArguments& arguments,
                        const InversionSetting& setting) {
  const std::vector<InvertedUplink> uplinks = inverted(run, arguments, setting);
  const results::LabelledImages pairs = side_by_side(uplinks);
  const fs::path picture = picture_of(run.path(), arguments);
  results::replace_file(picture, results::to_png(image_grid(pairs, results::default_scale(pairs))));
  const double share = success_share(uplinks);
  const std::size_t images = pairs.size() / 2;
  return {.text = fmt::format(
              "{}: {} in the {} round, {}; {:.0f} of them recognisable (MSE below {})\n{}{}: images and "
              "what was made of them\n",
              run.path().string(), arguments.method, arguments.round, counted(images, "image"),
              share * static_cast<double>(images), kRecognisable, text_of(uplinks), picture.string()),
          .json = {{"run", run.path().string()},
                   {"method", arguments.method},
                   {"round", arguments.round},
                   {"images", images},
                   {"recognisable", share},
                   {"picture", picture.string()},
                   {"clients", json_of(uplinks)}}};
}

}  // namespace fedarena
