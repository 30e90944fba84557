// The order of a lane on a device that only writes down what it is told: LibTorch lets one register for
// devices of users' own.
#include "harness/gradients/cuda/lane.hpp"

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
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
  void SetUp() override { told.clear(); }
  // The stream that this thread's next lane has.
  static std::string next_stream() {
    return std::to_string(c10::impl::VirtualGuardImpl(kType).getStreamFromGlobalPool(kGpu).id() + 1);
  }
};

TEST_F(Lanes, BeginAfterWhatWasQueuedAndEndWithTheirStream) {
  const std::string lane = next_stream();
  cuda::in_a_lane(kGpu, [&] { told.push_back("work in " + std::to_string(current)); });
  EXPECT_THAT(told, ElementsAre("event in 0", lane + " waits for it", "work in " + lane,
                                "wait for " + lane + " in " + lane));
  EXPECT_EQ(current, 0);
}

TEST_F(Lanes, EndWithTheirStreamWhereTheWorkFails) {
  const std::string lane = next_stream();
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

TEST_F(Lanes, KeepLoopsOnTheirThreadAndDifferBetweenThreads) {
  const WorkPool pool(3);
  std::vector<c10::StreamId> streams(12);
  std::vector<std::vector<c10::StreamId>> inner(streams.size(), std::vector<c10::StreamId>(5));
  pool.for_each(streams.size(), [&](std::size_t index) {
    cuda::in_a_lane(kGpu, [&] {
      streams[index] = current;
      pool.for_each(inner[index].size(), [&](std::size_t i) { inner[index][i] = current; });
    });
  });
  for (std::size_t index = 0; index < streams.size(); ++index)
    EXPECT_THAT(inner[index], ::testing::Each(streams[index]));
  EXPECT_EQ(std::set(streams.begin(), streams.end()).size(), streams.size());
}

TEST_F(Lanes, AreNothingOnTheCpu) {
  bool done = false;
  cuda::in_a_lane(torch::kCPU, [&] { done = true; });
  EXPECT_TRUE(done);
  EXPECT_THAT(told, ::testing::IsEmpty());
}

}  // namespace
}  // namespace fedarena
