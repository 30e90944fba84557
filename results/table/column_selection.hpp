#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/table/table.hpp"

namespace fedarena::results {

/// What a table for readers may show of a row beside the columns that tell rows apart.
enum class TableColumn {
  kRounds,
  kSeeds,
  kResult,      ///< accuracy, RMSE, or the metric that the table was made for
  kClients,     ///< four columns about the accuracies of single clients
  kEpsilon,     ///< by both accountants, and what it is an epsilon of
  kEpsilonRdp,  ///< by one, and of what, as far as rows differ in that
  kEpsilonPld,
  kNoise,  ///< the noise multiplier of the policy, given or found
  kClipNorm,
  kAttacks,      ///< of attacks on membership: the area for each score
  kAttackRates,  ///< true positive rates and advantage for each score
  kExamples,
  kGradients,
  kOperations,
  kUplink,
  kDownlink,
  kTotalUplink,
  kTotalDownlink,
  kSeconds
};

using Selection = std::vector<TableColumn>;

/// The names of all columns, for `parse_selection` and for help.
std::vector<std::string> column_names();

/// Whether an algorithm may not observe anything under that name: it is, but for case, '_' and '-', that of a
/// quantity, a column, or a field of a run's record, or speaks of an epsilon, which the ledger alone
/// computes.
bool is_reserved(std::string_view name);

/// "accuracy,epsilon,seconds", in the order of the table. An unknown name, or one that comes twice, is an
/// Error.
Selection parse_selection(const std::string& text);

/// What is shown when nobody asks for anything else: no costs of computing, and clients where any were
/// tested, the areas of attacks where any were made.
Selection default_selection(const Table& table);

/// What these columns mean, for readers of Markdown and LaTeX.
std::string legend(const Table& table, const Selection& selection);

bool shows(const Selection& selection, TableColumn column);

}  // namespace fedarena::results
