#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "results/report/sections.hpp"
#include "results/text/markup.hpp"

namespace fedarena::results {
namespace {

// What is drawn of so many: all of them, or `most` evenly chosen ones with the first and the last.
std::vector<std::size_t> chosen(std::size_t all, std::size_t most) {
  std::vector<std::size_t> indices(std::min(all, most));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (all > most) {
    for (std::size_t& index : indices) index = index * (all - 1) / (most - 1);
  }
  return indices;
}

std::string part_text(std::size_t shown, std::size_t all, std::string_view what) {
  if (shown == all) return fmt::format("{} {}", all, what);
  return fmt::format("{} of {} {}, evenly chosen", shown, all, what);
}

// A map in boxes of `width` by `height` pixels, right of and below the names of classes and clients.
class Map {
 public:
  explicit Map(const RecordedPartition& partition)
      : counts_(partition.class_counts),
        clients_(chosen(counts_.size(), kMostClients)),
        classes_(chosen(counts_.front().size(), kMostClasses)) {
    for (const auto& row : counts_) largest_ = std::max(largest_, *std::max_element(row.begin(), row.end()));
    // So few that their counts can be read: wide enough for the largest, in digits of seven pixels.
    numbers_ = counts_.size() <= kMostClientsInNumbers && counts_.front().size() <= kMostClassesInNumbers;
    if (!numbers_) return;
    width_ = 10 + 7 * static_cast<int>(std::max<std::size_t>(fmt::formatted_size("{}", largest_), 3));
    height_ = 18;
    left_ = 62;
    top_ = 18;
  }

  std::string html(const RecordedPartition& partition) const {
    const std::string size = fmt::format("{} {}", left_ + width_ * std::ssize(clients_) + 1,
                                         top_ + height_ * std::ssize(classes_) + 1);
    const std::string caption = fmt::format(
        "Seed {}: columns are {}, rows are {}, from class 0 at the top. The fuller the colour, the more "
        "examples; full: {}.",
        partition.seed, part_text(clients_.size(), counts_.size(), "clients"),
        part_text(classes_.size(), counts_.front().size(), "classes"), largest_);
    return fmt::format(
               "<figure class=\"map\"><svg viewBox=\"0 0 {0}\" width=\"{1}\" role=\"img\" "
               "aria-label=\"Examples of each class that each client holds: {2} clients, {3} classes, up to "
               "{4} examples\">\n",
               size, size.substr(0, size.find(' ')), counts_.size(), counts_.front().size(), largest_) +
           boxes() + (numbers_ ? texts() : "") + "</svg>\n" + html_element("figcaption", caption) +
           "</figure>\n";
  }

 private:
  // A path a shade: a map of any size has few elements. Boxes of none stay empty.
  std::string boxes() const {
    std::array<std::string, kShades> paths;
    for (std::size_t column = 0; column < clients_.size(); ++column) {
      for (std::size_t row = 0; row < classes_.size(); ++row) {
        const std::int64_t count = counts_[clients_[column]][classes_[row]];
        if (count == 0) continue;
        const double share = static_cast<double>(count) / static_cast<double>(largest_);
        const auto shade = static_cast<std::size_t>(std::ceil(share * kShades)) - 1;
        paths[std::min(shade, paths.size() - 1)] +=
            fmt::format("M{} {}h{}v{}h-{}z", x(column), y(row), width_, height_, width_);
      }
    }
    // Paler below numbers, which must stay readable.
    const double fullest = numbers_ ? 0.55 : 1;
    std::string svg;
    for (std::size_t shade = 0; shade < kShades; ++shade) {
      if (paths[shade].empty()) continue;
      svg += fmt::format("<path fill-opacity=\"{:.3f}\" d=\"{}\"/>\n",
                         fullest * static_cast<double>(shade + 1) / kShades, paths[shade]);
    }
    return svg + fmt::format("<rect x=\"{}.5\" y=\"{}.5\" width=\"{}\" height=\"{}\"/>\n", left_, top_,
                             width_ * std::ssize(clients_), height_ * std::ssize(classes_));
  }

  std::string texts() const {
    std::string svg;
    for (std::size_t row = 0; row < classes_.size(); ++row) {
      svg += fmt::format("<text x=\"{}\" y=\"{}\">class {}</text>\n", left_ / 2, y(row) + height_ / 2,
                         classes_[row]);
    }
    for (std::size_t column = 0; column < clients_.size(); ++column) {
      const int middle = x(column) + width_ / 2;
      svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", middle, top_ / 2, clients_[column]);
      for (std::size_t row = 0; row < classes_.size(); ++row) {
        svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", middle, y(row) + height_ / 2,
                           counts_[clients_[column]][classes_[row]]);
      }
    }
    return svg;
  }

  int x(std::size_t column) const { return left_ + width_ * static_cast<int>(column); }
  int y(std::size_t row) const { return top_ + height_ * static_cast<int>(row); }

  static constexpr std::size_t kMostClients = 100, kMostClasses = 100;
  static constexpr std::size_t kMostClientsInNumbers = 10, kMostClassesInNumbers = 20;
  static constexpr std::size_t kShades = 16;

  const std::vector<std::vector<std::int64_t>>& counts_;  // [client][class]
  std::vector<std::size_t> clients_, classes_;            // those that are drawn
  std::int64_t largest_ = 1;
  bool numbers_ = false;
  int width_ = 6, height_ = 6, left_ = 0, top_ = 0;
};

}  // namespace

std::string partition_map(const RecordedPartition& partition) {
  return partition.class_counts.empty() ? "" : Map(partition).html(partition);
}

}  // namespace fedarena::results
