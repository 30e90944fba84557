#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/ranks/crew.hpp"

namespace fedarena::test {

/// Ranks that are threads of one program. The first is the test's own thread; what each of the others does is
/// given, and how many say that they run on the same host.
class ThreadsAsRanks {
 public:
  ThreadsAsRanks(int count, const std::function<void(Ranks&)>& others, int ranks_per_host = 1)
      : ranks_per_host_(ranks_per_host) {
    for (int rank = 0; rank < count; ++rank)
      ranks_.push_back(std::make_unique<OneThread>(*this, rank, count));
    for (int rank = 1; rank < count; ++rank)
      threads_.emplace_back([this, others, rank] { others(*ranks_[static_cast<std::size_t>(rank)]); });
  }
  ~ThreadsAsRanks() {
    first().broadcast({});
    for (std::thread& thread : threads_) thread.join();
  }
  ThreadsAsRanks(const ThreadsAsRanks&) = delete;
  ThreadsAsRanks& operator=(const ThreadsAsRanks&) = delete;

  Ranks& first() const { return *ranks_.front(); }
  /// What ranks have sent to each other.
  std::int64_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  class OneThread final : public Ranks {
   public:
    OneThread(ThreadsAsRanks& all, int rank, int count) : all_(all), rank_(rank), count_(count) {}
    int rank() const override { return rank_; }
    int count() const override { return count_; }
    std::string host() const override { return "host-" + std::to_string(rank_ / all_.ranks_per_host_); }
    Bytes broadcast(Bytes bytes) override {
      if (rank_ > 0) return receive(0);
      for (int to = 1; to < count_; ++to) send(to, bytes);
      return bytes;
    }
    void send(int to, std::span<const std::byte> bytes) override {
      const std::lock_guard lock(all_.mutex_);
      all_.bytes_ += std::ssize(bytes);
      all_.sent_[{rank_, to}].emplace_back(bytes.begin(), bytes.end());
      all_.changed_.notify_all();
    }
    Bytes receive(int from) override {
      std::unique_lock lock(all_.mutex_);
      auto& waiting = all_.sent_[{from, rank_}];
      all_.changed_.wait(lock, [&] { return !waiting.empty(); });
      Bytes bytes = std::move(waiting.front());
      waiting.pop_front();
      return bytes;
    }

   private:
    ThreadsAsRanks& all_;
    int rank_, count_;
  };

  const int ranks_per_host_;
  mutable std::mutex mutex_;
  std::int64_t bytes_ = 0;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<Bytes>> sent_;  // by sender and receiver
  std::vector<std::unique_ptr<OneThread>> ranks_;
  std::vector<std::thread> threads_;
};

}  // namespace fedarena::test
