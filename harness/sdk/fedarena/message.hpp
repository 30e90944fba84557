#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fedarena/params.hpp"

namespace fedarena {

/// The typed name of an entry: T is Params, torch::Tensor, double or std::int64_t.
template <typename T>
struct Key {
  const char* name;
};

/// What server and clients send each other, and what they remember: a few named values, in the order they
/// were put. A value: copies of Params are deep, tensors must not be changed in place once they are in a
/// message.
class FEDARENA_API Message {
 public:
  using Content = std::variant<Params, torch::Tensor, double, std::int64_t>;

  struct Entry {
    template <typename T>
    Entry(Key<T> key, T value) : name(key.name), content(std::move(value)) {}
    Entry(std::string entry_name, Content entry_content)
        : name(std::move(entry_name)), content(std::move(entry_content)) {}
    std::string name;
    Content content;
  };

  Message() = default;
  Message(std::initializer_list<Entry> entries) : entries_(entries) {}

  /// The value of that key; Bug when there is none or it has another type.
  template <typename T>
  const T& operator[](Key<T> key) const {
    return std::get<T>(find(key.name, Content(T()).index()));
  }
  template <typename T>
  T get_or(Key<T> key, T fallback) const {
    return contains(key.name) ? (*this)[key] : std::move(fallback);
  }
  template <typename T>
  void put(Key<T> key, T value) {
    put_entry(Entry(key, std::move(value)));
  }
  void put_entry(Entry entry);

  bool contains(std::string_view name) const;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  const Content& find(std::string_view name, std::size_t type) const;

  std::vector<Entry> entries_;
};

}  // namespace fedarena
