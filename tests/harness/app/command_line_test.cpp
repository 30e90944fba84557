// How the program ends by what its command throws.
#include "harness/app/command_line.hpp"

#include <array>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "tests/matchers.hpp"

namespace fedarena {
namespace {

std::exception_ptr to_throw;

void add_failing_command(CLI::App& app, Action& action) {
  app.add_subcommand("fail", "Fails.")->callback([&action] {
    action = []() -> int { std::rethrow_exception(to_throw); };
  });
}

struct Ending {
  int code;
  std::string err;
};

template <typename Exception>
Ending ending_by(const Exception& thrown) {
  constexpr std::array<AddCommand, 1> kCommands = {add_failing_command};
  constexpr std::array<const char*, 2> kWords = {"fedarena", "fail"};
  to_throw = std::make_exception_ptr(thrown);
  testing::internal::CaptureStderr();
  const int code = run_command_line(static_cast<int>(kWords.size()), kWords.data(), kCommands, "0");
  to_throw = nullptr;
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, CallsAShortageOfTheMachineByItsName) {
  for (const Ending& ending :
       {ending_by(std::bad_alloc()),
        ending_by(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))),
        ending_by(std::system_error(std::make_error_code(std::errc::not_enough_memory))),
        ending_by(std::system_error(std::make_error_code(std::errc::too_many_files_open))),
        ending_by(
            std::runtime_error("[enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't allocate "
                               "memory: you tried to allocate 4 bytes\nframe #0")),
        ending_by(std::runtime_error("CUDA out of memory. Tried to allocate 4 GiB")),
        ending_by(std::runtime_error("pthread_create has failed: Resource temporarily unavailable"))}) {
    EXPECT_EQ(ending.code, kUserError);
    EXPECT_THAT(ending.err, StartsWith("fedarena: the machine has no more memory or threads for this ("));
    EXPECT_THAT(ending.err, HasSubstr("\n  What was complete is kept. Use fewer --jobs and --workers, "));
    EXPECT_THAT(ending.err, Not(HasSubstr("frame #0")));
  }
}

TEST(CommandLine, CallsAShortageByItsNameWhereNobodyCatchesIt) {
  const auto shortage_of_a_thread = [] {
    constexpr std::array<const char*, 2> kWords = {"fedarena", "--version"};
    run_command_line(static_cast<int>(kWords.size()), kWords.data(), {}, "0");
    std::thread([] { throw std::runtime_error("pthread_create has failed: no more"); }).join();
  };
  EXPECT_EXIT(shortage_of_a_thread(), testing::ExitedWithCode(kUserError),
              "fedarena: the machine has no more memory or threads for this \\(pthread_create");
}

TEST(CommandLine, NamesThePathsThatTheSystemRefuses) {
  using Failure = std::filesystem::filesystem_error;
  const auto forbidden = std::make_error_code(std::errc::permission_denied);
  const auto missing = std::make_error_code(std::errc::no_such_file_or_directory);
  for (const auto& [failure, text] :
       {std::pair(Failure("status", "a/b", forbidden), "a/b: Permission denied"),
        {Failure("cannot copy", "a\n", "b\n", missing), "a : No such file or directory (b )"},
        {Failure("cannot get current path", missing),
         "cannot get current path: No such file or directory"}}) {
    const Ending ending = ending_by(failure);
    EXPECT_EQ(ending.code, kUserError);
    EXPECT_EQ(ending.err, fmt::format("fedarena: {}\n", text));
  }
}

TEST(CommandLine, CallsWhatNobodyThoughtOfABug) {
  const auto missing = std::make_error_code(std::errc::no_such_file_or_directory);
  for (const Ending& ending :
       {ending_by(std::logic_error("no way")), ending_by(std::system_error(missing))}) {
    EXPECT_EQ(ending.code, kBug);
    EXPECT_THAT(ending.err, StartsWith("fedarena: this is a bug, please report it: "));
  }
}

}  // namespace
}  // namespace fedarena
