#include "harness/ranks/crew.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
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

// What was thrown, in bytes; called in a handler.
Bytes pack_exception(const std::string& host) {
  Bytes bytes;
  try {
    throw;
  } catch (const Interrupted&) {
    put_number(bytes, kStopped);
  } catch (const Error& error) {
    const Complaint& complaint = error.complaint();
    put_number(bytes, kFailed);
    put_text(bytes, complaint.place.file);
    put_number(bytes, static_cast<std::uint64_t>(complaint.place.line));
    put_number(bytes, static_cast<std::uint64_t>(complaint.place.column));
    for (const std::string* text :
         {&complaint.found, &complaint.allowed, &complaint.nearest, &complaint.remedy})
      put_text(bytes, *text);
  } catch (const std::exception& error) {
    put_number(bytes, kBroken);
    put_text(bytes, fmt::format("{} (on {})", error.what(), host));
  }
  return bytes;
}

std::exception_ptr unpack_exception(Outcome outcome, Parts& parts) {
  if (outcome == kStopped) return std::make_exception_ptr(Interrupted());
  if (outcome == kBroken) return std::make_exception_ptr(Bug(parts.text()));
  Complaint complaint;
  complaint.place.file = parts.text();
  complaint.place.line = static_cast<int>(parts.number());
  complaint.place.column = static_cast<int>(parts.number());
  for (std::string* text : {&complaint.found, &complaint.allowed, &complaint.nearest, &complaint.remedy})
    *text = parts.text();
  return std::make_exception_ptr(Error(std::move(complaint)));
}

// Does all items of a list, whatever some of them throw. `one` takes places in it.
void do_all(const WorkPool& pool, const std::vector<std::size_t>& items,
            const std::function<void(std::size_t)>& one, FirstFailure& failure) {
  pool.for_each(items.size(), [&](std::size_t place) {
    try {
      one(place);
    } catch (...) {
      failure.record(items[place], std::current_exception());
    }
  });
}

// What a rank answers to a job: its work, then for each item an outcome and the result.
Bytes do_items(Ranks& ranks, const WorkPool& pool, const Worker& worker, std::span<const std::byte> job) {
  const Bytes list = ranks.receive(0);
  Parts parts(list);
  std::vector<std::span<const std::byte>> items(parts.number());
  for (auto& item : items) item = parts.part();
  std::vector<Bytes> answers(items.size());
  Handle handle;
  Bytes unopened;
  try {
    if (!items.empty()) handle = worker.open(job);
  } catch (...) {
    unopened = pack_exception(ranks.host());
  }
  pool.for_each(items.size(), [&](std::size_t index) {
    if (!handle) {
      answers[index] = unopened;
      return;
    }
    try {
      const Bytes result = handle(items[index]);
      put_number(answers[index], kDone);
      answers[index].insert(answers[index].end(), result.begin(), result.end());
    } catch (...) {
      answers[index] = pack_exception(ranks.host());
    }
  });
  Bytes all;
  put_part(all, worker.work());
  for (const Bytes& answer : answers) put_part(all, answer);
  return all;
}

Bytes request(Request what) {
  Bytes bytes;
  put_number(bytes, what);
  return bytes;
}

}  // namespace

std::vector<std::vector<std::size_t>> deal(const std::vector<double>& costs,
                                           const std::vector<double>& speeds) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](std::size_t left, std::size_t right) { return costs[left] > costs[right]; });
  std::vector<std::vector<std::size_t>> dealt(speeds.size());
  std::vector<double> busy(speeds.size(), 0);
  for (const std::size_t item : order) {
    std::size_t best = 0;
    const auto until = [&](std::size_t rank) { return busy[rank] + costs[item] / speeds[rank]; };
    for (std::size_t rank = 1; rank < speeds.size(); ++rank) {
      if (until(rank) < until(best)) best = rank;
    }
    busy[best] = until(best);
    dealt[best].push_back(item);
  }
  for (std::vector<std::size_t>& items : dealt) std::ranges::sort(items);
  return dealt;
}

Crew::Crew(Ranks& ranks, const WorkPool& pool, const std::string& build) : ranks_(ranks), pool_(pool) {
  ranks_.broadcast(request(kHello));
  speeds_.push_back(pool.workers());
  std::vector<std::string> hosts{ranks_.host()};
  std::string differing;
  for (int rank = 1; rank < ranks_.count(); ++rank) {
    const Bytes answer = ranks_.receive(rank);
    Parts parts(answer);
    speeds_.push_back(parts.floating());
    const bool differs = parts.text() != build;
    hosts.push_back(parts.text());
    if (differs && differing.empty())
      differing = fmt::format("rank {} on {} runs another fedarena, or other plugins, than rank 0 on {}",
                              rank, hosts.back(), hosts.front());
  }
  for (const std::string& host : hosts)
    first_on_host_.push_back(static_cast<int>(std::ranges::find(hosts, host) - hosts.begin()));
  if (differing.empty()) return;
  throw Error(
      Complaint{.found = differing,
                .remedy = "Install the same build on all hosts, or start it from a folder that they share"});
}

