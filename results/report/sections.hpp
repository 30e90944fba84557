#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/record/find_runs.hpp"
#include "results/record/partition_file.hpp"
#include "results/report/readable_runs.hpp"
#include "results/report/report.hpp"
#include "results/table/table.hpp"
#include "results/write/writers.hpp"

namespace fedarena::results {

/// A section of the page under a heading of its own; `body` is HTML.
std::string section(std::string_view id, std::string_view title, std::string_view body);

/// A table with a caption in a box that scrolls where the window is too narrow, also by keyboard. `more`:
/// further classes of the box.
std::string scrolling(const HtmlTable& table, std::string_view more = {});

/// A list of facts, (name, value); one without a name goes on with the one before, one without a value is
/// left out.
std::string facts(const std::vector<std::pair<std::string, std::string>>& names_and_values);

/// A figure that shows how many examples of each class each client holds: a row for each class, a column for
/// each client, the fuller its colour, the more examples. Of many clients or classes a part is drawn, evenly
/// chosen, and the caption says so; of few, each count is printed. Empty where there are no classes.
std::string partition_map(const RecordedPartition& partition);

// The bodies of a report's sections, as HTML; empty where there is nothing to say. What a run directory holds
// that cannot be read joins `problems`, and the rest is shown. `runs` are those of `readable_runs`, `table`
// is made of them.

/// What there is: runs, experiments, data sets, algorithms, seeds.
std::string summary_body(std::span<const FoundRun> runs, const Table& table);
/// What could not be read, or contradicts itself.
std::string problems_body(const Problems& problems);
/// The table of `fedarena table`, its legend and its notes.
std::string results_body(const Table& table);
/// A line for every run.
std::string runs_body(std::span<const FoundRun> runs);
/// Where charts go, and what can be chosen; the data comes apart.
std::string curves_body(const Table& table);
/// A card for each partition: name, hashes of the seeds, sizes of clients, who holds which classes.
std::string partitions_body(std::span<const FoundRun> runs, Problems& problems);
/// Who took which of several models in the first run of a row; empty where its algorithm has one model.
std::string choices_figure(const RowRuns& row, const RowRounds& rounds);
/// Those figures.
std::string choices_body(std::span<const RowParts> rows);
/// What each finished run's epsilon rests on, from its summary and its ledger, and which others have one.
std::string privacy_body(std::span<const FoundRun> runs, const Table& table, Problems& problems);
/// The latest synthetic images of a run of each row.
std::string images_body(const Table& table, Problems& problems);
/// On what the runs were computed, and where they differ in that.
std::string environment_body(std::span<const FoundRun> runs, Problems& problems);
/// The commands and the resolved experiments that make the same runs again.
std::string reproduce_body(const Table& table, Problems& problems);

}  // namespace fedarena::results
