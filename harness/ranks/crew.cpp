#include "harness/ranks/crew.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/first_failure.hpp"

#include "harness/wire/parts.hpp"

namespace fedarena {
namespace {

// What rank 0 asks for, and how an answer begins.
enum Request : std::uint64_t { kHello, kBegin, kLoop, kEnd };
enum Outcome : std::uint64_t { kDone, kFailed, kBroken, kStopped };

// Packs a complaint, or takes it off again.
void for_fields(auto& complaint, auto&& each) {
  auto& [place, found, allowed, nearest, remedy] = complaint;
  each(place.file, place.line, place.column, found, allowed, nearest, remedy);
}

// What was thrown, in bytes; called in a handler.
Bytes pack_exception(const std::string& host) {
  try {
    throw;
  } catch (const Interrupted&) {
    return packed(kStopped);
  } catch (const Error& error) {
    Bytes bytes = packed(kFailed);
    for_fields(error.complaint(), [&](const auto&... all) { put(bytes, all...); });
    return bytes;
  } catch (const std::exception& error) {
    return packed(kBroken, fmt::format("{} (on {})", error.what(), host));
  }
}

std::exception_ptr unpack_exception(Outcome outcome, Parts& parts) {
  if (outcome == kStopped) return std::make_exception_ptr(Interrupted());
  if (outcome == kBroken) return std::make_exception_ptr(Bug(parts.next<std::string>()));
  Complaint complaint;
  for_fields(complaint, parts);
  return std::make_exception_ptr(Error(std::move(complaint)));
}

// The messages of some ranks, as many as are expected, as they come.
template <typename Take>
void receive(Ranks& ranks, std::size_t expected, const Take& take) {
  while (expected > 0) {
    for (const Ranks::Received& received : ranks.receive_some(expected)) {
      take(received.from, received.bytes);
      --expected;
    }
  }
}

// A loop of this rank's own workers.
void compute(Ranks& ranks, const WorkPool& pool, std::size_t count,
             const std::function<void(std::size_t)>& body) {
  ranks.computes(true);
  pool.for_each(count, body);
  ranks.computes(false);
}

// Works on a job: on what rank 0 has sent when the items before are done, until it sends none. Answers each
// item once it is done: its index, this rank's work since it last said so, an outcome and the result.
void do_items(Ranks& ranks, const WorkPool& pool, const Worker& worker, std::span<const std::byte> job) {
  Handle handle;
  Bytes unopened;
  std::mutex mutex;  // of worker.work()
  const auto answer = [&](std::span<const std::byte> item) {
    Parts parts(item);
    Bytes bytes = packed(parts.next<std::uint64_t>()), result;
    try {
      if (handle) {
        put(result, kDone);
        put_bytes(result, handle(parts.rest()));
      } else {
        result = unopened;
      }
    } catch (...) {
      result = pack_exception(ranks.host());
    }
    {
      const std::lock_guard lock(mutex);
      put(bytes, worker.work());
    }
    put_bytes(bytes, result);
    ranks.send(0, std::move(bytes));
  };
  while (true) {
    const Bytes list = ranks.receive();
    Parts parts(list);
    std::vector<std::span<const std::byte>> items(parts.next<std::size_t>());
    if (items.empty()) return;
    for (std::span<const std::byte>& item : items) item = parts.part();
    try {
      if (!handle && unopened.empty()) handle = worker.open(job);
    } catch (...) {
      unopened = pack_exception(ranks.host());
    }
    compute(ranks, pool, items.size(), [&](std::size_t index) { answer(items[index]); });
  }
}

// The items of a loop that nobody has begun, handed out the most expensive first.
class Queue {
 public:
  explicit Queue(const std::vector<double>& costs) : order_(costs.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  }
  std::size_t left() const { return order_.size() - next_; }
  std::size_t take() { return order_[next_++]; }

