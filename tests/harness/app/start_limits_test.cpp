#include "harness/app/start_limits.hpp"

#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

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

TEST(StartLimits, NameTheAddressSpaceThatIsAllowed) {
  const auto problem_within_a_limit = [] {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = rlim_t{std::size_t{1} << 50};
    const bool ready = setrlimit(RLIMIT_AS, &limit) == 0;
    std::fputs(ready ? start_problem({.bytes = std::size_t{1} << 51, .threads = 1}).c_str() : "not ready",
               stderr);
    ::_exit(0);
  };
  EXPECT_EXIT(
      problem_within_a_limit(), ExitedWithCode(0),
      "2147483648 MiB of address space are needed to start, and a limit allows 1073741824\n  Raise it");
}

TEST(StartLimits, CountTheWorkersAndJobsThatAreAskedFor) {
  const auto needs = [](std::vector<const char*> words) { return start_needs(words); };
  const StartNeeds least = needs({"run", "small.toml"});
  const StartNeeds workers = needs({"run", "small.toml", "--workers", "500"});
  // OpenBLAS hangs without the buffers of those that call it.
  EXPECT_GE(workers.bytes, std::size_t{500} * (128 << 20));
  // Heaps are a few, however many threads there are.
  EXPECT_EQ(workers.bytes - needs({"run", "small.toml", "--workers", "499"}).bytes, std::size_t{136} << 20);
  EXPECT_GE(workers.threads, 499);
  EXPECT_EQ(needs({"run", "--workers=500", "small.toml"}).threads, workers.threads);
  EXPECT_EQ(needs({"run", "--workers=5e2", "small.toml"}).threads, workers.threads);
  EXPECT_EQ(needs({"run", "--jobs", "4", "small.toml"}).threads, least.threads + 3);
  EXPECT_EQ(needs({"run", "small.toml", "--workers", "1"}).threads, least.threads);
  for (const char* wrong : {"0", "-1", "1e4", "1000000", ""}) {
    EXPECT_EQ(needs({"run", "small.toml", "--workers", wrong}).threads, least.threads) << wrong;
  }
  EXPECT_EQ(needs({"run", "small.toml", "--workers"}).threads, least.threads);
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