std::ptrdiff_t Crew::ranks_on_host_of(int rank) const {
  return std::ranges::count(first_on_host_, first_on_host_[static_cast<std::size_t>(rank)]);
}

void Crew::ask(int rank, const Bytes& from_host) const {
  const bool first = first_on_host_[static_cast<std::size_t>(rank)] == rank;
  Bytes bytes;
  put_number(bytes, first && ranks_on_host_of(rank) > 1 ? 1 : 0);
  put_part(bytes, from_host);
  ranks_.send(rank, bytes);
}

void Crew::begin(const std::string& run, const Bytes& for_host) {
  Bytes bytes = request(kBegin);
  put_text(bytes, run);
  ranks_.broadcast(std::move(bytes));
  std::vector<Bytes> handed_on(first_on_host_.size());  // by each rank
  handed_on.front() = for_host;
  FirstFailure failure;
  for (const bool firsts : {true, false}) {
    std::vector<int> asked;
    for (int rank = 1; rank < ranks_.count(); ++rank) {
      const int first = first_on_host_[static_cast<std::size_t>(rank)];
      if ((first == rank) != firsts) continue;
      ask(rank, handed_on[static_cast<std::size_t>(first)]);
      asked.push_back(rank);
    }
    for (const int rank : asked) {
      const Bytes answer = ranks_.receive(rank);
      Parts parts(answer);
      const auto outcome = static_cast<Outcome>(parts.number());
      const auto index = static_cast<std::size_t>(rank);
      if (outcome != kDone) {
        failure.record(index, unpack_exception(outcome, parts));
        continue;
      }
      const std::span<const std::byte> part = parts.part();
      handed_on[index].assign(part.begin(), part.end());
    }
  }
  if (failure.seen()) end();
  failure.rethrow();
}

void Crew::end() { ranks_.broadcast(request(kEnd)); }

void Crew::share(const SharedLoop& loop, const std::function<void(std::span<const std::byte>)>& work) {
  const auto dealt = deal(loop.costs, speeds_);
  Bytes bytes = request(kLoop);
  put_part(bytes, loop.job);
  ranks_.broadcast(std::move(bytes));
  for (int rank = 1; rank < ranks_.count(); ++rank) {
    const std::vector<std::size_t>& items = dealt[static_cast<std::size_t>(rank)];
    Bytes list;
    put_number(list, items.size());
    for (const std::size_t index : items) put_part(list, loop.item(index));
    ranks_.send(rank, list);
  }
  FirstFailure failure;
  const std::vector<std::size_t>& own = dealt.front();
  do_all(
      pool_, own, [&](std::size_t place) { loop.here(own[place]); }, failure);
  for (int rank = 1; rank < ranks_.count(); ++rank) {
    const Bytes answer = ranks_.receive(rank);
    Parts parts(answer);
    work(parts.part());
    const std::vector<std::size_t>& items = dealt[static_cast<std::size_t>(rank)];
    std::vector<std::span<const std::byte>> answers(items.size());
    for (std::span<const std::byte>& answered : answers) answered = parts.part();
    // Decoding takes its time, and has all workers of this rank to itself.
    const auto take = [&](std::size_t place) {
      Parts inner(answers[place]);
      const auto outcome = static_cast<Outcome>(inner.number());
      if (outcome != kDone) std::rethrow_exception(unpack_exception(outcome, inner));
      loop.there(items[place], answers[place].subspan(sizeof(std::uint64_t)));
    };
    do_all(pool_, items, take, failure);
  }
  failure.rethrow();
}

void serve(Ranks& ranks, const WorkPool& pool, const std::string& build,
           const std::function<std::shared_ptr<const Worker>(const RunRequest&)>& make_ready) {
  std::shared_ptr<const Worker> worker;
  while (true) {
    const Bytes asked = ranks.broadcast({});
    if (asked.empty()) return;
    Parts parts(asked);
    Bytes answer;
    switch (static_cast<Request>(parts.number())) {
      case kHello:
        put_double(answer, pool.workers());
        put_text(answer, build);
        put_text(answer, ranks.host());
        ranks.send(0, answer);
        break;
      case kBegin: {
        RunRequest wanted{.run = parts.text()};
        const Bytes own = ranks.receive(0);
        Parts own_parts(own);
        wanted.hands_on = own_parts.number() != 0;
        const std::span<const std::byte> from_host = own_parts.part();
        wanted.from_host.assign(from_host.begin(), from_host.end());
        try {
          worker = make_ready(wanted);
          put_number(answer, kDone);
          put_part(answer, worker->for_host);
        } catch (...) {
          answer = pack_exception(ranks.host());
        }
        ranks.send(0, answer);
        break;
      }
      case kLoop:
        ranks.send(0, do_items(ranks, pool, *worker, parts.part()));
        break;
      case kEnd:
        worker.reset();
        break;
    }
  }
}

}  // namespace fedarena
