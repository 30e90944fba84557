#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
#include "harness/app/results/references_file.hpp"
#include "results/compare/compared_rows.hpp"
#include "results/compare/pairs.hpp"
#include "results/measures/round_metric.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/table/column_selection.hpp"
#include "results/table/pivot.hpp"
#include "results/table/published.hpp"
#include "results/table/rows.hpp"
#include "results/table/table.hpp"
#include "results/text/number_format.hpp"
#include "results/write/render.hpp"

namespace fedarena {
namespace {

// How and where a command writes a table: "csv", "html", "json", "latex" or "markdown".
struct TextOutput {
  std::string format;                         // empty: what the file's ending says, or markdown
  std::optional<std::filesystem::path> file;  // none: stdout
};

using Endings = std::map<std::string, std::string>;

const Endings& endings() {
  static const Endings kEndings{
      {"csv", ".csv"}, {"html", ".html"}, {"json", ".json"}, {"latex", ".tex"}, {"markdown", ".md"}};
  return kEndings;
}

// Adds --format and -o.
void add_text_output(CLI::App& command, TextOutput& output) {
  add_choice(command, "--format", output.format, names_of(endings(), &Endings::value_type::first),
             "csv, html, json, latex or markdown; the default is what the ending of -o says, or markdown");
  add_value(command, "-o,--output", "FILE", output.file,
            "the file to write in place of the terminal: .csv, .html, .json, .md or .tex");
}

// The format to write in. Throws Error where it is not that of the file's ending, or there is none.
std::string format_of(const TextOutput& output) {
  if (!output.file) return output.format.empty() ? "markdown" : output.format;
  std::vector<std::string> allowed;
  for (const auto& [format, ending] : endings()) {
    if (output.format.empty() || output.format == format) allowed.push_back(ending);
  }
  check_output("--output", *output.file, allowed);
  const auto chosen =
      std::ranges::find(endings(), output.file->extension().string(), &Endings::value_type::second);
  return chosen->first;
}

// Prints the text, or replaces the file by it. CSV has no place for notes, and a reader of the numbers must
// not miss them: they go to stderr.
void write_text(const TextOutput& output, const std::string& format, const std::string& text,
                const std::vector<std::string>& notes) {
  if (output.file) {
    results::replace_file(*output.file, text);
    print("{}: {}\n", output.file->string(), results::human_bytes(static_cast<double>(text.size())));
  } else {
    print("{}", text);
  }
  if (format != "csv") return;
  for (const std::string& note : notes) print(stderr, "note: {}\n", note);
}

struct TableArguments {
  std::vector<std::filesystem::path> folders;
  TextOutput output;
  std::optional<std::string> columns, metric;
  std::optional<std::filesystem::path> references;
  bool interval = false;
  results::Labels labels;
  std::vector<std::string> rows;
  std::optional<std::string> pivot;
};

// What programs read holds every number, whatever people want to see.
std::string table_text(const std::string& format, const results::Table& table,
                       const results::Selection& selection) {
  if (format == "csv") return render_csv(table);
  if (format == "json") return render_json(table);
  return results::reader_writers().at(format)(reader_table(table, selection));
}

// A matrix needs keys for both of its sides, and has no other columns.
void check_pivot(const TableArguments& arguments) {
  const auto reject = [](const std::string& found, const std::string& remedy) {
    throw Error(Complaint{.found = found, .remedy = remedy});
  };
  if (arguments.rows.empty() && !arguments.pivot) return;
  if (!arguments.pivot) reject("--rows stands alone", "name the key of the columns with --pivot KEY");
  if (arguments.rows.empty()) reject("--pivot stands alone", "name the keys of the rows with --rows KEY,...");
  if (arguments.columns)
    reject("--columns: a matrix has none but those of --pivot", "leave out --columns, or --rows and --pivot");
}

std::string matrix_text(const TableArguments& arguments, const std::string& format, results::Table& table) {
  const results::Pivot pivot =
      results::make_pivot(table, {.rows = arguments.rows, .across = *arguments.pivot});
  if (!pivot.hidden.empty())
    table.notes.push_back("its numbers also differ in what neither --rows nor --pivot names: " +
                          pivot.hidden);
  if (format == "csv") return render_pivot_csv(table, pivot);
  return results::reader_writers().at(format)(reader_table(table, pivot));
}

int print_table(const TableArguments& arguments) {
  check_pivot(arguments);
  const std::string format = format_of(arguments.output);
  if (arguments.pivot && format == "json") {
    throw Error(Complaint{.found = "--pivot: no matrix is written as JSON",
                          .allowed = "csv, html, latex, markdown",
                          .remedy = "without --pivot, it holds the same numbers row by row"});
  }
  results::Selection selection;
  if (arguments.columns) selection = results::parse_selection(*arguments.columns);
  // Before the runs are read, which may take long.
  std::optional<results::References> references;
  if (arguments.references) references = read_references(*arguments.references);
  const std::vector<results::FoundRun> runs = results::find_table_runs(arguments.folders, arguments.labels);
  std::optional<results::RoundMetric> metric;
  if (arguments.metric) metric = results::parse_round_metric(*arguments.metric, runs);
  results::Table table = results::make_table(
      runs, metric, arguments.interval ? results::PlusMinus::kHalfWidth : results::PlusMinus::kDeviation);
  if (references) results::add_published(table, *references);
  const std::string text =
      arguments.pivot ? matrix_text(arguments, format, table) : table_text(format, table, selection);
  write_text(arguments.output, format, text, table.notes);
  return kSuccess;
}

struct CompareArguments {
  std::vector<std::filesystem::path> folders;
  std::optional<std::string> metric;
  std::vector<std::string> labels;
  std::string against;
  std::vector<std::string> across;
  TextOutput output;
};

std::string pairs_text(const std::string& format, const results::Pairs& pairs) {
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
  write_text(arguments.output, format, pairs_text(format, pairs), pairs.notes);
  return kSuccess;
}

}  // namespace

void add_table_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, print_table, "table", "Print the table of finished runs.");
  command.add_option("DIR", arguments.folders, "folders with run directories")->required();
  add_text_output(command, arguments.output);
  add_value(command, "--columns", "NAME,...", arguments.columns,
            fmt::format("columns of html, latex and markdown tables, in order, from: {}; csv and json "
                        "always hold all numbers",
                        join_names(results::column_names())));
  add_value(command, "--metric", "NAME[@LIMIT]", arguments.metric,
            fmt::format(
                "what stands in the column accuracy: {}, or what the algorithms observe of themselves, such "
                "as matching-loss; of the last round, or @round=K, or the last evaluated round with at "
                "most so much: @epsilon=E, @bytes=B, or the first one with that validation accuracy: "
                "@validation-accuracy=A, or @best-validation",
                join_names(results::metric_names())));
  add_value(command, "--references", "FILE", arguments.references,
            "a TOML file of published figures, which stand beside those of the runs (docs/tables.md)");
  command.add_flag("--interval", arguments.interval,
                   "behind ±, the half-width of the 95 % interval of Student's t over seeds in place of the "
                   "standard deviation");
  add_names(command, "--labels", arguments.labels,
            "algorithm entries to show, in this order; default all of them")
      ->type_name("A,B,...");
  add_names(command, "--rows", arguments.rows,
            "print one number as a matrix whose lines are the values of these keys, such as partition, "
            "alpha or label")
      ->type_name("KEY,...");
  add_value(command, "--pivot", "KEY", arguments.pivot,
            "and whose columns are the values of this one, such as label");
}

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
