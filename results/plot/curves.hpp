#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/measures/catalogue.hpp"
#include "results/measures/quantity.hpp"
#include "results/plot/gnuplot.hpp"
#include "results/record/find_runs.hpp"
#include "results/table/table.hpp"

namespace fedarena::results {

/// One round of a curve.
struct CurvePoint {
  std::int64_t round = 0;
  double x = 0;               ///< over seeds, as its axis says
  double y = 0;               ///< mean over seeds; percentages for fractions
  std::optional<double> std;  ///< sample standard deviation of y; none for one seed

  bool operator==(const CurvePoint&) const = default;
};

/// What the curve of a row is called: as the row is, with "(control)" behind that of an audit's.
std::string curve_name(const Row& row);

/// The mark of what the row's epsilon assumes, which stands behind that name over epsilon; or empty.
std::string curve_mark(const Row& row);

/// A row of the table, round by round.
struct Curve {
  std::string name;  ///< without mark
  std::string mark = {};
  std::vector<std::int64_t> seeds = {};
  std::vector<CurvePoint> points = {};  ///< at least one

  std::string marked_name() const { return name + mark; }
};

/// The curves that may be compared with each other: those of one setting.
struct CurvePanel {
  std::string title;  ///< in what its setting differs from the others'; empty for a single panel
  std::vector<Curve> curves = {};
};

struct Curves {
  CurveAxis x;
  Quantity y = known_quantity("accuracy");
  std::string title;  ///< what all panels share
  std::vector<CurvePanel> panels = {};
  std::vector<std::string> notes;  ///< one line each: those of the table, and rows that have no curve and why
};

/// What is drawn where nobody says what: the accuracy, or the RMSE where no finished run has one.
Quantity default_quantity(std::span<const FoundRun> runs);

/// The finished runs as curves, a panel for each setting and a curve for each row of their table. A curve has
/// a point for each round in which every seed of the row has both values, so that no mean changes its seeds
/// on the way. Rows without such a round are noted. An Error where nothing is left to draw, or runs cannot be
/// read or be one row.
Curves make_curves(std::span<const FoundRun> runs, const CurveAxis& x, const Quantity& y);

/// What can be drawn of a run of that claim, one entry a round: none where a round does not say or privacy
/// keeps it secret, and for what is infinite, no number or beyond 1e150.
using DrawnValues = std::vector<std::optional<double>>;

/// The positions of the rounds on an axis. Sums end where a round does not say.
DrawnValues axis_values(const CurveAxis& axis, const std::optional<PrivacyClaim>& claim,
                        std::span<const RoundRecord> rounds);

/// By what a mean over seeds is multiplied to be shown: 100 for shares. Tables do it in this order, too.
double shown_scale(const Quantity& quantity);

/// A quantity after the rounds.
DrawnValues quantity_values(const Quantity& quantity, const std::optional<PrivacyClaim>& claim,
                            std::span<const RoundRecord> rounds);

/// The values of all seeds in the round at this position; empty where one has none.
std::vector<double> of_round(std::span<const DrawnValues> seeds, std::size_t position);

/// The one position of a round of several seeds: the largest or the mean, as the axis says.
double over_seeds(const CurveAxis& axis, std::span<const double> positions);

/// The numbers of the curves as JSON, for other programs: names of axes, panels with their curves and points,
/// and the notes.
std::string curves_json(const Curves& curves);

struct CurveStyle {
  bool log_x = false, log_y = false;
};

/// The gnuplot script, with its data: a panel for each setting, the same curve of each in the same colour,
/// dash and mark, so that they can be told apart in grey print and by the colour-blind (Okabe and Ito's
/// colours); bands of one sample standard deviation over seeds; the legend beside the data, never on it. An
/// Error where there are too many panels or curves, or where a logarithm does not exist.
std::string curves_script(const Curves& curves, const CurveStyle& style, Terminal terminal);

}  // namespace fedarena::results
