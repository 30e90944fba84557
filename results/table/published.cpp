#include "results/table/published.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "results/table/row_values.hpp"
#include "results/table/table.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// The sections of experiment files. A path below them is a key although no row of this table has it.
constexpr std::array<std::string_view, 10> kSections = {"algorithms", "cohort",  "data",      "evaluation",
                                                        "experiment", "model",   "partition", "privacy",
                                                        "stopping",   "training"};

bool is_path(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot != std::string::npos && std::ranges::find(kSections, key.substr(0, dot)) != kSections.end();
}

// Whether a row's result is what the source has figures of.
bool is_of(const RoundMetric& metric, const Table& table, const Row& row) {
  if (table.metric) {
    return metric.quantity == table.metric->quantity && metric.moment == table.metric->moment &&
           metric.limit == table.metric->limit;
  }
  if (metric.moment != Moment::kLast) return false;
  return metric.quantity.name == (row.last.share ? "accuracy" : "rmse");
}

std::string quoted(const std::string& key, const std::string& value) {
  return fmt::format("{} = \"{}\"", key, one_line(value));
}

class Matching {
 public:
  Matching(Table& table, const References& references)
      : table_(table), references_(references), keys_(row_keys(table)) {}

  void add() {
    for (const PublishedFigure& figure : references_.figures) add(figure);
    if (owners_.empty()) reject_all();
    add_notes();
  }

 private:
  void add(const PublishedFigure& figure) {
    std::vector<FigureKey> keys = figure.keys;
    for (FigureKey& key : keys) key.name = resolved(key);
    Row* match = nullptr;
    for (Row& row : table_.rows) {
      if (!is_of(references_.sources[figure.source].metric, table_, row)) continue;
      const bool all = std::ranges::all_of(
          keys, [&](const FigureKey& key) { return has_value(row, key.name, key.value); });
      if (!all) continue;
      if (match != nullptr) reject_several(figure, *match, row);
      match = &row;
    }
    if (match == nullptr) return miss(figure, keys);
    reject_fraction(figure, *match);
    const auto [owner, fresh] = owners_.emplace(match, &figure);
    if (!fresh) {
      throw Error::at(figure.place, fmt::format("a second figure for {}", name_of(*match)),
                      {.remedy = fmt::format("the first is at {}; leave one out, or name more keys",
                                             owner->second->place.str())});
    }
    match->published =
        Published{.source = figure.source, .mean = figure.mean, .std = figure.std, .n = figure.n};
  }

  std::string resolved(const FigureKey& key) const {
    try {
      if (const auto known = find_row_key(keys_, key.name)) return *known;
      if (!is_path(key.name)) reject_row_key(keys_, key.name);
    } catch (const Error& error) {
      Complaint complaint = error.complaint();
      complaint.place = key.place;
      throw Error(std::move(complaint));
    }
    return key.name;
  }

  // "fedavg (partition.alpha = 0.1)" would need to know what other rows are like; the paths are enough.
  static std::string name_of(const Row& row) {
    std::string name = row_name(row);
    if (!row.setting.sweep.empty()) name += fmt::format(" ({})", sweep_text(row.setting.sweep));
    return fmt::format("{} on {}", name, row.setting.dataset);
  }

  [[noreturn]] static void reject_several(const PublishedFigure& figure, const Row& first,
                                          const Row& second) {
    const std::vector<std::string> keys = keys_that_differ(first, second);
    throw Error::at(
        figure.place,
        fmt::format("the figure matches several rows, such as {} and {}", name_of(first), name_of(second)),
        {.remedy = fmt::format("name what tells them apart: {}", fmt::join(keys, ", "))});
  }

  // Tables print shares in percent. A figure of at most 1 is one that its paper gives as a fraction where a
  // hundred times itself is nearer to the row, and beside a row above 1 where the source has no larger one.
  void reject_fraction(const PublishedFigure& figure, const Row& row) const {
    constexpr double kPercent = 100;
    if (!row.result || !row.result->share || figure.mean > 1 || figure.mean == 0) return;
    const double own = kPercent * row.result->spread.mean;
    const bool nearer = std::abs(kPercent * figure.mean - own) < std::abs(figure.mean - own);
    const bool all_small = std::ranges::all_of(references_.figures, [&](const PublishedFigure& other) {
      return other.source != figure.source || other.mean <= 1;
    });
    if (!nearer && !(all_small && own > 1)) return;
    std::string remedy = fmt::format("write mean = {:.6g}", kPercent * figure.mean);
    if (figure.std) remedy += fmt::format(" and std = {:.6g}", kPercent * *figure.std);
    throw Error(
        Complaint{.place = figure.place,
                  .found = fmt::format("mean is {}, a fraction, where {} has {} %", exact_number(figure.mean),
                                       name_of(row), percent(row.result->spread.mean)),
                  .allowed = "percent",
                  .remedy = std::move(remedy)});
  }

