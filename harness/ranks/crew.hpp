#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fedarena/base/pool.hpp"

#include "harness/ranks/ranks.hpp"

namespace fedarena {

/// A loop over items that ranks share. What it computes for an item does not depend on the rank.
struct SharedLoop {
  Bytes job;                               ///< what all items have in common
  std::vector<double> costs;               ///< of each item, in any unit
  std::function<Bytes(std::size_t)> item;  ///< what a worker needs of it; from any thread
  std::function<void(std::size_t)> here;   ///< does it on this rank; from any thread
  /// Takes what a worker made of it, when `here` is done; from any thread.
  std::function<void(std::size_t, std::span<const std::byte>)> there;
};

/// A run that another rank is to make ready for.
struct RunRequest {
  std::string run;        ///< as rank 0 describes it
  Bytes from_host = {};   ///< what the first rank of this one's host hands on; may be empty
  bool hands_on = false;  ///< whether this rank is the first of several on its host
};

/// Does one item of a job that was opened; from any thread.
using Handle = std::function<Bytes(std::span<const std::byte> item)>;
/// What another rank can do for a run.
struct Worker {
  std::function<Handle(std::span<const std::byte> job)> open;
  std::function<Bytes()> work;  ///< what this rank has computed since it was last asked, packed
  Bytes for_host = {};          ///< what it hands on to the others of its host
};

/// Rank 0 and those that work for it, in one run after the other. Every exchange begins with a broadcast of
/// rank 0, and an empty one sends the others home: what makes the ranks sends it when it goes.
class Crew {
 public:
  /// `build`: what must be the same everywhere, Error naming the first rank where it is not.
  Crew(Ranks& ranks, const WorkPool& pool, const std::string& build);

  /// Has the others make ready for a run: first one of each host, then those that it hands something on to.
  /// `for_host`: what rank 0 hands on to its host. Error, that of the first rank which cannot.
  void begin(const std::string& run, const Bytes& for_host = {});
  /// Runs the loop on all ranks. Of several items that throw, the exception of the first is thrown again,
  /// when all ranks are through. `work` takes what each other rank has computed.
  void share(const SharedLoop& loop, const std::function<void(std::span<const std::byte>)>& work);
  void end();

  int count() const { return ranks_.count(); }
  /// Whether another rank runs on rank 0's host.
  bool shares_host() const { return ranks_on_host_of(0) > 1; }

 private:
  class Sharing;
  std::ptrdiff_t ranks_on_host_of(int rank) const;

  Ranks& ranks_;
  const WorkPool& pool_;
  std::vector<double> speeds_;
  std::vector<int> first_on_host_;  // of each rank, the first one of its host
};

/// What every other rank does: works until rank 0 sends it home. `make_ready` is called for every run, and
/// what it returns lives as long as that run.
void serve(Ranks& ranks, const WorkPool& pool, const std::string& build,
           const std::function<std::shared_ptr<const Worker>(const RunRequest& request)>& make_ready);

}  // namespace fedarena
