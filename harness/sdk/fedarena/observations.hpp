#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// Numbers that an algorithm tells of itself, for people to look at: "radius", "matching-loss". The harness
/// writes down the mean of each name over a round, and draws it; nothing else rests on it.
class FEDARENA_API Observations {
 public:
  /// All values of one name.
  struct Values {
    double sum = 0;
    std::int64_t count = 0;
  };

  /// One more value; nan and infinity are values. Names are small letters, digits and single hyphens, begin
  /// with a letter and have at most 40 characters; another one is an Error.
  void add(std::string_view name, double value) { add(name, {value, 1}); }
  /// So many more values at once.
  void add(std::string_view name, const Values& values);
  /// All of another's values.
  void add(const Observations& others);

  const std::map<std::string, Values, std::less<>>& values() const { return values_; }

 private:
  friend class VoteSeal;  // of the harness

  // While votes are cast, whose voters hold private examples: adding is an Error.
  bool closed_ = false;
  std::map<std::string, Values, std::less<>> values_;
};

}  // namespace fedarena
