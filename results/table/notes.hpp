#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/record.hpp"
#include "results/table/rows.hpp"

namespace fedarena::results {

/// What a reader of rows must know about their runs and data besides privacy, one line each, by the names of
/// the rows. Which runs diverged; which could not test all of their clients; what is special about a
/// data set, and where rows had other examples of it; which rows different builds ran; which partitions the
/// runs rest on, with the index hash of every seed, and where runs of one seed disagree; which rules ended
/// runs early; and how settings were chosen, at what cost, who had more trials than others, and that epsilon
/// does not cover them.
std::vector<std::string> row_notes(std::span<const RowRuns> rows);

/// The part of these about tuning.
std::vector<std::string> tuning_notes(std::span<const RowRuns> rows);

/// Marks an epsilon of the population that a run stands for; explained by a note.
inline constexpr const char* kAsIfMark = "*";

/// Marks the rounds of a run that its budget stopped; explained by the legend.
inline constexpr const char* kStoppedMark = "‡";

/// What a reader must know about the epsilons of rows: why one is infinite or unproven, what it assumes or
/// stands for, what stopped a run, which audits contradict it, and which epsilons must not be compared.
std::vector<std::string> privacy_notes(std::span<const RowRuns> rows);

/// A line that names the rows of one seed, which have no interval.
std::vector<std::string> interval_notes(std::span<const RowRuns> rows);

/// Where attacks were on other examples in some runs than in others; `runs`: by which examples they were on.
std::vector<std::string> unlike_attacks_notes(const std::map<std::string, std::vector<std::string>>& runs);

/// "runs/x: summary.json: not valid JSON; not counted".
std::string broken_note(const FoundRun& run);

/// One line for each unfinished, failed or broken run, and why; the first two by what `name_of` calls them.
std::vector<std::string> not_counted(const Rows& rows,
                                     const std::function<std::string(const FoundRun&)>& name_of);

/// The index hashes of a partition by seed: one each, unless something is wrong.
using IndexHashes = std::map<std::int64_t, std::set<std::string>>;

/// "seed 1: 71210e18, seed 2: 9a3c55d0", `between` standing for the ": "; it says where runs of one seed
/// disagree.
std::string index_hashes_text(const IndexHashes& hashes, std::string_view between);

/// The partition's id with "..." for the run's seed, which it ends with, and without what is off; empty in
/// older records.
std::string brief_partition_id(const Summary& summary);

/// "6 trials", "1 trial"; "none" without tuning.
std::string trials_text(const std::optional<Tuning>& tuning);

/// What was chosen and how, without what it took: "6 trials (grid, seed 0): training.rate=0.1"; "none"
/// without tuning.
std::string search_text(const std::optional<Tuning>& tuning);

/// The chosen settings of the algorithm with that label, its own by their keys: "training.rate = 0.1, mu =
/// 0.01".
std::string chosen_text(const Tuning& tuning, const std::string& label);

/// What the trials took, where that may be told, and what came of them: "16.8 s and 1.30 M examples,
/// training.rate = 0.1 (76.67 %)".
std::string outcome_text(const Tuning& tuning, const std::string& label, bool with_costs);

/// What every table of tuned private runs must say.
inline constexpr const char* kTrialsNotCovered =
    "epsilon does not cover the trials: they, and the choice among them, looked at private data, too";

}  // namespace fedarena::results