  // Says of a figure without a row what no row has.
  void miss(const PublishedFigure& figure, const std::vector<FigureKey>& keys) {
    std::string reason;
    const RoundMetric& metric = references_.sources[figure.source].metric;
    if (std::ranges::none_of(table_.rows, [&](const Row& row) { return is_of(metric, table_, row); })) {
      reason = fmt::format("the table does not show {}", metric.text);
    }
    for (const FigureKey& key : keys) {
      if (!reason.empty()) break;
      if (std::ranges::any_of(table_.rows,
                              [&](const Row& row) { return has_value(row, key.name, key.value); }))
        continue;
      reason = fmt::format("no row has {}", quoted(key.name, key.value));
      const std::string nearest = nearest_value(key);
      if (!nearest.empty()) reason += fmt::format(" (did you mean \"{}\"?)", nearest);
    }
    if (reason.empty()) reason = "no row has all of their keys";
    auto& [count, place] = missing_[reason];
    if (count++ == 0) {
      place = figure.place;
      reasons_.push_back(reason);
    }
  }

  std::string nearest_value(const FigureKey& key) const {
    std::vector<std::string> values;
    for (const Row& row : table_.rows) {
      if (const auto value = row_value(row, key.name)) values.push_back(name_of_choice(*value));
    }
    return nearest_name(key.value, values);
  }

  [[noreturn]] void reject_all() const {
    const std::string& reason = reasons_.front();
    const std::size_t figures = references_.figures.size();
    throw Error(
        Complaint{.place = missing_.at(reason).second,
                  .found = fmt::format("{} a row of the table: {}",
                                       figures == 1 ? "the one figure does not match"
                                                    : fmt::format("none of the {} figures matches", figures),
                                       reason)});
  }

  void add_notes() {
    std::set<std::size_t> used;
    for (const Row& row : table_.rows) {
      if (row.published) used.insert(row.published->source);
    }
    std::vector<std::string> notes;
    for (const std::size_t source : used) {
      std::string mark;
      if (used.size() > 1) {
        mark = fmt::format("[{}]", notes.size() + 1);
        for (Row& row : table_.rows) {
          if (row.published && row.published->source == source) row.published->mark = mark;
        }
        mark.insert(0, " ");
      }
      notes.push_back(fmt::format("published{}: {}", mark, source_text(source)));
    }
    for (const std::string& reason : reasons_) {
      const auto& [count, place] = missing_.at(reason);
      notes.push_back(fmt::format("{} no row: {} ({}at {})",
                                  counted(count, "published figure matches", "published figures match"),
                                  reason, count == 1 ? "" : "the first ", place.str()));
    }
    append_notes(table_.notes, notes);
  }

  std::string source_text(std::size_t index) const {
    const PublishedSource& source = references_.sources[index];
    std::string text = source.text;
    while (text.ends_with('.')) text.pop_back();
    if (!source.selection.empty()) text += fmt::format("; theirs is the {}", source.selection);
    std::vector<std::int64_t> counts;
    bool all = true;
    for (const Row& row : table_.rows) {
      if (!row.published || row.published->source != index) continue;
      all = all && row.published->n;
      if (row.published->n) counts.push_back(*row.published->n);
    }
    if (counts.empty()) return text;
    const auto [least, most] = std::ranges::minmax(counts);
    text += least == most ? fmt::format("; n = {}", least) : fmt::format("; n = {} to {}", least, most);
    return all ? text : text + " where it is said";
  }

  Table& table_;
  const References& references_;
  std::vector<std::string> keys_;
  std::map<const Row*, const PublishedFigure*> owners_;
  std::vector<std::string> reasons_;                              // in the order of the file
  std::map<std::string, std::pair<std::size_t, Place>> missing_;  // by reason: how many, and the first
};

}  // namespace

void add_published(Table& table, const References& references) {
  if (table.rows.empty()) return;
  for (const PublishedSource& source : references.sources) table.published_sources.push_back(source.text);
  Matching(table, references).add();
}

}  // namespace fedarena::results
