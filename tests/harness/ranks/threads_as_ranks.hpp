#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
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
      std::unique_lock lock(all_.mutex_);
      if (rank_ == 0) {
        for (int to = 1; to < count_; ++to) {
          all_.ranks_[static_cast<std::size_t>(to)]->broadcast_.push_back(bytes);
          all_.count(bytes);
        }
        return {};
      }
      all_.changed_.wait(lock, [&] { return !broadcast_.empty(); });
      bytes = std::move(broadcast_.front());
      broadcast_.pop_front();
      return bytes;
    }
    void send(int to, Bytes bytes) override {
      const std::lock_guard lock(all_.mutex_);
      all_.count(bytes);
      all_.ranks_[static_cast<std::size_t>(to)]->received_.push_back({rank_, std::move(bytes)});
    }
    std::vector<Received> receive_some(std::size_t most) override {
      std::unique_lock lock(all_.mutex_);
      all_.changed_.wait(lock, [&] { return !received_.empty(); });
      std::vector<Received> some;
      for (; most > 0 && !received_.empty(); --most) {
        some.push_back(std::move(received_.front()));
        received_.pop_front();
      }
      return some;
    }

   private:
    ThreadsAsRanks& all_;
    int rank_, count_;
    std::deque<Bytes> broadcast_;
    std::deque<Received> received_;
  };

  // With the mutex held.
  void count(const Bytes& bytes) {
    bytes_ += std::ssize(bytes);
    changed_.notify_all();
  }

  const int ranks_per_host_;
  mutable std::mutex mutex_;
  std::int64_t bytes_ = 0;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<OneThread>> ranks_;
  std::vector<std::thread> threads_;
};

}  // namespace fedarena::test
