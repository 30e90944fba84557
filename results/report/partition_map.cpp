#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/report/box_map.hpp"
#include "results/report/sections.hpp"
#include "results/text/markup.hpp"

namespace fedarena::results {
namespace {

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

std::string partition_map(const RecordedPartition& partition) {
  return partition.class_counts.empty() ? "" : Map(partition).html(partition);
}

}  // namespace fedarena::results
