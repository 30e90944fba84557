// Tables that the user brings: CSV files, for classification or regression.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/csv_cell.hpp"
#include "datasets/own/csv_parts.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

struct CsvConfig {
  std::string path, target;
  std::string task = "auto";
  std::string features, categorical, index, index_values, user;
  std::string join_path, join;
  std::string test_path;
  double test_fraction = 0.2;
  std::string standardise = "features", units;
  std::string separator = "auto", decimal = "point";
  std::string missing = "refuse", missing_as;

  static Schema<CsvConfig> schema() {
    return {
        {"path", &CsvConfig::path,
         "The CSV file, plain or gzip, whose first line names the columns; relative to the working "
         "directory, else to a folder of FEDARENA_DATA."},
        {"target", &CsvConfig::target, "The column to be predicted."},
        {"task", &CsvConfig::task,
         "Whether the target is one of some classes or a number; auto: classes, unless its numbers may be "
         "either, which is refused.",
         Constraint::one_of({"auto", "classification", "regression"})},
        {"features", &CsvConfig::features,
         "The columns of numbers to learn from, separated by commas; empty: all others that hold "
         "nothing else."},
        {"categorical", &CsvConfig::categorical,
         "Columns of texts to learn from, separated by commas; each becomes one feature a value, 0 or 1."},
        {"index", &CsvConfig::index,
         "A column of texts that becomes one number, 0, 1, 2, ..., in the order of index_values."},
        {"index_values", &CsvConfig::index_values,
         "How the texts of index begin, separated by commas; rows of other texts are left out."},
        {"join_path", &CsvConfig::join_path,
         "A second table, whose columns are appended to the rows, such as coordinates of places."},
        {"join", &CsvConfig::join, "The column of both tables by which rows of join_path are found."},
        {"user", &CsvConfig::user, "The column that says whose a row is; empty: nobody knows."},
        {"test_path", &CsvConfig::test_path, "A second file, for testing; empty: a part of the first one."},
        {"test_fraction", &CsvConfig::test_fraction,
         "The part of the rows that is set aside for testing without a second file; the same rows in every "
         "run.",
         Constraint::between(0.001, 0.999)},
        {"standardise", &CsvConfig::standardise,
         "What gets mean 0 and deviation 1 over the training part, computed outside of the privacy ledger: "
         "the features of numbers, a regression's target too, or nothing.",
         Constraint::one_of({"features", "all", "none"})},
        {"units", &CsvConfig::units,
         "What columns of numbers are divided by instead of being standardised, such as \"x: 100, y: 0.5\"."},
        {"separator", &CsvConfig::separator,
         "What stands between fields; auto: whichever the first line holds.",
         Constraint::one_of(separators())},
        {"decimal", &CsvConfig::decimal, "What separates the decimals of numbers.",
         Constraint::one_of({"point", "comma"})},
        {"missing", &CsvConfig::missing,
         "What becomes of a row with an empty field in a column that is named here: it is refused, or left "
         "out and counted.",
         Constraint::one_of({"refuse", "drop"})},
        {"missing_as", &CsvConfig::missing_as,
         "Texts that count as an empty field where rows are left out, separated by commas, such as \"NA, "
         "?\"."},
    };
  }

  static std::vector<std::string> separators() {
    std::vector<std::string> names = separator_names();
    names.insert(names.begin(), "auto");
    return names;
  }

  CsvRoles roles() const;
  CsvUnits unit_list() const;
  // What Dataset::read_off says of such a table.
  std::vector<std::string> read_off() const;
  void validate() const;
};

// "a, b" as {"a", "b"}.
std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view part = trimmed(text.substr(0, comma)); !part.empty()) names.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

CsvRoles CsvConfig::roles() const {
  return {.target = target,
          .task = task == "auto"         ? CsvTask::kUnstated
                  : task == "regression" ? CsvTask::kRegression
                                         : CsvTask::kClassification,
          .features = listed(features),
          .categorical = listed(categorical),
          .index = index,
          .index_values = listed(index_values),
          .user = user,
          .decimal = decimal == "comma" ? ',' : '.',
          .drop_missing = missing == "drop",
          .missing_as = listed(missing_as)};
}

CsvUnits CsvConfig::unit_list() const {
  CsvUnits list;
  for (const std::string& entry : listed(units)) {
    const std::size_t colon = std::min(entry.rfind(':'), entry.size());
    const std::optional<double> unit =
        number_of(std::string_view(entry).substr(std::min(colon + 1, entry.size())));
    if (!unit || *unit <= 0)
      throw Error(Complaint{.found = fmt::format("units holds \"{}\"", entry),
                            .allowed = "names of columns and numbers > 0, as in \"x: 100, y: 0.5\""});
    const std::string name(trimmed(std::string_view(entry).substr(0, colon)));
    if (std::ranges::find(list, name, &CsvUnits::value_type::first) != list.end())
      throw Error(Complaint{.found = fmt::format("units names the column {} twice", fedarena::quoted(name))});
    list.emplace_back(name, *unit);
  }
  return list;
}

