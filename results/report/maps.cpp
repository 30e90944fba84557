// Figures of many small boxes: who holds which classes, and who took which of several models.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "results/plot/choice_plot.hpp"
#include "results/report/sections.hpp"
#include "results/text/markup.hpp"

namespace fedarena::results {
namespace {

// What is drawn of so many: all of them, or `most` evenly chosen ones with the first and the last.
std::vector<std::size_t> evenly_chosen(std::size_t all, std::size_t most) {
  std::vector<std::size_t> indices(std::min(all, most));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (all > most) {
    for (std::size_t& index : indices) index = index * (all - 1) / (most - 1);
  }
  return indices;
}

// "12 clients", or "100 of 350 clients, evenly chosen".
std::string chosen_text(std::size_t shown, std::size_t all, std::string_view what) {
  if (shown == all) return fmt::format("{} {}", all, what);
  return fmt::format("{} of {} {}, evenly chosen", shown, all, what);
}

// A frame of `columns` by `rows` boxes of `width` by `height` pixels, right of and below the space that
// names take.
struct BoxMap {
  std::size_t columns = 1, rows = 1;
  int width = 6, height = 6, left = 0, top = 0;

  int x(std::size_t column) const { return left + width * static_cast<int>(column); }
  int y(std::size_t row) const { return top + height * static_cast<int>(row); }

  // The colour of a box, a position in `colours`; none: it stays empty.
  using Colour = std::function<std::optional<std::size_t>(std::size_t column, std::size_t row)>;
  // The whole picture as an SVG element: one path a colour, so that a map of any size has few elements;
  // `colours` are their attributes, `more` further elements.
  std::string svg(const Colour& colour, const std::vector<std::string>& colours, std::string_view label,
                  std::string_view more = {}) const {
    std::vector<std::string> paths(colours.size());
    for (std::size_t column = 0; column < columns; ++column) {
      for (std::size_t row = 0; row < rows; ++row) {
        if (const std::optional<std::size_t> own = colour(column, row))
          paths.at(*own) += fmt::format("M{} {}h{}v{}h-{}z", x(column), y(row), width, height, width);
      }
    }
    std::string svg =
        fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" role=\"img\" aria-label=\"{2}\">\n",
                    x(columns) + 1, y(rows) + 1, html_escaped(label));
    for (std::size_t own = 0; own < colours.size(); ++own) {
      if (!paths[own].empty()) svg += fmt::format("<path {} d=\"{}\"/>\n", colours[own], paths[own]);
    }
    svg += fmt::format("<rect x=\"{}.5\" y=\"{}.5\" width=\"{}\" height=\"{}\"/>\n", left, top,
                       x(columns) - left, y(rows) - top);
    return svg + std::string(more) + "</svg>\n";
  }
};

constexpr std::size_t kMostRows = 120, kMostColumns = 150;
// In report.css; further models have them again.
constexpr std::size_t kModelColours = 7;

std::string key(const std::vector<std::int64_t>& models) {
  std::string html;
  for (const std::int64_t model : models) {
    html += fmt::format(" <span class=\"model{}\">■</span> {}", model % std::int64_t{kModelColours}, model);
  }
  return html;
}

std::string figure(const RowRuns& row, const Choices& choices) {
  const std::vector<std::size_t> clients = evenly_chosen(choices.rows.size(), kMostRows);
  const std::vector<std::size_t> rounds = evenly_chosen(choices.rounds.size(), kMostColumns);
  const BoxMap map{.columns = rounds.size(), .rows = clients.size()};
  std::vector<std::string> colours;
  for (std::size_t model = 0; model < kModelColours; ++model)
    colours.push_back(fmt::format("class=\"model{}\"", model));
  const auto colour = [&](std::size_t column, std::size_t line) -> std::optional<std::size_t> {
    const std::vector<Choices::Taken>& taken = choices.rows[clients[line]].taken;
    const auto found = std::ranges::lower_bound(taken, rounds[column], {}, &Choices::Taken::position);
    if (found == taken.end() || found->position != rounds[column]) return std::nullopt;
    return static_cast<std::size_t>(found->model) % kModelColours;
  };
  const std::string name = fmt::format("{}, seed {}", row_name(row.key), row.summary().seed);
  const std::string caption =
      fmt::format("{}: rows are {}, by the model taken most often; columns are {}. {}.", name,
                  chosen_text(clients.size(), choices.rows.size(), "clients"),
                  chosen_text(rounds.size(), choices.rounds.size(), "rounds"), choices_text(choices));
  return "<figure class=\"map\">" +
         map.svg(colour, colours, fmt::format("The model that each client took in each round: {}", name)) +
         fmt::format("<figcaption>{} Models:{}</figcaption>\n</figure>\n", html_escaped(caption),
                     key(choices.models));
}

class Map {
 public:
  explicit Map(const RecordedPartition& partition)
      : counts_(partition.class_counts),
        clients_(evenly_chosen(counts_.size(), kMostClients)),
        classes_(evenly_chosen(counts_.front().size(), kMostClasses)),
        boxes_{.columns = clients_.size(), .rows = classes_.size()} {
    for (const auto& row : counts_) largest_ = std::max(largest_, *std::ranges::max_element(row));
    // So few that their counts can be read: wide enough for the largest, in digits of seven pixels.
    numbers_ = counts_.size() <= kMostClientsInNumbers && counts_.front().size() <= kMostClassesInNumbers;
    if (!numbers_) return;
    boxes_.width = 10 + 7 * static_cast<int>(std::max<std::size_t>(fmt::formatted_size("{}", largest_), 3));
    boxes_.height = 18;
    boxes_.left = 62;
    boxes_.top = 18;
  }

