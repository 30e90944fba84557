#include "datasets/registry.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <variant>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "datasets/data_hash.hpp"

// The table. A line NAME stands for a function `DatasetSource NAME_source()` in a file of its own.
#define FEDARENA_DATASETS(LINE) \
  LINE(glyphs)                  \
  LINE(linear_mixture)          \
  LINE(mnist)                   \
  LINE(fashion_mnist)           \
  LINE(cifar10)                 \
  LINE(cifar100)                \
  LINE(svhn)                    \
  LINE(femnist)                 \
  LINE(fed_emnist)              \
  LINE(image_folder)            \
  LINE(csv)

namespace fedarena {

#define FEDARENA_DECLARE(name) DatasetSource name##_source();
FEDARENA_DATASETS(FEDARENA_DECLARE)
#undef FEDARENA_DECLARE

namespace {

const auto& sources() {
#define FEDARENA_CALL(name) name##_source(),
  static const std::array table{FEDARENA_DATASETS(FEDARENA_CALL)};
#undef FEDARENA_CALL
  return table;
}

/// The variable's value, or "" when it is not set.
std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<std::string> dataset_names() { return names_of(sources(), &DatasetSource::name); }

const DatasetSource& dataset_source(const std::string& name) {
  if (const DatasetSource* source = find_named(sources(), name, &DatasetSource::name)) return *source;
  throw unknown_name(fmt::format("there is no data set \"{}\"", name), name, dataset_names());
}

std::vector<std::filesystem::path> find_dataset(const std::string& name, const Settings& settings,
                                                const SearchPath& search_path) {
  const DatasetSource& source = dataset_source(name);
  if (source.find != nullptr) return source.find(complete(source.fields, settings), search_path);
  if (source.origin != DatasetOrigin::kFiles) return {};
  return find_published(source.files, search_path);
}

std::vector<std::filesystem::path> own_files(const std::string& name, const Settings& settings,
                                             const SearchPath& search_path) {
  std::vector<std::filesystem::path> files;
  if (dataset_source(name).origin != DatasetOrigin::kOwn) return files;
  for (const auto& [key, value] : settings) {
    const auto* path = std::get_if<std::string>(&value);
    if (path == nullptr || path->empty() || !key.ends_with("path")) continue;
    try {
      files.push_back(find_own(key, *path, search_path));
    } catch (const Error&) {  // is not there, as whoever loads it says
    }
  }
  return files;
}

void check_dataset(const std::string& name, const Settings& settings) {
  const DatasetSource& source = dataset_source(name);
  if (source.check != nullptr) source.check(settings);
}

std::string describe_dataset(const std::string& name, const Settings& settings) {
  std::vector<std::string> parts;
  for (const Field& field : dataset_source(name).fields) {
    for (const auto& [key, value] : settings) {
      if (key == field.name && value != field.fallback)
        parts.push_back(fmt::format("{} = {}", key, to_text(value)));
    }
  }
  return parts.empty() ? name : fmt::format("{} ({})", name, join_names(parts));
}

Dataset load_dataset(const std::string& name, const Settings& settings, const SearchPath& search_path) {
  const DatasetSource& source = dataset_source(name);
  const Settings whole = complete(source.fields, settings);
  if (source.check != nullptr) source.check(whole);
  Dataset dataset = source.load(whole, search_path);
  dataset.name = source.name;
  // Of the user's own files, which may be two copies of one.
  const std::int64_t known =
      dataset.taken.empty() ? 0 : count_known(dataset.test.inputs, dataset.train.inputs);
  if (known > 0)
    dataset.overlap = fmt::format("\n  {} of {} test examples have the inputs of a training example", known,
                                  dataset.test.size());
  return dataset;
}

torch::Tensor load_unscaled_inputs(const std::string& name, const Settings& settings,
                                   const SearchPath& search_path) {
  const DatasetSource& source = dataset_source(name);
  if (source.unscaled == nullptr) return {};
  return source.unscaled(complete(source.fields, settings), search_path);
}

SearchPath default_search_path() {
  SearchPath folders;
  const std::string listed = environment("FEDARENA_DATA");
  for (std::size_t begin = 0; begin < listed.size();) {
    const std::size_t end = std::min(listed.find(':', begin), listed.size());
    if (end > begin) folders.emplace_back(listed.substr(begin, end - begin));
    begin = end + 1;
  }
  // The XDG Base Directory Specification has relative paths ignored.
  const std::filesystem::path cache = environment("XDG_CACHE_HOME");
  const std::filesystem::path home = environment("HOME");
  if (cache.is_absolute())
    folders.push_back(cache / "fedarena");
  else if (!home.empty())
    folders.push_back(home / ".cache" / "fedarena");
  return folders;
}

}  // namespace fedarena