std::vector<std::string> CsvConfig::read_off() const {
  std::vector<std::string> list;
  if (features.empty()) list.emplace_back("which columns hold numbers");
  if (!categorical.empty()) list.emplace_back("the categories");
  if (task != "regression") list.emplace_back("the classes");
  if (missing == "drop") list.emplace_back("which rows have missing values");
  if (standardise == "features") list.emplace_back("means and deviations of the features");
  if (standardise == "all") list.emplace_back("means and deviations of the features and the target");
  return list;
}

// Settings that need each other.
void check_pair(const std::string& one, const std::string& value, const std::string& other,
                const std::string& other_value) {
  if (value.empty() == other_value.empty()) return;
  const bool first = other_value.empty();
  throw Error(
      Complaint{.found = fmt::format("{} is given without {}", first ? one : other, first ? other : one),
                .remedy = "Give both or neither"});
}

void CsvConfig::validate() const {
  if (path.empty()) throw Error(Complaint{.found = "path is \"\"", .allowed = "a CSV file, plain or .gz"});
  if (target.empty()) throw Error(Complaint{.found = "target is \"\"", .allowed = "the name of a column"});
  std::vector<std::string> names = listed(features);
  for (std::string& name : listed(categorical)) names.push_back(std::move(name));
  names.push_back(target);
  if (!user.empty()) names.push_back(user);
  if (!index.empty()) names.push_back(index);
  std::set<std::string> known;
  for (const std::string& name : names)
    if (!known.insert(name).second)
      throw Error(Complaint{.found = fmt::format("the column \"{}\" is named twice", name),
                            .allowed = "one role a column: features, categorical, index, target or user"});
  check_pair("join", join, "join_path", join_path);
  if (!join.empty() && join == target)
    throw Error(Complaint{
        .found = fmt::format("join is {}, the target: features would tell it", fedarena::quoted(join)),
        .allowed = "a column that is known where the target is asked for"});
  if (!missing_as.empty() && missing != "drop")
    throw Error(Complaint{.found = fmt::format("missing_as is given where missing is \"{}\"", missing),
                          .remedy = "Set missing = \"drop\", or leave missing_as out"});
  check_pair("index", index, "index_values", index_values);
  const std::vector<std::string> values = listed(index_values);
  for (const std::string& longer : values) {
    for (const std::string& value : values) {
      if (&longer == &value || !longer.starts_with(value)) continue;
      throw Error(Complaint{.found = fmt::format("index_values: {} begins with {}", fedarena::quoted(longer),
                                                 fedarena::quoted(value)),
                            .allowed = "values of which none begins as another"});
    }
  }
  unit_list();
}

// A model is not tested on what it was trained on.
void check_other_file(const CsvFile& trained, const CsvFile& tested) {
  if (!tested.same_content(trained)) return;
  reject_file(tested.path(), "test_path is the file of path, or holds the same bytes", "a file of other rows",
              "Give such a file, or leave test_path out and have test_fraction set rows aside");
}

// Of the features, then of the target.
std::vector<double> fitted_numbers(const CsvScales& scales) {
  std::vector<ColumnScale> all = scales.features;
  all.push_back(scales.target);
  std::vector<double> numbers;
  for (const ColumnScale& scale : all)
    if (scale.fitted()) numbers.insert(numbers.end(), {scale.mean(), scale.deviation()});
  return numbers;
}

// Features of some rows of a table: scaled numbers, then a 0 or 1 for every category.
template <typename Number>
torch::Tensor encode_features(const CsvTable& table, const std::vector<ColumnScale>& scales,
                              const std::vector<std::int64_t>& rows) {
  auto width = std::ssize(table.features());
  for (const TextColumn& column : table.categorical()) width += std::ssize(column.names());
  torch::Tensor inputs = torch::zeros({std::ssize(rows), width}, c10::CppTypeToScalarType<Number>::value);
  auto* next = inputs.data_ptr<Number>();
  for (const std::int64_t place : rows) {
    const auto row = static_cast<std::size_t>(place);
    for (std::size_t feature = 0; feature < scales.size(); ++feature)
      *next++ = static_cast<Number>(scales[feature](table.features()[feature].values()[row]));
    for (const TextColumn& column : table.categorical()) {
      next[column.values()[row]] = 1;
      next += column.names().size();
    }
  }
  return inputs;
}

