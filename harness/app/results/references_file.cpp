#include "harness/app/results/references_file.hpp"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"
#include "partitions/partition.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

using config::complain;
using config::ParsedValue;
using config::Setting;
using config::Table;
using results::FigureKey;
using results::PublishedFigure;
using results::PublishedSource;

constexpr const char* kSection = "published";
constexpr const char* kForm = "[published], or [[published]] once for each source";
constexpr std::size_t kMostFigures = config::kMostPoints;

[[noreturn]] void reject(const Setting& setting, const std::string& allowed) {
  const ParsedValue& written = setting.written;
  complain({.place = written.place,
            .found = fmt::format("{} is {}", setting.key, written.text()),
            .allowed = allowed});
}

std::string text_of(const Setting& setting) {
  const auto* text = setting.written.get<std::string>();
  if (text == nullptr || text->empty()) reject(setting, "a text");
  return *text;
}

// A number within the bounds; TOML's nan and inf are none.
double number_of(const Setting& setting, double highest, const std::string& allowed) {
  double number = std::nan("");
  if (const auto* whole = setting.written.get<std::int64_t>()) number = static_cast<double>(*whole);
  if (const auto* real = setting.written.get<double>()) number = *real;
  if (!std::isfinite(number) || number < 0 || number > highest) reject(setting, allowed);
  return number;
}

std::int64_t count_of(const Setting& setting) {
  const auto* count = setting.written.get<std::int64_t>();
  if (count == nullptr || *count < 1) reject(setting, "a whole number from 1");
  return *count;
}

// What a row is compared with, as rows write it.
std::string key_text(const Setting& setting) {
  const std::string allowed = "a text, a number, true or false, or a list of whole numbers";
  if (!setting.written.value) reject(setting, allowed);
  const Value& value = *setting.written.value;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return to_text(value);
  if (std::isnan(*number)) reject(setting, allowed);
  return results::exact_number(*number);
}

// The keys of a section of experiment files; none where data sets, models, policies or plugins declare them,
// which this program does not load for tables.
std::vector<std::string> keys_of_section(const std::string& name) {
  const Catalog catalog;
  const std::vector<config::SectionSpec> specs = config::sections(catalog);
  const config::SectionSpec* spec = config::find_spec(specs, name);
  const bool of_partitions = spec != nullptr && spec->entries == &catalog.partitions;
  if (spec == nullptr || (spec->entries != nullptr && !of_partitions)) return {};
  std::set<std::string> keys;
  for (const config::Key& key : spec->keys) keys.insert(key.name());
  for (const std::string& kind : of_partitions ? partition_names() : std::vector<std::string>()) {
    for (const Field& field : partition_fields(kind)) keys.insert(field.name);
  }
  return {keys.begin(), keys.end()};
}

// Of a path: a misspelt key would match no row, as one that this table lacks does, and not be told from it.
void check_path(const std::string& path, const Place& place) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) return;
  const std::string section = path.substr(0, dot), key = path.substr(dot + 1);
  const std::vector<std::string> keys = keys_of_section(section);
  if (keys.empty() || contains(keys, key)) return;
  complain({.place = place,
            .found = fmt::format("unknown key {} in [{}]", config::in_quotes(key), section),
            .allowed = join_names(keys),
            .nearest = config::nearest_to(key, keys)});
}

// A table stands for the keys in it: partition.alpha = 0.5.
void add_key(std::vector<FigureKey>& keys, const std::string& above, const Setting& setting) {
  const std::string name = above + setting.key;
  if (setting.written.table()) {
    for (const Setting& below : setting.written.table()->settings) add_key(keys, name + ".", below);
    return;
  }
  check_path(name, setting.place);
  FigureKey key{.name = name, .value = key_text(setting), .place = setting.place};
  // What a figure says of itself goes over what its list says.
  std::erase_if(keys, [&](const FigureKey& known) { return known.name == name; });
  keys.push_back(std::move(key));
}

class Reader {
 public:
  results::References read(const config::Document& document) {
    references_.file = document.file;
    for (const config::Section& section : document.sections) {
      check(section);
      for (const Table& table : section.tables) read_source(table);
    }
    if (references_.sources.empty())
      complain({.place = {.file = references_.file}, .found = "no published figures", .allowed = kForm});
    return std::move(references_);
  }

