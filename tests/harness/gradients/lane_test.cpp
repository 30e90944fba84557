// The order of a lane on a device that only writes down what it is told: LibTorch lets one register for
// devices of users' own.
#include "harness/gradients/cuda/lane.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "fedarena/base/pool.hpp"

namespace fedarena {
namespace {

using ::testing::ElementsAre;

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
const c10::Device kGpu{kType, 0};

// What the thread told the device; the stream in which it is.
thread_local std::vector<std::string> told;
thread_local c10::StreamId current = 0;
bool broken = false;  // whether the device answers with an error when it is waited for

struct Diary final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device) const override { return kGpu; }
  c10::Device getDevice() const override { return kGpu; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::UNSAFE, device, current);
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    static std::atomic<c10::StreamId> last = 0;
    return c10::Stream(c10::Stream::UNSAFE, device, ++last);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    const c10::Stream before = getStream(kGpu);
    current = stream.id();
    return before;
  }
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    *event = &told;  // any that is not null
    told.push_back(fmt::format("event in {}", stream.id()));
  }
  void block(void*, const c10::Stream& stream) const override {
    told.push_back(fmt::format("{} waits for it", stream.id()));
  }
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
  void synchronizeStream(const c10::Stream& stream) const override {
    told.push_back(fmt::format("wait for {} in {}", stream.id(), current));
    TORCH_CHECK(!broken, "the device is broken");
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Diary);

class Lanes : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda::in_a_lane(kGpu, [&] { lane = std::to_string(current); });
    told.clear();
  }
  std::string lane;  // this thread's stream
};

TEST_F(Lanes, BeginAfterWhatWasQueuedAndEndWithTheirStream) {
  EXPECT_NE(lane, "0");
  cuda::in_a_lane(kGpu, [&] { told.push_back("work in " + std::to_string(current)); });
  EXPECT_THAT(told, ElementsAre("event in 0", lane + " waits for it", "work in " + lane,
                                "wait for " + lane + " in " + lane));
  EXPECT_EQ(current, 0);
}

TEST_F(Lanes, EndWithTheirStreamWhereTheWorkFails) {
  EXPECT_THROW(cuda::in_a_lane(kGpu, [] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_THAT(told, ElementsAre("event in 0", lane + " waits for it", "wait for " + lane + " in " + lane));
  EXPECT_EQ(current, 0);
}

TEST_F(Lanes, TellOfAGpusErrorButKeepTheWorksOwn) {
  broken = true;
  EXPECT_THROW(cuda::in_a_lane(kGpu, [] {}), c10::Error);
  EXPECT_THROW(cuda::in_a_lane(kGpu, [] { throw std::runtime_error("no"); }), std::runtime_error);
  broken = false;
}

TEST_F(Lanes, AreOneForEachThreadAndKeepLoopsThere) {
  const WorkPool pool(3);
  std::mutex mutex;
  std::map<std::thread::id, std::set<c10::StreamId>> by_thread;
  const auto look = [&](std::size_t) {
    const std::lock_guard guard(mutex);
    by_thread[std::this_thread::get_id()].insert(current);
  };
  pool.for_each(12, [&](std::size_t index) {
    cuda::in_a_lane(kGpu, [&] {
      look(index);
      pool.for_each(5, look);
    });
  });
  std::set<c10::StreamId> streams;
  for (const auto& [thread, of_thread] : by_thread) {
    EXPECT_EQ(of_thread.size(), 1U);
    streams.insert(of_thread.begin(), of_thread.end());
  }
  EXPECT_EQ(streams.size(), by_thread.size());
}

TEST_F(Lanes, AreWaitedForByClocks) {
  cuda::wait_for(kGpu);
  cuda::in_a_lane(kGpu, [&] {
    told.clear();
    cuda::wait_for(kGpu);
    EXPECT_THAT(told, ElementsAre("wait for " + lane + " in " + lane));
  });
}

TEST_F(Lanes, AreNothingOnTheCpu) {
  bool done = false;
  cuda::in_a_lane(torch::kCPU, [&] { done = true; });
  cuda::wait_for(torch::kCPU);
  EXPECT_TRUE(done);
  EXPECT_THAT(told, ::testing::IsEmpty());
}

}  // namespace
}  // namespace fedarena
