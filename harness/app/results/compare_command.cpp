#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/app/options.hpp"
#include "harness/app/results/text_output.hpp"
#include "results/compare/compared_rows.hpp"
#include "results/compare/pairs.hpp"
#include "results/measures/round_metric.hpp"
#include "results/write/render.hpp"

namespace fedarena {
namespace {

struct CompareArguments {
  std::vector<std::filesystem::path> folders;
  std::optional<std::string> metric;
  std::vector<std::string> labels;
  std::string against;
  std::vector<std::string> across;
  TextOutput output;
};

std::string text_of(const std::string& format, const results::Pairs& pairs) {
  if (format == "csv") return render_pairs_csv(pairs);
  if (format == "json") return render_pairs_json(pairs);
  return results::reader_writers().at(format)(reader_table(pairs));
}

// What decides must say which of two results is the better one, as an observation does not.
results::RoundMetric decisive_metric(const std::string& text, std::span<const results::FoundRun> runs) {
  const std::string name = text.substr(0, text.find('@'));
  if (!results::find_quantity(name) && std::ranges::binary_search(results::observed_names(runs), name)) {
    throw Error(Complaint{
        .found = fmt::format(
            "--metric: what an algorithm observes of itself (\"{}\") is neither better nor worse", name),
        .allowed = join_names(results::metric_names()),
        .remedy = "fedarena table and fedarena plot show observations"});
  }
  return results::parse_round_metric(text);
}

int run_compare(const CompareArguments& arguments) {
  const std::string format = format_of(arguments.output);
  std::vector<results::FoundRun> runs = results::find_runs(arguments.folders);
  results::fill_in_swept(runs);
  results::PairOptions options{.labels = arguments.labels,
                               .against = arguments.against,
                               .across = {arguments.across.begin(), arguments.across.end()}};
  results::set_aside_unreadable_rounds(runs);
  if (arguments.metric) options.metric = decisive_metric(*arguments.metric, runs);
  const results::Pairs pairs = results::compare_rows(runs, options);
  write_text(arguments.output, format, text_of(format, pairs), pairs.notes);
  return kSuccess;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  const auto [command, arguments] = add_command(
      app, action, run_compare, "compare",
      "Say which algorithm is better, as far as the seeds show it: paired tests of finished runs.");
  command
      .add_option("DIR", arguments.folders,
                  "folders with run directories; the same algorithm in two of them is compared, too")
      ->required();
  add_names(command, "--labels", arguments.labels, "algorithm entries to compare; default all of them")
      ->type_name("A,B,...");
  add_value(command, "--against", "LABEL", arguments.against,
            "one entry to compare each of the others with; pairs of the others are left out, and "
            "nothing is corrected for them");
  add_value(command, "--metric", "NAME[@LIMIT]", arguments.metric,
            fmt::format("what decides: {}; of the last round, or @round=K, @epsilon=E, @bytes=B, "
                        "@validation-accuracy=A, "
                        "@best-validation as in fedarena table; default accuracy, or rmse on regression data",
                        fmt::join(results::metric_names(), ", ")));
  add_names(command, "--across", arguments.across,
            fmt::format("compare what differs in {}, and say so", fmt::join(results::across_names(), ", ")))
      ->check(one_of(results::across_names()));
  add_text_output(command, arguments.output);
}

}  // namespace fedarena
