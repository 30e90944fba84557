#include "fedarena/base/uninterrupted.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace fedarena {
namespace {

volatile std::sig_atomic_t ended = 0;  // what would end the program, and how often

void end(int signal) {
  if (!Uninterrupted::defers(signal)) ended = ended + 1;
}

TEST(Uninterrupted, HasASignalWaitForTheLastAndNoSecondOne) {
  ended = 0;
  const auto before = std::signal(SIGUSR1, end);
  std::raise(SIGUSR1);
  EXPECT_EQ(ended, 1) << "nothing is held";
  {
    const Uninterrupted outer;
    {
      const Uninterrupted inner;
      std::raise(SIGUSR1);
    }
    EXPECT_EQ(ended, 1);
  }
  EXPECT_EQ(ended, 2);
  {
    const Uninterrupted held;
    std::raise(SIGUSR1);
    std::raise(SIGUSR1);
    EXPECT_EQ(ended, 3);
  }
  std::signal(SIGUSR1, before);
}

}  // namespace
}  // namespace fedarena
