#include "harness/gradients/kernels/patches.hpp"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "harness/gradients/kernels/products.hpp"
#include "harness/gradients/kernels/vectorised.hpp"

namespace fedarena::kernels {
namespace {

// Sizes of one example.
struct Frame {
  std::int64_t in, height, width, kernel, padding;
  std::int64_t out_height, out_width;

  Frame(const Conv2d& layer, std::int64_t height, std::int64_t width)
      : in(layer.in),
        height(height),
        width(width),
        kernel(layer.kernel),
        padding(layer.padding),
        out_height(height + 2 * layer.padding - layer.kernel + 1),
        out_width(width + 2 * layer.padding - layer.kernel + 1) {}

  std::int64_t taps() const { return in * kernel * kernel; }
  std::int64_t positions() const { return out_height * out_width; }
  std::int64_t example() const { return in * height * width; }
  std::int64_t padded_height() const { return height + 2 * padding; }
  std::int64_t padded_width() const { return width + 2 * padding; }
  std::int64_t padded() const { return in * padded_height() * padded_width(); }
  // Where among the padded numbers the example's own of that row begin.
  std::int64_t own_row(std::int64_t channel, std::int64_t y) const {
    return (channel * padded_height() + y + padding) * padded_width() + padding;
  }

  // use(tap, y, first): the patches of outputs' row y have, as their number `tap`, those from padded[first]
  // on.
  template <typename Use>
  void for_each_row(const Use& use) const {
    std::int64_t tap = 0;
    for (std::int64_t c = 0; c < in; ++c) {
      for (std::int64_t dy = 0; dy < kernel; ++dy) {
        for (std::int64_t dx = 0; dx < kernel; ++dx, ++tap) {
          for (std::int64_t y = 0; y < out_height; ++y) {
            use(tap, y, (c * padded_height() + y + dy) * padded_width() + dx);
          }
        }
      }
    }
  }
};

// An example with zeros around it.
template <typename T>
inline void pad(const T* example, const Frame& frame, T* padded) {
  std::fill_n(padded, frame.padded(), T(0));
  for (std::int64_t c = 0; c < frame.in; ++c) {
    for (std::int64_t y = 0; y < frame.height; ++y, example += frame.width) {
      std::copy_n(example, frame.width, padded + frame.own_row(c, y));
    }
  }
}

}  // namespace

bool prefer_patches(const Conv2d& layer) {
  constexpr std::int64_t kManyOutputs = 16, kSmallPatch = 32;
  return layer.stride == 1 && layer.out >= kManyOutputs &&
         layer.in * layer.kernel * layer.kernel <= kSmallPatch;
}

torch::Tensor outputs_of_patches(const Conv2d& layer, const torch::Tensor& inputs,
                                 const torch::Tensor& weight, const torch::Tensor& bias) {
  const Frame frame(layer, inputs.size(2), inputs.size(3));
  const std::int64_t positions = frame.positions(), rows = frame.taps() + 1;
  torch::Tensor outputs =
      torch::empty({inputs.size(0), layer.out, frame.out_height, frame.out_width}, inputs.options());
  const torch::Tensor weights = at::cat({weight.flatten(1), bias.unsqueeze(1)}, 1);  // the bias' input is one
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "outputs_of_patches", [&] {
    std::vector<scalar_t> padded(static_cast<std::size_t>(frame.padded()));
    const Matrix<const scalar_t> left{weights.data_ptr<scalar_t>(), rows};
    const std::int64_t step = positions + kGap;
    std::vector<scalar_t> patches(static_cast<std::size_t>(rows * step), scalar_t(1));
    for (std::int64_t i = 0; i < inputs.size(0); ++i) {
      const scalar_t* example = inputs.data_ptr<scalar_t>() + i * frame.example();
      run_vectorised([&] {
        pad(example, frame, padded.data());
        frame.for_each_row([&](std::int64_t tap, std::int64_t y, std::int64_t first) {
          std::copy_n(padded.data() + first, frame.out_width,
                      patches.data() + tap * step + y * frame.out_width);
        });
      });
      multiply(left, Matrix<const scalar_t>{patches.data(), step}, {layer.out, rows, positions},
               Matrix<scalar_t>{outputs.data_ptr<scalar_t>() + i * layer.out * positions, positions});
    }
  });
  return outputs;
}