 private:
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
};

}  // namespace

Crew::Crew(Ranks& ranks, const WorkPool& pool, const std::string& build) : ranks_(ranks), pool_(pool) {
  ranks_.broadcast(packed(kHello));
  const auto count = static_cast<std::size_t>(ranks_.count());
  speeds_.assign(count, pool.workers());
  std::vector<std::string> hosts(count, ranks_.host());
  std::vector<bool> differ(count, false);
  receive(ranks_, count - 1, [&](int rank, const Bytes& answer) {
    const auto index = static_cast<std::size_t>(rank);
    std::string other;
    Parts{answer}(speeds_[index], other, hosts[index]);
    differ[index] = other != build;
  });
  for (const std::string& host : hosts)
    first_on_host_.push_back(static_cast<int>(std::ranges::find(hosts, host) - hosts.begin()));
  const auto rank = std::ranges::find(differ, true) - differ.begin();
  if (rank == ranks_.count()) return;
  throw Error(Complaint{
      .found = fmt::format("rank {} on {} runs another fedarena, or other plugins, than rank 0 on {}", rank,
                           hosts[static_cast<std::size_t>(rank)], hosts.front()),
      .remedy = "Install the same build on all hosts, or start it from a folder that they share"});
}

std::ptrdiff_t Crew::ranks_on_host_of(int rank) const {
  return std::ranges::count(first_on_host_, first_on_host_[static_cast<std::size_t>(rank)]);
}

void Crew::begin(const std::string& run, const Bytes& for_host) {
  ranks_.broadcast(packed(kBegin, run));
  std::vector<Bytes> handed_on(first_on_host_.size());  // by each rank
  handed_on.front() = for_host;
  FirstFailure failure;
  for (const bool firsts : {true, false}) {
    std::size_t asked = 0;
    for (int rank = 1; rank < ranks_.count(); ++rank) {
      const int first = first_on_host_[static_cast<std::size_t>(rank)];
      if ((first == rank) != firsts) continue;
      ranks_.send(rank,
                  packed(firsts && ranks_on_host_of(rank) > 1, handed_on[static_cast<std::size_t>(first)]));
      ++asked;
    }
    receive(ranks_, asked, [&](int rank, const Bytes& answer) {
      Parts parts(answer);
      const auto outcome = parts.next<Outcome>();
      const auto index = static_cast<std::size_t>(rank);
      if (outcome == kDone)
        parts(handed_on[index]);
      else
        failure.record(index, unpack_exception(outcome, parts));
    });
  }
  if (failure.seen()) end();
  failure.rethrow();
}

void Crew::end() { ranks_.broadcast(packed(kEnd)); }

// One loop, as rank 0 runs it.
class Crew::Sharing {
 public:
  Sharing(const Crew& crew, const SharedLoop& loop)
      : crew_(crew), loop_(loop), queue_(loop.costs), given_(crew.speeds_.size(), 0) {
    for (int rank = 1; rank < crew_.count(); ++rank) give(rank, static_cast<std::size_t>(crew_.speeds_[0]));
  }

  // Gives the others more as they answer, and keeps the answers, until nothing is left.
  void hand_out() {
    while (unanswered()) {
      std::vector<Ranks::Received> received = crew_.ranks_.receive_some(loop_.costs.size());
      const std::lock_guard lock(mutex_);
      for (Ranks::Received& answer : received) {
        --given_[static_cast<std::size_t>(answer.from)];
        answers_.push_back(std::move(answer.bytes));
      }
      for (const Ranks::Received& answer : received) give(answer.from, 0);
    }
  }

  // What rank 0's own workers do, each until nothing is left.
  void do_own() {
    compute(crew_.ranks_, crew_.pool_, loop_.costs.size(), [&](std::size_t) {
      std::size_t item = 0;
      {
        const std::lock_guard lock(mutex_);
        if (queue_.left() == 0) return;
        item = queue_.take();
      }
      attempt(item, [&] { loop_.here(item); });
    });
  }

  void take_answers(const std::function<void(std::span<const std::byte>)>& work) {
    std::vector<std::size_t> items;
    std::vector<std::span<const std::byte>> results;
    for (const Bytes& answer : answers_) {
      Parts parts(answer);
      items.push_back(parts.next<std::size_t>());
      work(parts.part());
      results.push_back(parts.rest());
    }
    // Decoding takes its time, and has all workers of this rank to itself.
    crew_.pool_.for_each(items.size(), [&](std::size_t index) {
      attempt(items[index], [&] {
        Parts parts(results[index]);
        const auto outcome = parts.next<Outcome>();
        if (outcome != kDone) std::rethrow_exception(unpack_exception(outcome, parts));
        loop_.there(items[index], parts.rest());
      });
    });
    failure_.rethrow();
  }

