#include "harness/config/syntax/document.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include <toml++/toml.h>

#include "fedarena/base/file.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "harness/config/syntax/lexing.hpp"

namespace fedarena::config {
namespace {

constexpr std::size_t kLongestSlip = 100;
constexpr std::size_t kLongestFile = 10'000'000;

Place place_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

// The commonest slip, of which a parser says that it looked for a number or a date.
std::string quotes_for(std::string_view text, std::uint32_t line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find_first_of("#\r\n"));
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view key = trimmed(text.substr(0, equals)), value = trimmed(text.substr(equals + 1));
  if (value.empty() || value.size() > kLongestSlip || value == "true" || value == "false") return {};
  const bool begins_with_letter = is_letter_or_digit(value.front()) && value.front() > '9';
  const bool is_bare = value.find_first_of("\"'") == std::string_view::npos;
  return begins_with_letter && is_bare ? fmt::format("Texts stand in quotes: {} = {}", key, quoted(value))
                                       : "";
}

toml::table parse_toml(std::string_view text, const std::string& file) {
  check_text(text, file);
  try {
    return toml::parse(text, std::string_view(file));
  } catch (const toml::parse_error& error) {
    std::string description(error.description());
    std::replace_if(
        description.begin(), description.end(), [](char letter) { return letter >= 0 && letter < 0x20; },
        ' ');
    complain({.place = place_of(error.source(), file),
              .found = "not TOML: " + description,
              .remedy = quotes_for(text, error.source().begin.line)});
  }
}

std::string kind_of(const toml::node& node) {
  using Type = toml::node_type;
  static const std::map<Type, std::string> kKinds = {{Type::table, "a table"},
                                                     {Type::array, "a list"},
                                                     {Type::string, "a string"},
                                                     {Type::integer, "an integer"},
                                                     {Type::floating_point, "a number"},
                                                     {Type::boolean, "a boolean"},
                                                     {Type::date, "a date"},
                                                     {Type::time, "a time"},
                                                     {Type::date_time, "a date and time"}};
  return kKinds.at(node.type());
}

Table table_of(const toml::table& table, const Place& place, const std::string& file, int below = 2);
ParsedValue written(const toml::node& node, const std::string& file, bool with_items = true);

// One more than can be swept, so that too many show.
std::vector<ParsedValue> items_of(const toml::array& array, const std::string& file) {
  std::vector<ParsedValue> items;
  for (const toml::node& node : array) {
    if (items.size() > kMostPoints) break;
    items.push_back(written(node, file, false));
    if (const auto* table = node.as_table()) {
      items.back().tables = {table_of(*table, items.back().place, file, 1)};
    }
  }
  return items;
}

ParsedValue written_list(const toml::array& array, const std::string& file, bool with_items) {
  ParsedValue result{.place = place_of(array.source(), file), .tables = {}};
  if (with_items) result.items = items_of(array, file);
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  for (const toml::node& node : array) {
    if (!node.is_number()) {
      result.place = place_of(node.source(), file);
      result.kind = "a list with " + kind_of(node) + " in it";
      result.elements.clear();
      return result;
    }
    if (const auto* integer = node.as_integer()) integers.push_back(integer->get());
    numbers.push_back(node.is_integer() ? static_cast<double>(integers.back())
                                        : node.as_floating_point()->get());
    const Place element = place_of(node.source(), file);
    result.elements.emplace_back(element.line, element.column);
  }
  if (integers.size() == numbers.size()) {
    result.value = std::move(integers);
  } else {
    result.value = PerClient(std::move(numbers));
  }
  return result;
}

ParsedValue written(const toml::node& node, const std::string& file, bool with_items) {
  if (const auto* array = node.as_array()) return written_list(*array, file, with_items);
  ParsedValue result{.place = place_of(node.source(), file), .kind = kind_of(node), .tables = {}};
  if (const auto* flag = node.as_boolean()) result.value = flag->get();
  if (const auto* number = node.as_integer()) result.value = number->get();
  if (const auto* number = node.as_floating_point()) result.value = number->get();
  if (const auto* text = node.as_string()) result.value = text->get();
  return result;
}

bool earlier(const Place& left, const Place& right) {
  return std::tie(left.line, left.column) < std::tie(right.line, right.column);
}

// `below`: how many levels of tables within the table are kept. Two are one more than any section needs, so
// that a table where a profile has a value is told apart.
Table table_of(const toml::table& table, const Place& place, const std::string& file, int below) {
  Table result{place, {}};
  for (auto&& [key, node] : table) {
    Setting setting{std::string(key.str()), place_of(key.source(), file), written(node, file)};
    if (const auto* inner = node.as_table(); inner != nullptr && below > 0) {
      setting.written.tables = {table_of(*inner, setting.place, file, below - 1)};
    }
    result.settings.push_back(std::move(setting));
  }
  std::ranges::sort(result.settings, earlier, &Setting::place);
  return result;
}

Section section_of(const toml::key& key, const toml::node& node, const std::string& file) {
  Section section{.name = std::string(key.str()), .place = place_of(key.source(), file)};
  const toml::array* array = node.as_array();
  const bool tables = array != nullptr && std::all_of(array->begin(), array->end(),
                                                      [](const toml::node& item) { return item.is_table(); });
  if (const toml::table* table = node.as_table()) {
    section.tables.push_back(table_of(*table, section.place, file));
  } else if (tables) {
    section.form = Section::Form::kTables;
    for (const toml::node& item : *array) {
      section.tables.push_back(table_of(*item.as_table(), place_of(item.source(), file), file));
    }
  } else {
    section.form = Section::Form::kValue;
  }
  return section;
}

// Puts a value and all in it at another place.
void move_to(const Place& place, ParsedValue& moved) {
  moved.place = place;
  moved.elements.clear();
  for (ParsedValue& item : moved.items) move_to(place, item);
  for (Table& table : moved.tables) {
    table.place = place;
    for (Setting& setting : table.settings) {
      setting.place = place;
      move_to(place, setting.written);
    }
  }
}

bool is_bare_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char letter) {
    return is_letter_or_digit(letter) || std::string_view("-_.+/:").find(letter) != std::string_view::npos;
  });
}

