// What clients cost that do not take part: a federation of a million must fit into memory.
#include <malloc.h>

#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

// Bytes that the program has allocated and not freed.
std::int64_t bytes_in_use() {
  const struct mallinfo2 use = mallinfo2();
  return static_cast<std::int64_t>(use.uordblks + use.hblkhd);
}

class Population : public SmallRuns<> {
 protected:
  static constexpr std::int64_t kClients = 50'000;
  Population() : SmallRuns<>(std::vector<std::int64_t>(kClients, 1)) {}
};

TEST_F(Population, TakesLittleMemoryForClientsThatSitOut) {
  const std::int64_t before = bytes_in_use();
  const Partition dealt = partition;
  Simulation simulation(setup_on(pool, 3, 10));
  constexpr std::int64_t kIndices = kClients * 8;  // which examples they hold: data
  EXPECT_LT(bytes_in_use() - before - kIndices, 100 * kClients);
  EXPECT_LT(simulation.save().size(), kClients);
  const std::int64_t made = bytes_in_use();
  for (int round = 0; round < 3; ++round) simulation.next_round();
  EXPECT_LT(bytes_in_use() - made, 5 * kClients);
  EXPECT_LT(simulation.save().size(), kClients);
}

}  // namespace
}  // namespace fedarena