 private:
  static void check(const config::Section& section) {
    if (section.name == kSection && section.form != config::Section::Form::kValue) return;
    const bool value = section.form == config::Section::Form::kValue;
    complain({.place = section.place,
              .found = value ? config::in_quotes(section.name) + " stands outside every section"
                             : "unknown section " + config::in_quotes(section.name),
              .allowed = kForm,
              .nearest = config::nearest_to(section.name, {kSection})});
  }

  static const Setting& required(const Table& table, const char* key, const std::string& allowed) {
    const Setting* setting = table.find(key);
    if (setting == nullptr)
      complain({.place = table.place, .found = fmt::format("there is no \"{}\"", key), .allowed = allowed});
    return *setting;
  }

  void read_source(const Table& table) {
    PublishedSource source{
        .text = text_of(required(table, "source", "a text that says who published the figures")),
        .metric = {.text = "accuracy"}};
    PublishedFigure shared{.source = references_.sources.size(), .place = table.place};
    for (const Setting& setting : table.settings) {
      if (setting.key == "source" || setting.key == "figures") continue;
      if (setting.key == "metric") {
        source.metric = metric_of(setting);
      } else if (setting.key == "selection") {
        source.selection = text_of(setting);
      } else if (setting.key == "n") {
        shared.n = count_of(setting);
      } else if (setting.key == "mean" || setting.key == "std") {
        complain({.place = setting.place,
                  .found = fmt::format("\"{}\" stands outside of figures", setting.key),
                  .remedy = "write figures = [ { label = \"fedavg\", mean = 71.3 }, ... ]"});
      } else {
        add_key(shared.keys, "", setting);
      }
    }
    references_.sources.push_back(std::move(source));
    read_figures(table, shared);
  }

  static results::RoundMetric metric_of(const Setting& setting) {
    try {
      return results::parse_round_metric(text_of(setting));
    } catch (const Error& error) {
      Complaint complaint = error.complaint();
      complaint.place = setting.written.place;
      complaint.found.erase(0, complaint.found.find_first_not_of('-'));  // the key is the option's namesake
      complain(std::move(complaint));
    }
  }

  void read_figures(const Table& table, const PublishedFigure& shared) {
    const std::string form = "a list of tables, figures = [ { label = \"fedavg\", mean = 71.3 }, ... ]";
    const Setting& figures = required(table, "figures", form);
    const std::vector<ParsedValue>& items = figures.written.items;
    if (items.empty()) reject(figures, form);
    if (items.size() > kMostFigures) {
      complain({.place = figures.place,
                .found = fmt::format("more than {} figures", kMostFigures),
                .allowed = fmt::format("at most {} in a list", kMostFigures),
                .remedy = "write a second [[published]]"});
    }
    for (const ParsedValue& item : items) {
      if (!item.table()) {
        complain(
            {.place = item.place, .found = fmt::format("figures has {} in it", item.kind), .allowed = form});
      }
      references_.figures.push_back(read_figure(*item.table(), item.place, shared));
    }
  }

  PublishedFigure read_figure(const Table& table, const Place& place, const PublishedFigure& shared) const {
    const bool share = references_.sources[shared.source].metric.quantity.is_share();
    constexpr double kPercent = 100;
    const double highest = share ? kPercent : HUGE_VAL;
    const std::string allowed = share ? "a number from 0 to 100, in percent" : "a number from 0";
    PublishedFigure figure = shared;
    figure.place = place;
    bool measured = false;
    for (const Setting& setting : table.settings) {
      if (setting.key == "mean") {
        figure.mean = number_of(setting, highest, allowed);
        measured = true;
      } else if (setting.key == "std") {
        figure.std = number_of(setting, HUGE_VAL, "a number from 0");
      } else if (setting.key == "n") {
        figure.n = count_of(setting);
      } else {
        add_key(figure.keys, "", setting);
      }
    }
    if (!measured) complain({.place = place, .found = "the figure has no \"mean\"", .allowed = allowed});
    if (figure.keys.empty()) {
      complain({.place = place,
                .found = "the figure does not say of which row it is",
                .remedy = "write label = \"...\" or any other key of the table"});
    }
    return figure;
  }

  results::References references_;
};

}  // namespace

results::References parse_references(std::string_view text, const std::string& file_name) {
  return Reader().read(config::parse_document(text, file_name));
}

results::References read_references(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) {
    complain(
        {.place = {.file = file.string()}, .found = "is a folder", .allowed = "a file of references (TOML)"});
  }
  return Reader().read(config::read_document(file));
}

}  // namespace fedarena