// The TOML file beside the missing one whose name is most like it.
std::string neighbour(const std::filesystem::path& file) {
  std::vector<std::string> names;
  std::error_code failure;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().extension() == ".toml") names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = nearest_to(file.filename().string(), names);
  return nearest.empty() ? "" : (file.parent_path() / nearest).string();
}

std::string text_of(const std::filesystem::path& file) {
  const Place place{.file = file.string()};
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  if (status.type() == std::filesystem::file_type::not_found) {
    complain({.place = place, .found = "no such file", .nearest = neighbour(file)});
  }
  try {
    return read_whole_file(file, kLongestFile);
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    // What was read is the wrong file.
    if (!complaint.allowed.empty()) complaint.allowed = "an experiment file (TOML)";
    complain(std::move(complaint));
  }
}

}  // namespace

Table* ParsedValue::table() { return tables.empty() ? nullptr : &tables.front(); }

const Table* ParsedValue::table() const { return tables.empty() ? nullptr : &tables.front(); }

const Setting* Table::find(std::string_view key) const { return find_named(settings, key, &Setting::key); }

Setting* Table::find(std::string_view key) { return find_named(settings, key, &Setting::key); }

const Section* Document::find(std::string_view name) const {
  return find_named(sections, name, &Section::name);
}

Section* Document::find(std::string_view name) { return find_named(sections, name, &Section::name); }

const Table* Document::table(std::string_view name) const {
  const Section* section = find(name);
  return section != nullptr && section->form == Section::Form::kTable ? &section->tables.front() : nullptr;
}

Document parse_document(std::string_view text, const std::string& file) {
  const toml::table root = parse_toml(text, file);
  Document document{file, {}};
  for (auto&& [key, node] : root) document.sections.push_back(section_of(key, node, file));
  std::ranges::sort(document.sections, earlier, &Section::place);
  return document;
}

Document read_document(const std::filesystem::path& file, const std::string& name) {
  return parse_document(text_of(file), name.empty() ? file.string() : name);
}

ParsedValue parse_value(std::string_view text, const Place& place) {
  const std::string line = "value = " + std::string(text);
  try {
    const toml::table table = parse_toml(line, place.file);
    // A line break in the text could bring further keys.
    if (table.size() == 1 && text.find('\n') == std::string_view::npos) {
      const toml::node& node = *table.get("value");
      ParsedValue result = written(node, place.file);
      if (const auto* inner = node.as_table()) result.tables = {table_of(*inner, place, place.file, 1)};
      move_to(place, result);
      return result;
    }
  } catch (const Error&) {
    if (is_bare_word(text))
      return {.place = place, .value = std::string(text), .kind = "a string", .tables = {}};
  }
  complain(
      {.place = place,
       .found = in_quotes(text) + " is not a value",
       .allowed = "a value as TOML writes it, such as 5, 0.1, true, \"text\" or [1, 2]; or a bare word"});
}

void complain(Complaint complaint) { throw Error(std::move(complaint)); }

std::string our_name(std::string_view found) {
  // What papers and other programs call our keys: Flower, FedML, LEAF, Opacus.
  static const std::map<std::string_view, std::string> kOurs{
      {"lr", "rate"},
      {"learning_rate", "rate"},
      {"eta", "rate"},
      {"client_lr", "rate"},
      {"epochs", "local_epochs"},
      {"n_epochs", "local_epochs"},
      {"num_epochs", "local_epochs"},
      {"epochs_per_round", "local_epochs"},
      {"bs", "batch_size"},
      {"batch", "batch_size"},
      {"batchsize", "batch_size"},
      {"sample_rate", "batch_size"},
      {"wd", "weight_decay"},
      {"num_rounds", "rounds"},
      {"n_rounds", "rounds"},
      {"global_rounds", "rounds"},
      {"comm_round", "rounds"},
      {"num_server_rounds", "rounds"},
      {"seed", "seeds"},
      {"random_seed", "seeds"},
      {"num_clients", "clients"},
      {"n_clients", "clients"},
      {"client_num_in_total", "clients"},
      {"num_supernodes", "clients"},
      {"num_partitions", "clients"},
      {"clients_per_round", "size"},
      {"client_num_per_round", "size"},
      {"client_fraction", "fraction"},
      {"fraction_fit", "fraction"},
      {"fraction_train", "fraction"},
      {"participation", "fraction"},
      {"partition_method", "kind"},
      {"partition_alpha", "alpha"},
      {"eval_every", "every"},
      {"dataset", "data"},
      {"max_grad_norm", "clip_norm"},
      {"l2_norm_clip", "clip_norm"},
      {"clipping_norm", "clip_norm"},
      {"clip", "clip_norm"},
      {"sigma", "noise_multiplier"},
      {"target_delta", "delta"},
  };
  const auto ours = kOurs.find(found);
  return ours == kOurs.end() ? std::string() : ours->second;
}

std::string nearest_to(std::string_view found, const std::vector<std::string>& names) {
  if (std::string ours = our_name(found); contains(names, ours)) return ours;
  return found.size() > kLongestSlip ? std::string() : nearest_name(found, names);
}

}  // namespace fedarena::config
