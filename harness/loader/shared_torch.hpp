#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/anomaly_mode.h>

namespace fedarena {

/// Whether anybody draws from LibTorch's own generators during its life, or seeds them. All clients share
/// them, so that what each draws there hangs on who trains beside it; `torch::randn` does so, and the layers
/// of `torch::nn` at birth.
class SharedGenerators {
 public:
  /// Throws Error where somebody did.
  void check() const;

 private:
  // Of the CPU's, each draw moves the place in the state, each seed and each refill the state's first number.
  using Place = std::pair<std::uint32_t, int>;
  static Place now();
  // Of each GPU's in use, all that it holds: the seed, and how many numbers were drawn.
  static std::vector<std::string> now_on_gpus();

  Place before_ = now();
  std::vector<std::string> before_on_gpus_ = now_on_gpus();
};

/// What LibTorch holds for more than a thread, or keeps of one beyond a visit, and results depend on. It is
/// put back at the end of this object's life, whatever happens.
class SharedSettings {
 public:
  SharedSettings() = default;
  ~SharedSettings();
  SharedSettings(const SharedSettings&) = delete;
  SharedSettings& operator=(const SharedSettings&) = delete;

  /// Throws Error where they are others than at the beginning.
  void check() const;

 private:
  struct Values {
    caffe2::TypeMeta type = torch::get_default_dtype();
    bool anomaly = torch::autograd::AnomalyMode::is_enabled();
    bool deterministic = at::globalContext().deterministicAlgorithms();
    bool warn_only = at::globalContext().deterministicAlgorithmsWarnOnly();
    int threads = at::get_num_threads();
    bool observers = at::hasGlobalCallbacks();
    bool mkldnn = at::globalContext().userEnabledMkldnn();
    bool cudnn = at::globalContext().userEnabledCuDNN();
    bool cudnn_trials = at::globalContext().benchmarkCuDNN();
    bool cudnn_tf32 = at::globalContext().allowTF32CuDNN();
    at::Float32MatmulPrecision products = at::globalContext().float32MatmulPrecision();
    bool operator==(const Values&) const = default;
  };
  Values before_;
};

}  // namespace fedarena
