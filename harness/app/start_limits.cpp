#include "harness/app/start_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <latch>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
// Measured with LibTorch 1.13, OpenBLAS 0.3.21 and glibc 2.36: code and data of the program and its
// libraries; what OpenBLAS maps for each of its threads and for each thread that calls it, which wide layers
// have all workers do at once; the stack of a thread; a heap, of which glibc makes no more than eight a core.
constexpr std::size_t kProgram = 800 * kMiB;
constexpr std::size_t kBlasBuffer = 128 * kMiB;
constexpr std::size_t kThreadStack = 8 * kMiB;
constexpr std::size_t kHeap = 64 * kMiB;
// Below 128 KiB, LibTorch overflows it.
constexpr std::size_t kStack = kMiB / 2;

// Below the number of cores, the work pool has a thread for each of them all the same.
std::string use_fewer(const StartNeeds& needs) {
  return fmt::format("{}set OPENBLAS_NUM_THREADS=1 and use fewer cores (taskset)",
                     needs.beyond_cores ? "use fewer --workers and --jobs, or " : "");
}

bool may_map(std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return false;
  ::munmap(address, bytes);
  return true;
}

// What the option says, as --option N or --option=N; what is not a number is refused when the words are
// parsed.
int count_in(std::span<const char* const> words, std::string_view option, int otherwise) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with(option)) continue;
    word.remove_prefix(option.size());
    const bool apart = word.empty() && i + 1 < words.size();
    if (!apart && !word.starts_with('=')) continue;
    // Also as "1e2".
    const auto count = parse_number<double>(apart ? std::string_view(words[i + 1]) : word.substr(1));
    if (count && *count >= 1 && *count <= 1024) otherwise = static_cast<int>(*count);
  }
  return otherwise;
}

// How many of so many threads can be at work at once.
int startable(int threads) {
  std::latch all_begun(1);
  std::vector<std::thread> begun;
  try {
    while (static_cast<int>(begun.size()) < threads) begun.emplace_back([&] { all_begun.wait(); });
  } catch (const std::system_error&) {  // the limit
  }
  all_begun.count_down();
  for (std::thread& thread : begun) thread.join();
  return static_cast<int>(begun.size());
}

}  // namespace

StartNeeds start_needs(std::span<const char* const> words) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  int blas = cores;
  for (const char* name : {"OMP_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    const char* const text = std::getenv(name);
    const auto number = parse_number<int>(text == nullptr ? "" : text);
    if (number && *number > 0) blas = std::min(*number, cores);
  }
  // A job is a thread beside the pool.
  const int callers = std::max(cores, count_in(words, "--workers", cores)) + count_in(words, "--jobs", 1) - 1;
  const int threads = blas - 1 + callers - 1;  // beside the first
  const int buffers = blas - 1 + callers;
  const auto heaps = static_cast<std::size_t>(std::min(threads, 8 * cores));
  return {.bytes = kProgram + static_cast<std::size_t>(buffers) * kBlasBuffer +
                   static_cast<std::size_t>(threads) * kThreadStack + heaps * kHeap,
          .threads = std::max(threads, 1),  // for a copy of the process tries the plugins
          .stack = kStack,
          .beyond_cores = callers > cores};
}

std::string start_problem(const StartNeeds& needs) {
  rlimit space{};
  const bool limited = ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  // What this process has mapped is gone when it becomes the full program.
  if (limited ? space.rlim_cur < needs.bytes : !may_map(needs.bytes)) {
    return fmt::format(
        "{} MiB of address space are needed to start, and a limit allows {}\n  Raise it (`ulimit -v`, or the "
        "job's), or {}.",
        needs.bytes / kMiB, limited ? fmt::format("{}", space.rlim_cur / kMiB) : "less", use_fewer(needs));
  }
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < needs.stack) {
    return fmt::format(
        "a stack of {} KiB is needed to start, and a limit allows {}\n  Raise it (`ulimit -s`, or the "
        "job's).",
        needs.stack / 1024, stack.rlim_cur / 1024);
  }
  if (const int found = startable(needs.threads); found < needs.threads) {
    return fmt::format(
        "{} are needed to start beside the first, and a limit allows {}\n  Raise it (`ulimit -u`, or the "
        "container's limit of processes), or {}.",
        counted(needs.threads, "thread"), found, use_fewer(needs));
  }
  return {};
}

}  // namespace fedarena
