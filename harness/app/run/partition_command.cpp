#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/config/grid/grid.hpp"
#include "harness/runner/cell_setup.hpp"
#include "harness/runner/plan/experiment_data.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "partitions/card.hpp"
#include "results/plot/distribution_plots.hpp"
#include "results/plot/gnuplot.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/partition_file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct PartitionArguments {
  ExperimentOptions experiment;
  fs::path output;                   // a picture or a table
  std::optional<std::int64_t> seed;  // none: the first of the experiment
  std::optional<std::string> point;  // of the sweep
  std::string format = "text";
};

// A partition of an experiment, and what its clients' inputs are changed by.
struct PartitionView {
  PartitionCard card;
  results::RecordedPartition record;  // as a run directory holds it
  std::string taken = {};             // from the user's own files, if any
  bool hides_labels = false;          // neither has what labels tell
};

constexpr const char* kLabelsHidden =
    "how many examples of which class each client holds is private in this experiment, and left out";

PartitionView view(const GridPoint& point, std::int64_t seed, SharedInputs& inputs) {
  const Experiment& experiment = point.experiment;
  const auto dealt = inputs.dealt(experiment, seed);
  const bool hides_labels = hides_label_counts(point);
  const PartitionCard card = hides_labels ? without_labels(dealt->card) : dealt->card;
  return {.card = card,
          .record = recorded_partition(experiment, seed, card),
          .taken = taken_words(point, inputs.dataset(experiment)),
          .hides_labels = hides_labels};
}

// A line for each way in which inputs differ from client to client.
std::string features_text(const results::RecordedPartition& record) {
  const auto noisy = std::ranges::count_if(record.noise, [](double noise) { return noise > 0; });
  const auto turned =
      std::ranges::count_if(record.rotations, [](std::int64_t degrees) { return degrees != 0; });
  std::string text;
  if (noisy > 0) {
    text += fmt::format("noise      on inputs of {} of {} clients, standard deviation up to {:g}\n", noisy,
                        record.noise.size(), record.noise.back());
  }
  if (turned > 0) {
    text += fmt::format("rotations  of inputs of {} of {} clients\n", turned, record.rotations.size());
  }
  return text;
}

std::string render_text(const PartitionView& shown) {
  const PartitionCard& card = shown.card;
  std::string text = fmt::format("partition  {}\n", card.id);
  text += fmt::format("data set   {}\n", shown.record.dataset);
  text += fmt::format("in short   {}\n", describe(card.kind, card.statistics));
  if (!card.note.empty()) text += fmt::format("note       {}\n", card.note);
  text += features_text(shown.record) + "\n";
  if (!shown.taken.empty()) text += shown.taken + "\n\n";
  return text + preview(card.statistics);
}

std::string picture_of(const PartitionView& shown, const fs::path& file) {
  const PartitionCard& card = shown.card;
  if (shown.hides_labels) {
    throw Error::in(file, kLabelsHidden,
                    {.remedy = "Leave --output out, or set public_label_counts = true in [privacy] if "
                               "everybody knows it."});
  }
  if (card.statistics.class_counts.empty()) {
    throw Error::in(file,
                    fmt::format("the data set {} has no classes to draw, or more than {} numbers of them",
                                shown.record.dataset, kMostClassCounts),
                    {.remedy = "Leave --output out; sizes are in the text and in --format json."});
  }
  return results::run_gnuplot(results::heat_map_script(
      {.title = fmt::format("{} of {}, seed {}, index hash {}", card.kind, shown.record.dataset,
                            shown.record.seed, card.statistics.index_hash),
       .counts = card.statistics.class_counts},
      results::terminal_of(file)));
}

// A line for each example of each client. The indices are those of the data set as others read it: before
// some of its examples were drawn for testing or validation.
std::string assignment_csv(const PartitionedData& dealt, const Dataset& dataset) {
  std::string text = "client,split,index\n";
  const auto append = [&](std::size_t client, const char* split, const Partition& shares,
                          const std::vector<std::int64_t>& positions) {
    if (shares.empty()) return;
    for (const std::int64_t index : shares[client]) {
      fmt::format_to(std::back_inserter(text), "{},{},{}\n", client, split,
                     positions.empty() ? index : positions[static_cast<std::size_t>(index)]);
    }
  };
  for (std::size_t client = 0; client < dealt.partition.size(); ++client) {
    append(client, "train", dealt.partition, dataset.train.positions);
    append(client, "test", dealt.client_tests, dataset.test.positions);
  }
  return text;
}

// The one that is asked for, or the only one.
const GridPoint& chosen(const std::vector<GridPoint>& points, const PartitionArguments& arguments) {
  if (!arguments.point && points.size() == 1) return points.front();
  std::vector<std::string> names;
  for (const GridPoint& point : points) {
    if (arguments.point && point.name == *arguments.point) return point;
    if (!point.name.empty()) names.push_back(point.name);
  }
  if (names.empty()) {
    throw Error::in(arguments.experiment.file, "--point is given, and the file has no [sweep]");
  }
  if (arguments.point) {
    throw Error::in("--point " + *arguments.point, "the [sweep] has no such point",
                    {.allowed = join_names(names), .nearest = nearest_name(*arguments.point, names)});
  }
  throw Error::in(arguments.experiment.file, fmt::format("[sweep] makes {} points of it", points.size()),
                  {.remedy = fmt::format("choose one with --point: {}", join_names(names))});
}

int run_partition(const PartitionArguments& arguments) {
  const fs::path& file = arguments.output;
  if (!file.empty())  // before the data are read
    check_output("--output", file, {".png", ".svg", ".pdf", ".csv"});
  const std::vector<GridPoint> points =
      read_grid(config::read_document(arguments.experiment.file), arguments.experiment.overrides,
                load_plugins(arguments.experiment.plugin_path).catalog, arguments.experiment.profile);
  const GridPoint& point = chosen(points, arguments);
  const Experiment& experiment = point.experiment;
  if (!file.empty()) {
    std::vector<fs::path> read = own_files(experiment);
    read.push_back(arguments.experiment.file);
    check_not_input("--output", file, read);
  }
  const std::int64_t seed = arguments.seed.value_or(experiment.seeds.front());
  SharedInputs inputs;
  const PartitionView shown = view(point, seed, inputs);
  if (file.extension() == ".csv") {
    const std::string lines = assignment_csv(*inputs.dealt(experiment, seed), inputs.dataset(experiment));
    results::replace_file(file, lines);
  } else if (!file.empty()) {
    results::replace_file(file, picture_of(shown, file));
  }
  print("{}", arguments.format == "json" ? to_json_text(shown.record) : render_text(shown));
  if (shown.hides_labels) print(stderr, "note: {}\n", kLabelsHidden);
  return kSuccess;
}

}  // namespace

void add_partition_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_partition, "partition",
                  "Show who holds which classes in an experiment, before it is run.");
  add_experiment_options(command, arguments.experiment);
  add_count(command, "--seed", arguments.seed, 0, std::numeric_limits<std::int64_t>::max(),
            "default the first seed of the experiment")
      ->type_name("S");
  add_value(command, "--point", "NAME", arguments.point, "a point of the file's [sweep], by its name");
  add_format(command, arguments.format);
  add_value(command, "-o,--output", "FILE", arguments.output,
            "also draw the heat map, as .png, .svg or .pdf; .csv: list who holds which example");
}

}  // namespace fedarena
