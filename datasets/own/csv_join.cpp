#include "datasets/own/csv_join.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/csv_cell.hpp"

namespace fedarena {

CsvJoin::CsvJoin(CsvFile file, const std::string& key) : key_(key), path_(file.path().string()) {
  const std::size_t at = file.find(key, "join");
  columns_ = file.header();
  columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<CsvField> fields;
  while (file.next(fields)) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (i != at) row.push_back(fields[i].text);
    const std::string name(trimmed(fields[at].text));
    if (!rows_.emplace(name, std::move(row)).second)
      throw Error(Complaint{.place = {path_, fields[at].line, fields[at].column},
                            .found = fmt::format("two rows have {} in the column {}", fedarena::quoted(name),
                                                 fedarena::quoted(key_)),
                            .remedy = "Remove one"});
  }
}

const std::vector<std::string>& CsvJoin::row_of(const CsvFile& file, const CsvField& asking) const {
  const std::string name(trimmed(asking.text));
  if (const auto found = rows_.find(name); found != rows_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, row] : rows_) names.push_back(known);
  std::ranges::sort(names);
  throw Error(Complaint{.place = {file.path().string(), asking.line, asking.column},
                        .found = fmt::format("the field of column {} is {}, which no row of {} has",
                                             fedarena::quoted(key_), fedarena::quoted(name), path_),
                        .nearest = nearest_name(name, names),
                        .remedy = "Add such a row there, or leave this one out"});
}

}  // namespace fedarena
