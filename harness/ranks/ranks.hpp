#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "harness/wire/parts.hpp"

namespace fedarena {

/// The processes that share one run, as MPI numbers them: rank 0 serves, the others work for it. Called from
/// the thread that made it alone. Once the run is to stop, what waits too long for another rank throws
/// Interrupted, and so does every later call. Rank 0 waits shortly, the others until it had time to end.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  /// At least 1.
  virtual int count() const = 0;
  /// The machine that this rank runs on.
  virtual std::string host() const = 0;
  /// Rank 0's bytes, on every rank.
  virtual Bytes broadcast(Bytes bytes) = 0;
  /// Returns when the bytes are on their way.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  /// The next bytes that this rank was sent from there.
  virtual Bytes receive(int from) = 0;
};

/// The ranks of this program where mpirun or srun started several of them, else nullptr. `stop` is what
/// limits their waits. Error where several were started and this fedarena was built without MPI or with that
/// of another launcher.
std::unique_ptr<Ranks> join_ranks(const std::atomic<bool>& stop);

}  // namespace fedarena
