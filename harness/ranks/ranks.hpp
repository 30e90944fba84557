#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/wire/parts.hpp"

namespace fedarena {

/// The processes that share one run, as MPI numbers them: rank 0 serves, the others work for it. What is sent
/// goes its way while the sender computes. Once the run is to stop, a receive or broadcast that waits too
/// long for another rank throws Interrupted, and so does every later call. Rank 0 waits shortly, the others
/// until it had time to end.
class Ranks {
 public:
  /// What a rank was sent.
  struct Received {
    int from = 0;
    Bytes bytes;
  };

  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  /// At least 1.
  virtual int count() const = 0;
  /// The machine that this rank runs on.
  virtual std::string host() const = 0;
  /// Sends rank 0's bytes to all others, which return them.
  virtual Bytes broadcast(Bytes bytes) = 0;
  /// Rank 0 sends to any other, the others to rank 0; from any thread.
  virtual void send(int to, Bytes bytes) = 0;
  /// What others have sent to this rank and it has not received yet, in the order of its arrival: at least
  /// one message, at most `most`. From one thread at a time.
  virtual std::vector<Received> receive_some(std::size_t most) = 0;
  /// Whether this rank computes from now on. Messages are then looked for less often, since that takes time
  /// from whoever computes.
  virtual void computes(bool /*now*/) {}
  /// The next message.
  Bytes receive() { return std::move(receive_some(1).front().bytes); }
};

/// The ranks of this program where mpirun or srun started several of them, else nullptr. `stop` is what
/// limits their waits. Error where several were started and this fedarena was built without MPI or with that
/// of another launcher; and where srun started several without MPI, unless they are to work `apart`.
std::unique_ptr<Ranks> join_ranks(const std::atomic<bool>& stop, bool apart);

}  // namespace fedarena
