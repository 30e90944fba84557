// Every reader under inputs that are damaged at random, always the same ones. A reader may take them or
// refuse them with an Error; crashes, other exceptions, ten seconds for one input and more than 1 GB of
// memory are failures. scripts/fuzz searches on from here, with libFuzzer.
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <ostream>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/fuzz/driver/mutation.hpp"
#include "tests/paths.hpp"

#if defined(__has_feature)
#define FEDARENA_HAS_FEATURE(feature) __has_feature(feature)  // clang's way to say it
#else
#define FEDARENA_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || FEDARENA_HAS_FEATURE(address_sanitizer)
// The sanitizer's own limits: the address space that it takes says nothing.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier): its name
  return "hard_rss_limit_mb=1500:max_allocation_size_mb=1000:quarantine_size_mb=32";
}
constexpr bool kSanitizer = true;
#else
constexpr bool kSanitizer = false;
#endif

namespace fedarena::fuzz {

// In messages.
static void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

// For an input: of the processor.
constexpr unsigned kSeconds = 10;
// On the clock, which runs on while other programs have the processor.
constexpr unsigned kWait = 300;
constexpr rlim_t kBytes = rlim_t{1} << 30;

// What is being read, for whoever finds the program dead.
const std::string* current_input = nullptr;
const char* current_target = "";

// Made before any signal: a handler may not make texts.
const std::string& input_file() {
  static const std::string kPath = test::build_folder() / "fuzz-input";
  return kPath;
}

// Leaves the input in the build folder; only calls that a signal handler may make.
void leave_input(int signal) {
  const int file = ::open(input_file().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (current_input != nullptr && file >= 0) {
    const auto say = [](const char* text) {
      return ::write(STDERR_FILENO, text, std::char_traits<char>::length(text));
    };
    const bool written = ::write(file, current_input->data(), current_input->size()) >= 0 &&
                         say(current_target) >= 0 && say(": the input that ended it is in ") >= 0 &&
                         say(input_file().c_str()) >= 0 && say("\n") >= 0;
    ::close(file);
    if (!written) ::_exit(1);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// For the time of a test, more address space than it had by at most 1 GB, and words about a death.
class Limits {
 public:
  Limits() {
    input_file();
    ::getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur =
        std::min<rlim_t>(before_.rlim_max, pages * static_cast<rlim_t>(::getpagesize()) + kBytes);
    if (!kSanitizer) ::setrlimit(RLIMIT_AS, &limit);
    for (const int signal : {SIGALRM, SIGPROF, SIGABRT}) ::signal(signal, leave_input);
    if (!kSanitizer) ::signal(SIGSEGV, leave_input);
  }
  ~Limits() {
    ::setrlimit(RLIMIT_AS, &before_);
    const itimerval none{};
    ::setitimer(ITIMER_PROF, &none, nullptr);
    ::alarm(0);
    for (const int signal : {SIGALRM, SIGPROF, SIGABRT}) ::signal(signal, SIG_DFL);
    if (!kSanitizer) ::signal(SIGSEGV, SIG_DFL);
  }
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

 private:
  rlimit before_{};
};

enum class Answer { kTaken, kRefused, kFault };

Answer answer(const Target& target, const std::string& input) {
  current_target = target.name.c_str();
  current_input = &input;
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = kSeconds, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  ::alarm(kWait);
  try {
    target.read(input);
    return Answer::kTaken;
  } catch (const Error& error) {
    if (!error.complaint().found.empty()) return Answer::kRefused;
    ADD_FAILURE() << "an Error without a word from:\n" << input;
  } catch (const std::exception& other) {
    ADD_FAILURE() << other.what() << "\nfrom: " << testing::PrintToString(input);
  }
  return Answer::kFault;
}

class Readers : public testing::TestWithParam<Target> {};

TEST_P(Readers, TakeWhatTheProgramWrites) {
  const Limits limits;
  for (const std::string& seed : GetParam().seeds) {
    EXPECT_NO_THROW(GetParam().read(seed)) << testing::PrintToString(seed);
  }
}

TEST_P(Readers, SurviveDamagedInput) {
  const Target& target = GetParam();
  const Limits limits;
  Stream stream({.seed = 27});
  const int inputs = test::long_tests() ? 50'000 : 1'000;
  int refused = 0;
  for (int i = 0; i < inputs && !HasFailure(); ++i) {
    const std::string& seed = target.seeds[stream.below(target.seeds.size())];
    refused += answer(target, mutated(target, seed, stream)) == Answer::kRefused ? 1 : 0;
  }
  // Else what is damaged never reaches the reader.
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Readers, testing::ValuesIn(targets()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace fedarena::fuzz
