#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "results/measures/round_metric.hpp"

namespace fedarena::results {

struct Table;

/// Who published figures, and what they are figures of.
struct PublishedSource {
  std::string text;            ///< a citation, as notes print it
  RoundMetric metric;          ///< as `--metric` names it; of the last round: of whichever round they chose
  std::string selection = {};  ///< how they chose the round, "best round on the test set"; empty: not said
};

/// A key of a figure and the value that its row has.
struct FigureKey {
  std::string name;
  std::string value;
  Place place;
};

/// A published figure, in the unit in which tables print its metric (shares in percent).
struct PublishedFigure {
  std::size_t source = 0;  ///< of `References::sources`
  Place place;
  std::vector<FigureKey> keys = {};
  double mean = 0;
  std::optional<double> std = {};
  std::optional<std::int64_t> n = {};  ///< runs
};

/// What a file of references holds.
struct References {
  std::string file;
  std::vector<PublishedSource> sources = {};
  std::vector<PublishedFigure> figures = {};
};

/// The published figure of a row, in the unit in which tables print it.
struct Published {
  std::size_t source = 0;  ///< of `References::sources`
  double mean = 0;
  std::optional<double> std = {};
  std::optional<std::int64_t> n = {};
  std::string mark = {};  ///< "[1]" where a table shows figures of several sources
};

/// Puts each figure beside the one row that has all of its keys, and notes the sources, and which figures
/// match no row. Throws Error, with the place of the figure, for one that matches several rows or a row that
/// has one already, for a key that does not exist, and where no figure matches at all. A table without rows
/// stays as it is.
void add_published(Table& table, const References& references);

}  // namespace fedarena::results
