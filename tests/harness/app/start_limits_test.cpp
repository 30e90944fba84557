#include "harness/app/start_limits.hpp"

#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using testing::ExitedWithCode;

TEST(StartLimits, AreWideEnoughHere) { EXPECT_EQ(start_problem(start_needs()), ""); }

TEST(StartLimits, NameTheAddressSpaceThatIsMissing) {
  constexpr std::size_t kMoreThanAnyMachineHas = std::size_t{1} << 60;
  EXPECT_THAT(start_problem({.bytes = kMoreThanAnyMachineHas, .threads = 1}),
              HasSubstr("1099511627776 MiB of address space are needed to start, and a limit allows less"));
}

TEST(StartLimits, NameTheStackThatIsMissing) {
  const auto problem_with_a_small_stack = [] {
    const rlimit small{64 << 10, 64 << 10};
    std::fputs(setrlimit(RLIMIT_STACK, &small) == 0 ? start_problem(start_needs()).c_str() : "not ready",
               stderr);
    ::_exit(0);
  };
  EXPECT_EXIT(problem_with_a_small_stack(), ExitedWithCode(0),
              "a stack of 512 KiB is needed to start, and a limit allows 64\n  Raise it");
}

// Root has as many as it likes, so that a child becomes somebody else.
TEST(StartLimits, NameTheThreadsThatAreMissing) {
  const auto problem_with_one_process = [] {
    const rlimit one{1, 1};
    bool ready = setrlimit(RLIMIT_NPROC, &one) == 0;
    if (geteuid() == 0) ready = ready && setuid(12345) == 0;
    std::fputs(ready ? start_problem({.bytes = 1, .threads = 3}).c_str() : "not ready", stderr);
    ::_exit(0);  // the leak sanitizer would want a process of its own
  };
  EXPECT_EXIT(problem_with_one_process(), ExitedWithCode(0),
              "3 threads are needed to start beside the first, and a limit allows 0");
}

}  // namespace
}  // namespace fedarena
