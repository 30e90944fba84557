#include "results/live/folder_locks.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// A line of the system's list, about a folder of the given device.
std::string line_about(const fs::path& folder, const std::string& kind, const std::string& process,
                       std::optional<unsigned> major_number = {}) {
  struct stat status = {};
  EXPECT_EQ(::stat(folder.c_str(), &status), 0);
  return fmt::format("1: {} {} {:02x}:{:02x}:{} 0 EOF\n", kind, process,
                     major_number.value_or(major(status.st_dev)), minor(status.st_dev), status.st_ino);
}

class FolderLocksTest : public WithFolder {};

TEST_F(FolderLocksTest, NameTheProcessThatHoldsAFolder) {
  fs::create_directories(folder_ / "held");
  fs::create_directories(folder_ / "free");
  const fs::path list = folder_.write(
      "list",
      "2: POSIX  ADVISORY  READ 77 08:01:42 0 EOF\nnonsense\n3: FLOCK  ADVISORY  WRITE x 08:01 0 EOF\n" +
          line_about(folder_ / "held", "FLOCK  ADVISORY  WRITE", "4711"));
  const FolderLocks locks = FolderLocks::read(list);
  EXPECT_TRUE(locks.known());
  EXPECT_EQ(locks.holder(folder_ / "held"), 4711);
  EXPECT_EQ(locks.holder(folder_ / "free"), std::nullopt);
  EXPECT_EQ(locks.holder(folder_ / "nowhere"), std::nullopt);
}

TEST_F(FolderLocksTest, CountNeitherThoseOfOtherKindsNorThoseWhoWait) {
  fs::create_directories(folder_ / "a");
  for (const char* kind : {"POSIX  ADVISORY  WRITE", "FLOCK  ADVISORY  READ", "-> FLOCK  ADVISORY  WRITE"}) {
    folder_.write("list", line_about(folder_ / "a", kind, "4711"));
    EXPECT_EQ(FolderLocks::read(folder_ / "list").holder(folder_ / "a"), std::nullopt) << kind;
  }
}

TEST_F(FolderLocksTest, NeedTheDeviceToo) {
  fs::create_directories(folder_ / "a");
  folder_.write("list", line_about(folder_ / "a", "FLOCK  ADVISORY  WRITE", "4711", 0xFFF));
  EXPECT_EQ(FolderLocks::read(folder_ / "list").holder(folder_ / "a"), std::nullopt);
}

// As on Btrfs and overlays: the list has another device than the one that programs are told.
TEST_F(FolderLocksTest, NeedNoMinorDeviceWhereThereIsNoHardware) {
  const fs::path folder = "/proc";
  struct stat status = {};
  ASSERT_EQ(::stat(folder.c_str(), &status), 0);
  ASSERT_EQ(major(status.st_dev), 0U);
  const auto holder = [&](unsigned major_number) {
    folder_.write("list", fmt::format("1: FLOCK  ADVISORY  WRITE 4711 {:02x}:{:02x}:{} 0 EOF\n", major_number,
                                      minor(status.st_dev) + 1, status.st_ino));
    return FolderLocks::read(folder_ / "list").holder(folder);
  };
  EXPECT_EQ(holder(0), 4711);
  EXPECT_EQ(holder(8), std::nullopt);
}

TEST_F(FolderLocksTest, AreUnknownWithoutAList) {
  EXPECT_FALSE(FolderLocks::read(folder_ / "none").known());
  EXPECT_FALSE(FolderLocks().known());
  EXPECT_EQ(FolderLocks::read(folder_ / "none").holder(folder_.path()), std::nullopt);
}

// The lock that a process at work takes, in the list of this machine.
TEST_F(FolderLocksTest, FindARealLockAndLeaveItAlone) {
  if (!FolderLocks::read().known()) {
    std::puts("This system lists no locks, so none was looked for.");
    return;
  }
  fs::create_directories(folder_ / "a");
  EXPECT_EQ(FolderLocks::read().holder(folder_ / "a"), std::nullopt);
  const int folder = ::open((folder_ / "a").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  ASSERT_EQ(::flock(folder, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(FolderLocks::read().holder(folder_ / "a"), ::getpid());
  EXPECT_EQ(FolderLocks::read().holder(folder_ / "a"), ::getpid());
  ::close(folder);
  EXPECT_EQ(FolderLocks::read().holder(folder_ / "a"), std::nullopt);
}

}  // namespace
}  // namespace fedarena::results
