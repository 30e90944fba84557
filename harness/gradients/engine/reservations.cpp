#include "harness/gradients/engine/reservations.hpp"

#include <algorithm>

namespace fedarena {

Reservations::Held Reservations::take(std::int64_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return want_all_ == 0 && (taken_ == 0 || bytes <= capacity_ - taken_); });
  taken_ += bytes;
  return {*this, bytes};
}

Reservations::Held Reservations::take_all() {
  std::unique_lock lock(mutex_);
  ++want_all_;
  changed_.wait(lock, [&] { return taken_ == 0; });
  --want_all_;
  const std::int64_t bytes = std::max<std::int64_t>(1, capacity_);
  taken_ += bytes;
  return {*this, bytes};
}

void Reservations::give_back(std::int64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    taken_ -= bytes;
  }
  changed_.notify_all();
}

}  // namespace fedarena