  std::string html(const RecordedPartition& partition) const {
    const std::string caption = fmt::format(
        "Seed {}: columns are {}, rows are {}, from class 0 at the top. The fuller the colour, the more "
        "examples; full: {}.",
        partition.seed, chosen_text(clients_.size(), counts_.size(), "clients"),
        chosen_text(classes_.size(), counts_.front().size(), "classes"), largest_);
    // Paler below numbers, which must stay readable.
    const double fullest = numbers_ ? 0.55 : 1;
    std::vector<std::string> shades;
    for (std::size_t shade = 1; shade <= kShades; ++shade)
      shades.push_back(
          fmt::format("fill-opacity=\"{:.3f}\"", fullest * static_cast<double>(shade) / kShades));
    const std::string label = fmt::format(
        "Examples of each class that each client holds: {} clients, {} classes, up to {} examples",
        counts_.size(), counts_.front().size(), largest_);
    return "<figure class=\"map\">" +
           boxes_.svg([this](std::size_t column, std::size_t row) { return shade_of(column, row); }, shades,
                      label, numbers_ ? texts() : "") +
           html_element("figcaption", caption) + "</figure>\n";
  }

 private:
  // Boxes of none stay empty.
  std::optional<std::size_t> shade_of(std::size_t column, std::size_t row) const {
    const std::int64_t count = counts_[clients_[column]][classes_[row]];
    if (count == 0) return std::nullopt;
    const double share = static_cast<double>(count) / static_cast<double>(largest_);
    return std::min(static_cast<std::size_t>(std::ceil(share * kShades)), kShades) - 1;
  }

  std::string texts() const {
    std::string svg;
    for (std::size_t row = 0; row < classes_.size(); ++row) {
      svg += fmt::format("<text x=\"{}\" y=\"{}\">class {}</text>\n", boxes_.left / 2,
                         boxes_.y(row) + boxes_.height / 2, classes_[row]);
    }
    for (std::size_t column = 0; column < clients_.size(); ++column) {
      const int middle = boxes_.x(column) + boxes_.width / 2;
      svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", middle, boxes_.top / 2, clients_[column]);
      for (std::size_t row = 0; row < classes_.size(); ++row) {
        svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", middle, boxes_.y(row) + boxes_.height / 2,
                           counts_[clients_[column]][classes_[row]]);
      }
    }
    return svg;
  }

  static constexpr std::size_t kMostClients = 100, kMostClasses = 100;
  static constexpr std::size_t kMostClientsInNumbers = 10, kMostClassesInNumbers = 20;
  static constexpr std::size_t kShades = 16;

  const std::vector<std::vector<std::int64_t>>& counts_;  // [client][class]
  std::vector<std::size_t> clients_, classes_;            // those that are drawn
  BoxMap boxes_;
  std::int64_t largest_ = 1;
  bool numbers_ = false;
};

}  // namespace

std::string choices_figure(const RowRuns& row, const RowRounds& rounds) {
  const Choices choices = choices_of(rounds.front());
  return choices.rows.empty() ? "" : figure(row, choices);
}

std::string choices_body(std::span<const RowParts> rows) {
  std::string html;
  for (const RowParts& row : rows) html += row.choices;
  if (html.empty()) return html;
  return "<p>Where an algorithm has several models: which one each client took, or was given, in each round. "
         "<code>fedarena plot RUN --choices</code> draws one run.</p>\n" +
         html;
}

std::string partition_map(const RecordedPartition& partition) {
  return partition.class_counts.empty() ? "" : Map(partition).html(partition);
}

}  // namespace fedarena::results