torch::Tensor weight_deltas_of_patches(const Conv2d& layer, const torch::Tensor& inputs,
                                       const torch::Tensor& deltas) {
  constexpr std::int64_t kColumns = 16;  // a register's worth, so that none is summed alone
  const Frame frame(layer, inputs.size(2), inputs.size(3));
  const std::int64_t positions = frame.positions();
  const std::int64_t columns = (frame.taps() + kColumns - 1) / kColumns * kColumns;
  torch::Tensor result = torch::zeros({layer.out, columns}, deltas.options());
  AT_DISPATCH_FLOATING_TYPES(deltas.scalar_type(), "weight_deltas_of_patches", [&] {
    std::vector<scalar_t> padded(static_cast<std::size_t>(frame.padded()));
    std::vector<scalar_t> patches(static_cast<std::size_t>(positions * columns));
    for (std::int64_t i = 0; i < inputs.size(0); ++i) {
      const scalar_t* example = inputs.data_ptr<scalar_t>() + i * frame.example();
      run_vectorised([&] {
        pad(example, frame, padded.data());
        frame.for_each_row([&](std::int64_t tap, std::int64_t y, std::int64_t first) {
          scalar_t* out = patches.data() + y * frame.out_width * columns + tap;
          for (std::int64_t x = 0; x < frame.out_width; ++x) out[x * columns] = padded[first + x];
        });
      });
      multiply(Matrix<const scalar_t>{deltas.data_ptr<scalar_t>() + i * layer.out * positions, positions},
               Matrix<const scalar_t>{patches.data(), columns}, {layer.out, positions, columns},
               Matrix<scalar_t>{result.data_ptr<scalar_t>(), columns}, Start::kProducts);
    }
  });
  return result;
}

void add_input_deltas_of_patches(const Conv2d& layer, const torch::Tensor& weight,
                                 const torch::Tensor& deltas, const torch::Tensor& result) {
  const Frame frame(layer, result.size(2), result.size(3));
  const std::int64_t positions = frame.positions(), taps = frame.taps(), step = positions + kGap;
  AT_DISPATCH_FLOATING_TYPES(deltas.scalar_type(), "input_deltas_of_patches", [&] {
    std::vector<scalar_t> padded(static_cast<std::size_t>(frame.padded()));
    std::vector<scalar_t> patches(static_cast<std::size_t>(taps * step));
    const Matrix<const scalar_t> left{weight.data_ptr<scalar_t>(), 1, taps};  // transposed
    for (std::int64_t i = 0; i < deltas.size(0); ++i) {
      multiply(left,
               Matrix<const scalar_t>{deltas.data_ptr<scalar_t>() + i * layer.out * positions, positions},
               {taps, layer.out, positions}, Matrix<scalar_t>{patches.data(), step});
      scalar_t* example = result.data_ptr<scalar_t>() + i * frame.example();
      run_vectorised([&] {
        std::fill(padded.begin(), padded.end(), scalar_t(0));
        frame.for_each_row([&](std::int64_t tap, std::int64_t y, std::int64_t first) {
          const scalar_t* from = patches.data() + tap * step + y * frame.out_width;
          for (std::int64_t x = 0; x < frame.out_width; ++x) padded[first + x] += from[x];
        });
        for (std::int64_t c = 0; c < frame.in; ++c) {
          for (std::int64_t y = 0; y < frame.height; ++y) {
            const scalar_t* from = padded.data() + frame.own_row(c, y);
            for (std::int64_t x = 0; x < frame.width; ++x) *example++ += from[x];
          }
        }
      });
    }
  });
}

}  // namespace fedarena::kernels
