#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// A fixed number of workers that share loops. Loops may nest: a worker that waits for an inner loop helps
/// with that loop and with nothing else, so that it never holds two outer pieces of work at once. One that
/// waits for an outer loop, all of whose pieces have begun, helps with the inner loops of others.
class FEDARENA_API WorkPool {
 public:
  /// `workers` >= 1, the calling thread included; `on_entry` runs on a thread whenever it joins, so at least
  /// once before the first piece of work there.
  explicit WorkPool(int workers, std::function<void()> on_entry = {});
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  int workers() const;
  /// The number of processor cores that this process may use.
  static int available_cores();

  /// Calls body(0), ..., body(count - 1), each once, in any order and on any worker; returns when all are
  /// done. When bodies throw, the exception of the lowest index that throws is rethrown, for any number of
  /// workers; every lower index has run, and higher ones may not have.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& body) const;

  /// While one lives, loops that its thread begins run on that thread alone.
  class FEDARENA_API Alone {
   public:
    Alone();
    ~Alone();
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fedarena
