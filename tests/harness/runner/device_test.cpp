// What `experiment.device` means here: on a machine with a GPU these tests say other things than on one
// without.
#include "harness/runner/plan/device.hpp"

#include <cstdlib>

#include <ATen/Context.h>
#include <torch/cuda.h>

#include "harness/runner/record/environment.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

class OnTheGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "LibTorch sees no GPU";
  }
};

TEST(Device, IsTheCpuWhereTheCpuIsAskedFor) { EXPECT_EQ(device_of("cpu"), torch::Device(torch::kCPU)); }

TEST(Device, IsTheCpuWhereAutoFindsNoGpu) {
  if (torch::cuda::is_available()) GTEST_SKIP() << "LibTorch sees a GPU";
  EXPECT_EQ(device_of("auto").str(), "cpu");
  for (const char* device : {"cuda", "cuda:0", "cuda:7"}) {
    expect_refused(StartsWith(std::string("the device \"") + device +
                              "\" is asked for, but LibTorch sees no GPU\n  Use --device cpu"),
                   [&] { device_of(device); });
  }
}

TEST_F(OnTheGpu, HasItsNumber) {
  for (const char* device : {"auto", "cuda", "cuda:0"}) EXPECT_EQ(device_of(device).str(), "cuda:0");
}

TEST_F(OnTheGpu, BeyondTheLastIsRefused) {
  const std::string beyond = "cuda:" + std::to_string(torch::cuda::device_count());
  expect_refused(
      has_all("but LibTorch sees " + std::to_string(torch::cuda::device_count()) + " GPU", "allowed: cuda:0"),
      [&] { device_of(beyond); });
}

TEST_F(OnTheGpu, RepeatsItself) {
  device_of("cuda");
  EXPECT_NE(std::getenv("CUBLAS_WORKSPACE_CONFIG"), nullptr);
  const results::Json gpu = observe_gpu(0);
  EXPECT_NE(gpu.value("gpu", ""), "");
  EXPECT_GT(gpu.value("gpu_memory_bytes", std::int64_t{0}), std::int64_t{1} << 28);
  EXPECT_TRUE(gpu.at("deterministic").get<bool>());
  EXPECT_FALSE(gpu.at("tf32").get<bool>());
  EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
}

}  // namespace
}  // namespace fedarena
