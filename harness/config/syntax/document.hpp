#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/schema.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena::config {

struct Table;

/// What stands right of an equals sign, and where.
struct ParsedValue {
  Place place;
  std::optional<Value> value = {};                 ///< nothing when no setting can hold it
  std::string kind = {};                           ///< then: what it is, "a date"
  std::vector<std::pair<int, int>> elements = {};  ///< of a list: line and column of each
  std::vector<Table> tables;            ///< one where a section holds a table of its own, as a list because
                                        ///< tables hold values
  std::vector<ParsedValue> items = {};  ///< of a list: its elements, as far as a sweep can use them

  /// That table, or nullptr.
  Table* table();
  const Table* table() const;
  /// The value, where it has that type, or nullptr.
  template <typename Held>
  const Held* get() const {
    return value ? std::get_if<Held>(&*value) : nullptr;
  }
  /// What it is, for messages: the value as a file writes it, or its kind.
  std::string text() const { return value ? to_text(*value) : kind; }
};

/// One line "key = value" of a section, or a table below it.
struct Setting {
  std::string key;
  Place place;  ///< of the key
  ParsedValue written;
  bool overridden = false;            ///< given by --set, by a profile, or by a list of values
  bool listed = false;                ///< given by a list of values: of [sweep] or [tuning]
  std::optional<Value> of_file = {};  ///< where it is overridden: what the file itself gives, if anything
};

/// The settings below one [header], in the order of the file.
struct Table {
  Place place;
  std::vector<Setting> settings;

  Setting* find(std::string_view key);
  const Setting* find(std::string_view key) const;
};

/// What a document holds under one name at its top.
struct Section {
  enum class Form { kTable, kTables, kValue };

  std::string name;
  Place place;
  Form form = Form::kTable;
  std::vector<Table> tables = {};  ///< kTable: one; kTables: any number; kValue: none
};

/// Points of a sweep, at most; longer lists cannot be swept.
inline constexpr std::size_t kMostPoints = 1000;

/// A TOML file as values with places. It is itself a value: overrides go into a copy of what was parsed, and
/// keep the places of all else.
struct Document {
  std::string file;               ///< what messages call it
  std::vector<Section> sections;  ///< in the order of the file

  /// The section of that name, or nullptr.
  Section* find(std::string_view name);
  const Section* find(std::string_view name) const;
  /// The one table of that section; nullptr where it has another form or is not there.
  const Table* table(std::string_view name) const;
};

/// Parses TOML. Throws Error for what is no UTF-8, no TOML, or nested absurdly deep.
Document parse_document(std::string_view text, const std::string& file);

/// Parses a file, which messages call `name` where that is not empty. Throws Error as well when it is
/// missing, a folder, unreadable or over 10 MB.
Document read_document(const std::filesystem::path& file, const std::string& name = {});

/// Parses one value, as TOML writes it or as a bare word. Throws Error at the place.
ParsedValue parse_value(std::string_view text, const Place& place);

/// Throws the complaint as an Error that fits on a screen, however long the names in it are.
[[noreturn]] void complain(Complaint complaint);

/// A name as messages show it: in quotes, escaped. (Unqualified, `quoted` of a std::string is the standard
/// library's.)
inline std::string in_quotes(std::string_view name) { return fedarena::quoted(name); }

/// The key of ours that another program or a paper calls so, or "".
std::string our_name(std::string_view found);

/// Among the names our_name() or the one most like `found`, or ""; found names too long to be a slip have
/// none.
std::string nearest_to(std::string_view found, const std::vector<std::string>& names);

}  // namespace fedarena::config
