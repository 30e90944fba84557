// What a copy of the process hands over, and what it dies of.
#include "fedarena/base/trial.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <vector>

#include "tests/matchers.hpp"

namespace fedarena {
namespace {

std::vector<std::string> taken;

void take(std::string_view piece) { taken.emplace_back(piece); }

class Trial : public testing::Test {
 protected:
  Trial() { taken.clear(); }
  // No copy is left to be waited for.
  ~Trial() override { EXPECT_TRUE(::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD); }
};

TEST_F(Trial, HandsPiecesOverInOrder) {
  const std::string long_one(std::size_t{3} << 20, 'x');
  const std::string death = died_of(
      [&](const TakePiece& hand_over) {
        hand_over("first");
        hand_over("");
        hand_over(long_one);
      },
      take);
  EXPECT_EQ(death, "");
  EXPECT_THAT(taken, ElementsAre("first", "", long_one));
}

TEST_F(Trial, TellsADeathAfterWhatWasHandedOver) {
  EXPECT_THAT(died_of(
                  [](const TakePiece& hand_over) {
                    hand_over("first");
                    std::raise(SIGKILL);
                  },
                  take),
              HasSubstr("it crashed"));
  EXPECT_EQ(died_of(
                [](const TakePiece& hand_over) {
                  hand_over("second");
                  throw std::runtime_error("no more");
                },
                take),
            "no more");
  EXPECT_THAT(died_of([](const TakePiece&) { std::_Exit(7); }, take), HasSubstr("exit code 7"));
  EXPECT_THAT(taken, ElementsAre("first", "second"));
}

// More than a pipe takes at once, so that signals meet the copy while it waits.
TEST_F(Trial, TellsAReasonInFullWhateverSignalsCome) {
  const std::string reason(std::size_t{3} << 20, 'x');
  const std::string death = died_of(
      [&](const TakePiece&) {
        struct sigaction ignored = {};
        ignored.sa_handler = [](int) {};
        ::sigaction(SIGALRM, &ignored, nullptr);
        const itimerval often{.it_interval = {0, 100}, .it_value = {0, 100}};
        ::setitimer(ITIMER_REAL, &often, nullptr);
        throw std::runtime_error(reason);
      },
      take);
  EXPECT_TRUE(death == reason) << death.size() << " bytes";
}

TEST_F(Trial, EndsWhereNobodyTakesMore) {
  const auto refuse = [](std::string_view) { throw std::runtime_error("enough"); };
  EXPECT_THROW(died_of(
                   [](const TakePiece& hand_over) {
                     while (true) hand_over(std::string(100'000, 'x'));
                   },
                   refuse),
               std::runtime_error);
}

}  // namespace
}  // namespace fedarena
