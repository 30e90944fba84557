#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace fedarena::test {

/// Of the environment; nothing: it is not there.
using Variables = std::map<std::string, std::optional<std::string>>;

/// Sets variables of the environment, or takes them away, as long as it lives.
class Environment {
 public:
  explicit Environment(const Variables& variables) {
    for (const auto& [name, value] : variables) {
      const char* const before = std::getenv(name.c_str());
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      set(name, value);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) set(name, value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }

  Variables before_;
};

}  // namespace fedarena::test
