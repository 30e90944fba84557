#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace fedarena {

/// Memory of a device that several threads' work shares: who begins says how much it will need, and waits
/// while others have too much of it. An estimate bounds what is under way; it is not an allocation.
class Reservations {
 public:
  /// Bytes to share.
  explicit Reservations(std::int64_t capacity) : capacity_(capacity) {}

  /// What one piece of work has until it ends.
  class Held {
   public:
    Held(Reservations& of, std::int64_t bytes) : of_(of), bytes_(bytes) {}
    ~Held() { of_.give_back(bytes_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Reservations& of_;
    std::int64_t bytes_;
  };

  /// Waits until so many bytes are left, or nobody has any: what needs more than there is goes alone.
  Held take(std::int64_t bytes) {
    bytes = std::max<std::int64_t>(1, bytes);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return want_all_ == 0 && (taken_ == 0 || bytes <= capacity_ - taken_); });
    taken_ += bytes;
    return {*this, bytes};
  }
  /// Waits until nobody has any, before all that begin to wait later. Nobody gets any until it ends.
  Held take_all() {
    std::unique_lock lock(mutex_);
    ++want_all_;
    changed_.wait(lock, [&] { return taken_ == 0; });
    --want_all_;
    taken_ = std::max<std::int64_t>(1, capacity_);
    return {*this, taken_};
  }

 private:
  void give_back(std::int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      taken_ -= bytes;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t capacity_, taken_ = 0, want_all_ = 0;
};

}  // namespace fedarena