Examples encode(const CsvTable& table, const CsvScales& scales, const std::vector<std::int64_t>& rows,
                NameNumbers& users) {
  const bool regression = table.regression();
  const auto count = std::ssize(rows);
  Examples examples{.inputs = encode_features<float>(table, scales.features, rows),
                    .targets = regression ? torch::empty({count, 1}, torch::kFloat32)
                                          : torch::empty({count}, torch::kInt64)};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
    if (regression) {
      const double target = scales.target(table.numeric_target().values()[row]);
      examples.targets.data_ptr<float>()[i] = static_cast<float>(target);
    } else {
      examples.targets.data_ptr<std::int64_t>()[i] = table.class_target().values()[row];
    }
    const TextColumn& owners = table.users();
    if (!owners.values().empty())
      examples.users.push_back(users.number(owners.names()[static_cast<std::size_t>(owners.values()[row])]));
  }
  return examples;
}

// A table, and which of its rows are for training and for testing.
struct CsvRows {
  CsvTable table;
  CsvParts parts;
};

CsvRows read_rows(const CsvConfig& config, const SearchPath& search_path) {
  const auto file_of = [&](const std::string& key, const std::string& path) {
    return CsvFile(find_own(key, path, search_path), config.separator == "auto" ? "" : config.separator);
  };
  CsvFile first_file = file_of("path", config.path);
  std::optional<CsvFile> second_file;
  if (!config.test_path.empty()) second_file = file_of("test_path", config.test_path);
  if (second_file) check_other_file(first_file, *second_file);
  CsvTable table(config.roles());
  std::optional<CsvJoin> join;
  if (!config.join.empty())
    join.emplace(CsvFile(find_own("join_path", config.join_path, search_path)), config.join);
  const auto append = [&](CsvFile& file, std::int64_t least) {
    if (join) file.join(*join);
    const std::int64_t before = table.rows();
    table.append(file);
    if (table.rows() - before < least)
      reject_file(file.path(),
                  fmt::format("the file has {}{}", counted(table.rows() - before, "row"),
                              config.missing == "drop" ? " without a missing value"
                              : config.index.empty()   ? ""
                                                       : " that index_values takes"),
                  fmt::format("at least {}", least), "");
    return table.rows();
  };
  const bool second = second_file.has_value();
  const std::int64_t first_rows = append(first_file, second ? 1 : 2);
  if (second) append(*second_file, 1);
  table.finish();
  CsvParts parts =
      second ? split_at(first_rows, table.rows()) : draw_parts(table.rows(), config.test_fraction);
  // Of a drawn part, in_words tells: there is no label to be mended.
  if (second) check_test_classes(table, parts);
  return {std::move(table), std::move(parts)};
}

torch::Tensor load_unscaled(const Settings& settings, const SearchPath& search_path) {
  const auto [table, parts] = read_rows(CsvConfig::schema().read(settings), search_path);
  return encode_features<double>(table, std::vector<ColumnScale>(table.features().size()), parts.train);
}

Dataset load_csv(const Settings& settings, const SearchPath& search_path) {
  const CsvConfig config = CsvConfig::schema().read(settings);
  const auto [table, parts] = read_rows(config, search_path);
  const CsvScales scales = scale_columns(table, parts, config.standardise != "none",
                                         config.standardise == "all", config.unit_list());
  Dataset dataset;
  const bool in_unit =
      std::ranges::find(scales.units, config.target, &CsvUnits::value_type::first) != scales.units.end();
  if (table.regression() && (in_unit || config.standardise == "all"))
    dataset.note =
        fmt::format("{}an error of 1 is {:.6g} of \"{}\"", in_unit ? "" : "the target is standardised; ",
                    scales.target.deviation(), config.target);
  dataset.read_off = config.read_off();
  dataset.column_scales = fitted_numbers(scales);
  dataset.taken = in_words(table, parts, scales, true);
  dataset.taken_without_labels = in_words(table, parts, scales, false);
  // Those who have training examples come first.
  NameNumbers users;
  dataset.train = encode(table, scales, parts.train, users);
  dataset.test = encode(table, scales, parts.test, users);
  if (config.test_path.empty()) {
    dataset.train.positions = parts.train;
    dataset.test.positions = parts.test;
  }
  dataset.users = users.names();
  dataset.classes = static_cast<std::int64_t>(table.class_target().names().size());
  return dataset;
}

}  // namespace

DatasetSource csv_source() {
  return {.name = "csv",
          .summary = "Your own table, a CSV file: classification or regression.",
          .fields = CsvConfig::schema().fields(),
          .required = {"path", "target"},
          .origin = DatasetOrigin::kOwn,
          .load = load_csv,
          .unscaled = load_unscaled,
          .check = [](const Settings& settings) { CsvConfig::schema().read(settings); }};
}

}  // namespace fedarena