 private:
  template <typename Body>
  void attempt(std::size_t item, const Body& body) {
    try {
      body();
    } catch (...) {
      failure_.record(item, std::current_exception());
    }
  }

  bool unanswered() {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(given_, [](std::size_t items) { return items > 0; });
  }

  // Half of its share of what is left, so that ranks come to their ends together however fast they are, and
  // at least two for each worker, so that one lies there when one is done. Of the last few, one for each
  // worker that has none.
  std::size_t due(std::size_t rank) const {
    const double all = std::accumulate(crew_.speeds_.begin(), crew_.speeds_.end(), 0.0);
    const double own = crew_.speeds_[rank], left = static_cast<double>(queue_.left());
    if (left < 2 * all) return static_cast<std::size_t>(own);
    return static_cast<std::size_t>(std::max(2 * own, left * own / all / 2));
  }

  // What is due to a rank, leaving some to the others. An item that cannot be sent fails here.
  void give(int to, std::size_t leave) {
    const auto rank = static_cast<std::size_t>(to);
    const std::size_t wanted = due(rank);
    // Not one by one while it has enough.
    if (given_[rank] > 0 && 2 * given_[rank] > wanted) return;
    std::vector<Bytes> items;
    while (given_[rank] < wanted && queue_.left() > leave) {
      const std::size_t item = queue_.take();
      attempt(item, [&] {
        Bytes bytes = packed(item);
        put_bytes(bytes, loop_.item(item));
        items.push_back(std::move(bytes));
        ++given_[rank];
      });
    }
    if (items.empty()) return;
    Bytes list = packed(items.size());
    for (const Bytes& item : items) put(list, item);
    crew_.ranks_.send(to, std::move(list));
  }

  const Crew& crew_;
  const SharedLoop& loop_;
  std::mutex mutex_;
  Queue queue_;
  std::vector<std::size_t> given_;  // to each rank, and not yet answered
  std::vector<Bytes> answers_;
  FirstFailure failure_;
};

void Crew::share(const SharedLoop& loop, const std::function<void(std::span<const std::byte>)>& work) {
  ranks_.broadcast(packed(kLoop, loop.job));
  Sharing sharing(*this, loop);
  FirstFailure failure;
  std::jthread hands_out([&] {
    try {
      sharing.hand_out();
    } catch (...) {
      failure.record(0, std::current_exception());
    }
  });
  sharing.do_own();
  hands_out.join();
  failure.rethrow();
  for (int rank = 1; rank < ranks_.count(); ++rank) ranks_.send(rank, packed(0));
  sharing.take_answers(work);
}

void serve(Ranks& ranks, const WorkPool& pool, const std::string& build,
           const std::function<std::shared_ptr<const Worker>(const RunRequest&)>& make_ready) {
  std::shared_ptr<const Worker> worker;
  while (true) {
    const Bytes asked = ranks.broadcast({});
    if (asked.empty()) return;
    Parts parts(asked);
    switch (parts.next<Request>()) {
      case kHello:
        ranks.send(0, packed(static_cast<double>(pool.workers()), build, ranks.host()));
        break;
      case kBegin: {
        RunRequest wanted{.run = parts.next<std::string>()};
        const Bytes own = ranks.receive();
        Parts{own}(wanted.hands_on, wanted.from_host);
        Bytes answer;
        try {
          worker = make_ready(wanted);
          answer = packed(kDone, worker->for_host);
        } catch (...) {
          answer = pack_exception(ranks.host());
        }
        ranks.send(0, std::move(answer));
        break;
      }
      case kLoop:
        do_items(ranks, pool, *worker, parts.part());
        break;
      case kEnd:
        worker.reset();
        break;
    }
  }
}

}  // namespace fedarena
