#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/export.hpp"
#include "fedarena/base/find.hpp"

namespace fedarena {

/// A number for all clients, or a list of numbers that is dealt to them in turn: client c has element c
/// modulo the length.
class PerClient {
 public:
  PerClient(double all = 0) : numbers_{all} {}  // NOLINT(google-explicit-constructor): it is a number
  explicit PerClient(std::vector<double> list) : numbers_(std::move(list)), is_list_(true) {}

  /// The list must not be empty.
  double of(std::int64_t client) const {
    return numbers_[static_cast<std::size_t>(client) % numbers_.size()];
  }
  bool is_list() const { return is_list_; }
  /// Of what is not a list.
  double number() const { return numbers_.front(); }
  double least() const { return *std::min_element(numbers_.begin(), numbers_.end()); }
  double most() const { return *std::max_element(numbers_.begin(), numbers_.end()); }
  const std::vector<double>& numbers() const { return numbers_; }
  bool operator==(const PerClient&) const = default;

 private:
  std::vector<double> numbers_;
  bool is_list_ = false;
};

/// What a setting can hold.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, PerClient>;

/// The value as an experiment file writes it: true, 10, 0.1, "text", [1, 2], [0.5, 1.0]. Doubles print the
/// shortest text that reads back to the same bits, always recognisable as a float.
FEDARENA_API std::string to_text(const Value& value);

/// The name of the value's type in messages: "a boolean", "an integer", "a number", "a string", "a list of
/// integers", "a list of numbers".
FEDARENA_API std::string type_name(const Value& value);

/// Which values of a setting are allowed. Numbers must be finite and no NaN in any case, lists obey it per
/// element.
class FEDARENA_API Constraint {
 public:
  Constraint() = default;
  /// lowest <= value <= highest.
  static Constraint between(double lowest, double highest);
  /// value >= lowest.
  static Constraint at_least(double lowest);
  /// value > 0.
  static Constraint positive();
  /// One of the names.
  static Constraint one_of(std::vector<std::string> names);

  /// "a number > 0", "an integer from 1 to 100", "\"sum\", \"mean\""; `example` gives the type.
  std::string allowed(const Value& example) const;
  bool holds(const Value& value) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool holds_number(double value) const;

  bool has_lowest_ = false, lowest_excluded_ = false, has_highest_ = false;
  double lowest_ = 0, highest_ = 0;
  std::vector<std::string> names_;
};

/// One declared setting, type-erased: said once in a Schema, used by the parser, the error messages, the
/// help, the documentation and the recorded run.
struct FEDARENA_API Field {
  std::string name;
  std::string doc;  ///< one sentence
  Value fallback;   ///< the default; its alternative is the field's type
  Constraint constraint;
  std::function<void(void* config, const Value& value)> store;  ///< stores a value that `checked` returned
  std::function<Value(const void* config)> load = {};           ///< the value that the config holds
  /// Whether a resolved experiment leaves it out where it is the default: what came later changes no text,
  /// which names the noise of a run.
  bool later = false;

  /// The value in the field's type (an integer becomes a number where a number is asked for, and a number or
  /// a list of them becomes one for each client).
  /// Throws Error with found, allowed and nearest name, without a place.
  Value checked(const Value& value) const;
  std::string allowed() const { return constraint.allowed(fallback); }
};

/// Settings by name, as far as a file gave them.
using Settings = std::vector<std::pair<std::string, Value>>;

/// The value of that name, where there is one and it has that type, or nullptr.
template <typename Held>
const Held* find_setting(const Settings& settings, std::string_view name) {
  const auto* found = find_named(settings, name, &Settings::value_type::first);
  return found == nullptr ? nullptr : std::get_if<Held>(&found->second);
}

/// The field of that name, or nullptr.
FEDARENA_API const Field* find_field(const std::vector<Field>& fields, std::string_view name);

/// Every field's value: the given one, checked, else the default. Throws Error for a name that no field has.
FEDARENA_API Settings complete(const std::vector<Field>& fields, const Settings& given);

/// A config struct may have `void validate() const` for rules that span fields; it throws Error.
template <typename Config>
concept Validated = requires(const Config& config) {
  config.validate();
};

/// The declaration of a config struct: name, member, sentence and constraint of each setting. Defaults are
/// the values of a struct that nobody has set.
template <typename Config>
class Schema {
 public:
  struct Entry {
    template <typename Owner, typename Member>
    requires std::derived_from<Config, Owner> Entry(std::string name, Member Owner::*member, std::string doc,
                                                    Constraint constraint = {}, bool later = false)
        : field{std::move(name),
                std::move(doc),
                Value(Config{}.*member),
                std::move(constraint),
                [member](void* config, const Value& value) {
                  static_cast<Config*>(config)->*member = std::get<Member>(value);
                },
                [member](const void* config) { return Value(static_cast<const Config*>(config)->*member); },
                later} {}
    Field field;
  };

  Schema(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) fields_.push_back(entry.field);
  }

  /// Puts the settings of base structs before these, those of the last named first:
  /// `Schema<Config>{...}.extends<Weighting, LocalTraining>()`. Defaults are what a Config starts with, which
  /// may differ from the base's own.
  template <typename... Bases>
  requires(std::derived_from<Config, Bases>&&...) Schema extends() && {
    ((*this = std::move(*this).extends(Bases::schema())), ...);
    return std::move(*this);
  }
  /// The same of a part of a base's settings.
  template <typename Base>
  requires std::derived_from<Config, Base> Schema extends(const Schema<Base>& base) && {
    std::vector<Field> fields = base.fields();
    for (const Field& own : fields_) {
      if (find_field(fields, own.name)) throw Bug("two settings are called \"" + own.name + "\"");
    }
    for (Field& field : fields) {
      field.store = [store = field.store](void* config, const Value& value) {
        store(static_cast<Base*>(static_cast<Config*>(config)), value);
      };
      field.load = [load = field.load](const void* config) {
        return load(static_cast<const Base*>(static_cast<const Config*>(config)));
      };
      const Config defaults{};
      field.fallback = field.load(&defaults);
    }
    fields.insert(fields.end(), fields_.begin(), fields_.end());
    fields_ = std::move(fields);
    return std::move(*this);
  }

  const std::vector<Field>& fields() const { return fields_; }

  /// A config with the given settings over the defaults, checked field by field and as a whole.
  Config read(const Settings& given) const {
    Config config;
    for (const auto& [name, value] : complete(fields_, given))
      find_field(fields_, name)->store(&config, value);
    if constexpr (Validated<Config>) config.validate();
    return config;
  }

 private:
  std::vector<Field> fields_;
};

}  // namespace fedarena
