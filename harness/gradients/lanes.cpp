#include "harness/gradients/lanes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "harness/gradients/vectorised.hpp"

namespace fedarena::kernels {
namespace {

// A register's worth of numbers, aligned as LibTorch aligns tensors; compilers cut it up where registers are
// smaller, with the same bits.
constexpr std::int64_t kVectorBytes = 32;
template <typename T>
using Vector [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = T;
template <typename T>
constexpr std::int64_t kWidth = kVectorBytes / static_cast<std::int64_t>(sizeof(T));

template <typename T>
inline const Vector<T>* vectors(const T* numbers) {
  return reinterpret_cast<const Vector<T>*>(numbers);
}
template <typename T>
inline Vector<T>* vectors(T* numbers) {
  return reinterpret_cast<Vector<T>*>(numbers);
}

// Maps [channels][height][width] of sixteen examples.
template <typename T>
struct Maps {
  T* data;
  std::int64_t channels, height, width;

  std::int64_t map() const { return height * width * kLanes; }  // between channels
  std::int64_t numel() const { return channels * map(); }
  Maps block(std::int64_t index) const { return {data + index * numel(), channels, height, width}; }
  Maps<const T> constant() const { return {data, channels, height, width}; }
  T* at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return data + ((c * height + y) * width + x) * kLanes;
  }
};

// The first of the blocks [blocks, channels, height, width, 16].
template <typename T>
Maps<T> first_of(const torch::Tensor& blocks) {
  return {blocks.data_ptr<T>(), blocks.size(1), blocks.size(2), blocks.size(3)};
}

// `count` examples of maps [channels][height][width] into lanes, `margin` zeros around each map; lanes that
// are left hold zeros.
template <typename T>
inline void to_lanes(const T* examples, std::int64_t count, std::int64_t margin, const Maps<T>& lanes) {
  const std::int64_t height = lanes.height - 2 * margin, width = lanes.width - 2 * margin;
  const std::int64_t size = lanes.channels * height * width;
  if (margin > 0 || count < kLanes) std::fill_n(lanes.data, lanes.numel(), T(0));
  const auto copy_row = [=](const T* in, T* out, std::int64_t filled) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t lane = 0; lane < filled; ++lane) out[x * kLanes + lane] = in[lane * size + x];
    }
  };
  for (std::int64_t c = 0; c < lanes.channels; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      const T* in = examples + (c * height + y) * width;
      T* out = lanes.at(c, y + margin, margin);
      count == kLanes ? copy_row(in, out, kLanes) : copy_row(in, out, count);
    }
  }
}

// The way back.
template <typename T>
inline void from_lanes(const Maps<const T>& lanes, std::int64_t count, T* examples) {
  const std::int64_t size = lanes.channels * lanes.height * lanes.width;
  for (std::int64_t lane = 0; lane < count; ++lane) {
    for (std::int64_t i = 0; i < size; ++i) examples[lane * size + i] = lanes.data[i * kLanes + lane];
  }
}

// The inputs [kernel][in][kernel] that an output depends on, as steps from the first one: row after row, so
// that those in some rows lie together.
template <typename T>
std::vector<std::int64_t> taps_of(const Maps<T>& inputs, std::int64_t kernel) {
  std::vector<std::int64_t> taps;
  for (std::int64_t y = 0; y < kernel; ++y) {
    for (std::int64_t c = 0; c < inputs.channels; ++c) {
      for (std::int64_t x = 0; x < kernel; ++x) taps.push_back(inputs.at(c, y, x) - inputs.data);
    }
  }
  return taps;
}

// Cuts [0, count) into pieces of nearly the same size, at most Largest, and calls body<size>(first) for each.
template <int Largest, typename Body>
inline void in_pieces(std::int64_t count, const Body& body) {
  const std::int64_t pieces = (count + Largest - 1) / Largest;
  const auto call = [&]<int... Less>(std::int64_t first, std::int64_t size,
                                     std::integer_sequence<int, Less...> /*sizes*/) {
    ((size == Less + 1 ? body.template operator()<Less + 1>(first) : void()), ...);
  };
  const std::int64_t size = count / pieces, larger = count % pieces;  // so many pieces have one more
  for (std::int64_t piece = 0, first = 0; piece < pieces; ++piece) {
    const std::int64_t own = size + (piece < larger ? 1 : 0);
    call(first, own, std::make_integer_sequence<int, Largest>());
    first += own;
  }
}

// Sums stay in registers: of sixteen, ten leave room for what is multiplied. One sum in memory would halve
// the speed.
constexpr int kSums = 10;

// outputs = constants + weight [taps][out] on the inputs at the taps. Of the inputs' rows, the first and last
// `margin` are zeros.
template <typename T>
inline void convolve(const Maps<const T>& inputs, std::int64_t margin, std::span<const std::int64_t> taps,
                     const T* weight, const T* constants, const Maps<T>& outputs) {
  constexpr auto kVectors = static_cast<int>(kLanes / kWidth<T>);
  const std::int64_t kernel = inputs.height - outputs.height + 1;
  const std::int64_t taps_of_row = static_cast<std::int64_t>(taps.size()) / kernel;
  for (std::int64_t y = 0; y < outputs.height; ++y) {
    const std::int64_t first_row = std::max<std::int64_t>(0, margin - y);
    const std::int64_t last_row = std::min(kernel, inputs.height - margin - y);
    const auto used = taps.subspan(first_row * taps_of_row, (last_row - first_row) * taps_of_row);
    const T* weights = weight + first_row * taps_of_row * outputs.channels;
    in_pieces<kSums / kVectors>(outputs.channels, [&]<int Channels>(std::int64_t first) {
      for (std::int64_t x = 0; x < outputs.width; ++x) {
        Vector<T> sums[Channels][kVectors];
        for (int c = 0; c < Channels; ++c) {
          for (int v = 0; v < kVectors; ++v) sums[c][v] = Vector<T>{} + constants[first + c];
        }
        const T* in = inputs.at(0, y, x);
        const T* factors = weights + first;
        for (const std::int64_t tap : used) {
          const Vector<T>* numbers = vectors(in + tap);
          for (int c = 0; c < Channels; ++c) {
            for (int v = 0; v < kVectors; ++v) sums[c][v] += factors[c] * numbers[v];
          }
          factors += outputs.channels;
        }
        for (int c = 0; c < Channels; ++c) {
          Vector<T>* out = vectors(outputs.at(first + c, y, x));
          for (int v = 0; v < kVectors; ++v) out[v] = sums[c][v];
        }
      }
    });
  }
}

// gradient [channels][taps + 1][16] = each lane's sum over positions of deltas * inputs at the taps, and of
// deltas, which have a margin. Row after row, because maps are larger than the innermost cache.
template <typename T>
inline void multiply_deltas(const Maps<const T>& inputs, std::span<const std::int64_t> taps,
                            const Maps<const T>& deltas, std::int64_t margin, T* gradient) {
  constexpr int kChannels = 3;
  const std::int64_t height = deltas.height - 2 * margin, width = deltas.width - 2 * margin;
  const auto count = static_cast<std::int64_t>(taps.size());
  const std::int64_t row = (count + 1) * kLanes;
  std::fill_n(gradient, deltas.channels * row, T(0));
  for (std::int64_t y = 0; y < height; ++y) {
    in_pieces<kChannels>(deltas.channels, [&]<int Channels>(std::int64_t channel) {
      in_pieces<kSums / kChannels>(count, [&]<int Taps>(std::int64_t tap) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
          T* totals = gradient + channel * row + tap * kLanes + lane;
          Vector<T> sums[Channels][Taps];
          for (int c = 0; c < Channels; ++c) {
            for (int t = 0; t < Taps; ++t) sums[c][t] = *vectors(totals + c * row + t * kLanes);
          }
          const T* in = inputs.at(0, y, 0) + lane;
          const T* delta = deltas.at(channel, y + margin, margin) + lane;
          for (std::int64_t x = 0; x < width; ++x, in += kLanes, delta += kLanes) {
            for (int t = 0; t < Taps; ++t) {
              const Vector<T> numbers = *vectors(in + taps[tap + t]);
              for (int c = 0; c < Channels; ++c) {
                sums[c][t] += numbers * *vectors(delta + c * deltas.map());
              }
            }
          }
          for (int c = 0; c < Channels; ++c) {
            for (int t = 0; t < Taps; ++t) *vectors(totals + c * row + t * kLanes) = sums[c][t];
          }
        }
      });
    });
    for (std::int64_t c = 0; c < deltas.channels; ++c) {
      const T* delta = deltas.at(c, y + margin, margin);
      for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
        Vector<T>& total = *vectors(gradient + (c + 1) * row - kLanes + lane);
        for (std::int64_t x = 0; x < width; ++x) total += *vectors(delta + x * kLanes + lane);
      }
    }
  }
}

// The first of the largest numbers of a window in the lanes of one vector, and where it is; one that is no
// number is larger than any.
template <typename T>
struct Largest {
  Vector<T> number, place;

  // `first` is the window's first number.
  Largest(const Maps<const T>& maps, const T* first, std::int64_t pool)
      : number(*vectors(first)), place(Vector<T>{}) {
    T index = 0;
    for (std::int64_t y = 0; y < pool; ++y) {
      for (std::int64_t x = 0; x < pool; ++x, ++index) {
        const Vector<T> other = *vectors(first + (y * maps.width + x) * kLanes);
        const auto larger = (other > number) | (other != other);
        number = larger ? other : number;
        place = larger ? Vector<T>{} + index : place;
      }
    }
  }
};

template <typename T>
inline void apply_tail(const Maps<const T>& convolved, const ConvTail& tail, const Maps<T>& outputs) {
  for (std::int64_t c = 0; c < outputs.channels; ++c) {
    for (std::int64_t y = 0; y < outputs.height; ++y) {
      for (std::int64_t x = 0; x < outputs.width; ++x) {
        const T* window = convolved.at(c, y * tail.pool, x * tail.pool);
        T* out = outputs.at(c, y, x);
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
          const Vector<T> number = Largest<T>(convolved, window + lane, tail.pool).number;
          *vectors(out + lane) = tail.relu ? (number <= 0 ? Vector<T>{} : number) : number;
        }
      }
    }
  }
}

// Gradients in the tail's outputs to those in the convolution's, with `margin` zeros around.
template <typename T>
inline void undo_tail(const Maps<const T>& deltas, const Maps<const T>& convolved, const ConvTail& tail,
                      std::int64_t margin, const Maps<T>& result) {
  std::fill_n(result.data, result.numel(), T(0));
  for (std::int64_t c = 0; c < deltas.channels; ++c) {
    for (std::int64_t y = 0; y < deltas.height; ++y) {
      for (std::int64_t x = 0; x < deltas.width; ++x) {
        const T* window = convolved.at(c, y * tail.pool, x * tail.pool);
        const T* from = deltas.at(c, y, x);
        T* to = result.at(c, margin + y * tail.pool, margin + x * tail.pool);
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
          const Largest<T> largest(convolved, window + lane, tail.pool);
          const Vector<T> all = *vectors(from + lane);
          const Vector<T> delta = tail.relu ? (largest.number <= 0 ? Vector<T>{} : all) : all;
          T index = 0;
          for (std::int64_t dy = 0; dy < tail.pool; ++dy) {
            for (std::int64_t dx = 0; dx < tail.pool; ++dx, ++index) {
              *vectors(to + (dy * result.width + dx) * kLanes + lane) =
                  largest.place == index ? delta : Vector<T>{};
            }
          }
        }
      }
    }
  }
}

std::int64_t blocks_of(std::int64_t examples) { return (examples + kLanes - 1) / kLanes; }

}  // namespace

bool prefer_lanes(const Conv2d& layer, std::int64_t examples) {
  // Measured on 64 examples: the sum of gradients 1.7 times as fast as LibTorch's from 3 to 6 channels with
  // kernels of 5x5, 3.3 times from 1 to 6, as fast from 6 to 16; with kernels of 3x3 2.2 times from 1 to 32,
  // but 0.8 times from 3 to 16. Gradients of each example 3.4, 5.0, 2.0, 1.1 and 0.9 times. Four examples
  // leave too much of a vector empty (0.6 times).
  constexpr std::int64_t kFewProducts = 96, kEnoughExamples = kLanes / 2, kLibTorchsBestKernel = 3;
  return examples >= kEnoughExamples && layer.in * layer.out <= kFewProducts &&
         (layer.in == 1 || layer.kernel > kLibTorchsBestKernel) && layer.padding < layer.kernel;
}

LaneConvolution::LaneConvolution(const Conv2d& layer, const ConvTail& tail, torch::Tensor weight,
                                 torch::Tensor bias)
    : layer_(layer), tail_(tail), weight_(std::move(weight)), bias_(std::move(bias)) {}

torch::Tensor LaneConvolution::forward(const torch::Tensor& inputs) {
  examples_ = inputs.size(0);
  const std::int64_t blocks = blocks_of(examples_), border = 2 * layer_.padding;
  const std::int64_t height = inputs.size(2) + border, width = inputs.size(3) + border;
  const std::int64_t out_height = height - layer_.kernel + 1, out_width = width - layer_.kernel + 1;
  inputs_ = torch::empty({blocks, layer_.in, height, width, kLanes}, inputs.options());
  convolved_ = torch::empty({blocks, layer_.out, out_height, out_width, kLanes}, inputs.options());
  torch::Tensor outputs = torch::empty(
      {examples_, layer_.out, out_height / tail_.pool, out_width / tail_.pool}, inputs.options());
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "lane_convolution",
                             [&] { run_forward<scalar_t>(inputs, outputs); });
  return outputs;
}

template <typename T>
void LaneConvolution::run_forward(const torch::Tensor& inputs, const torch::Tensor& outputs) {
  const torch::Tensor weight = weight_.permute({2, 1, 3, 0}).contiguous();  // [taps, out]
  const Maps<T> kept = first_of<T>(inputs_), convolved = first_of<T>(convolved_);
  const std::vector<std::int64_t> taps = taps_of(kept, layer_.kernel);
  const std::int64_t in_size = inputs.numel() / examples_, out_size = outputs.numel() / examples_;
  const torch::Tensor tail_block =
      torch::empty({1, layer_.out, outputs.size(2), outputs.size(3), kLanes}, inputs.options());
  const Maps<T> tail = first_of<T>(tail_block);
  const T *in = inputs.data_ptr<T>(), *weights = weight.data_ptr<T>(), *biases = bias_.data_ptr<T>();
  T* out = outputs.data_ptr<T>();
  run_vectorised([&] {
    for (std::int64_t block = 0, first = 0; first < examples_; ++block, first += kLanes) {
      const std::int64_t count = std::min(kLanes, examples_ - first);
      to_lanes(in + first * in_size, count, layer_.padding, kept.block(block));
      convolve(kept.block(block).constant(), layer_.padding, taps, weights, biases, convolved.block(block));
      apply_tail(convolved.block(block).constant(), tail_, tail);
      from_lanes(tail.constant(), count, out + first * out_size);
    }
  });
}

torch::Tensor LaneConvolution::backward(const torch::Tensor& deltas, bool per_example, bool wanted) {
  per_example_ = per_example;
  const std::int64_t taps = layer_.in * layer_.kernel * layer_.kernel;
  gradients_ =
      torch::zeros({per_example ? inputs_.size(0) : 1, layer_.out, taps + 1, kLanes}, deltas.options());
  const std::int64_t border = 2 * layer_.padding;
  torch::Tensor input_deltas;
  if (wanted) {
    input_deltas = torch::empty({examples_, layer_.in, inputs_.size(2) - border, inputs_.size(3) - border},
                                deltas.options());
  }
  AT_DISPATCH_FLOATING_TYPES(deltas.scalar_type(), "lane_convolution_backward",
                             [&] { run_backward<scalar_t>(deltas, input_deltas); });
  return input_deltas;
}

template <typename T>
void LaneConvolution::run_backward(const torch::Tensor& deltas, const torch::Tensor& input_deltas) {
  const bool wanted = input_deltas.defined();
  // Gradients in the inputs are a convolution of deltas that are zero as far beyond the border as a kernel
  // reaches, with the kernel turned round.
  const std::int64_t margin = wanted ? layer_.kernel - 1 - layer_.padding : 0;
  const std::int64_t in_size = wanted ? input_deltas.numel() / examples_ : 0;
  const std::int64_t out_size = deltas.numel() / examples_;
  const Maps<T> kept = first_of<T>(inputs_), convolved = first_of<T>(convolved_);
  const auto one_block = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
    return torch::empty({1, channels, height, width, kLanes}, deltas.options());
  };
  const torch::Tensor tail_block = one_block(layer_.out, deltas.size(2), deltas.size(3));
  const torch::Tensor out_block =
      one_block(layer_.out, convolved.height + 2 * margin, convolved.width + 2 * margin);
  const torch::Tensor in_block =
      one_block(layer_.in, kept.height - 2 * layer_.padding, kept.width - 2 * layer_.padding);
  const torch::Tensor turned = weight_.flip({2, 3}).permute({2, 0, 3, 1}).contiguous();  // [taps, in]
  const torch::Tensor zeros = torch::zeros({layer_.in}, deltas.options());
  const Maps<T> tail = first_of<T>(tail_block), out = first_of<T>(out_block), in = first_of<T>(in_block);
  const std::vector<std::int64_t> taps = taps_of(kept, layer_.kernel),
                                  turned_taps = taps_of(out, layer_.kernel);

  const std::int64_t size = gradients_.numel() / gradients_.size(0);
  const torch::Tensor summand = torch::empty({per_example_ ? 0 : size}, deltas.options());
  const T *from = deltas.data_ptr<T>(), *weights = turned.data_ptr<T>(), *constants = zeros.data_ptr<T>();
  T* to = wanted ? input_deltas.data_ptr<T>() : nullptr;
  T *gradients = gradients_.data_ptr<T>(), *block_gradient = summand.data_ptr<T>();
  run_vectorised([&] {
    for (std::int64_t block = 0, first = 0; first < examples_; ++block, first += kLanes) {
      const std::int64_t count = std::min(kLanes, examples_ - first);
      to_lanes(from + first * out_size, count, 0, tail);
      undo_tail(tail.constant(), convolved.block(block).constant(), tail_, margin, out);
      T* gradient = per_example_ ? gradients + block * size : block_gradient;
      multiply_deltas(kept.block(block).constant(), taps, out.constant(), margin, gradient);
      if (!per_example_) {
        for (std::int64_t i = 0; i < size; ++i) gradients[i] += block_gradient[i];
      }
      if (!wanted) continue;
      convolve(out.constant(), margin, turned_taps, weights, constants, in);
      from_lanes(in.constant(), count, to + first * in_size);
    }
  });
}

std::vector<double> LaneConvolution::squared_norms() const {
  std::vector<double> squared(static_cast<std::size_t>(gradients_.size(0) * kLanes));
  AT_DISPATCH_FLOATING_TYPES(gradients_.scalar_type(), "lane_norms", [&] {
    const auto* numbers = gradients_.data_ptr<scalar_t>();
    const std::int64_t rows = gradients_[0].numel() / kLanes;
    run_vectorised([&] {
      for (std::int64_t block = 0; block < gradients_.size(0); ++block) {
        std::array<double, kLanes> sums{};
        for (std::int64_t row = 0; row < rows; ++row, numbers += kLanes) {
          for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const auto number = static_cast<double>(numbers[lane]);
            sums[lane] += number * number;
          }
        }
        std::copy(sums.begin(), sums.end(), squared.begin() + block * kLanes);
      }
    });
  });
  squared.resize(static_cast<std::size_t>(examples_));
  return squared;
}

void LaneConvolution::add_sum(std::span<const double> factors, const torch::Tensor& weight,
                              const torch::Tensor& bias) const {
  AT_DISPATCH_FLOATING_TYPES(gradients_.scalar_type(), "lane_sum", [&] {
    const std::int64_t blocks = gradients_.size(0), taps = gradients_.size(2) - 1, kernel = layer_.kernel;
    const std::int64_t rows = gradients_[0].numel() / kLanes;
    std::vector<scalar_t> scales(static_cast<std::size_t>(blocks * kLanes), per_example_ ? 0 : 1);
    if (per_example_) std::copy(factors.begin(), factors.end(), scales.begin());
    const auto* numbers = gradients_.data_ptr<scalar_t>();
    auto* weights = weight.data_ptr<scalar_t>();
    auto* biases = bias.data_ptr<scalar_t>();
    run_vectorised([&] {
      for (std::int64_t row = 0; row < rows; ++row) {
        std::array<scalar_t, kLanes> sums{};
        for (std::int64_t block = 0; block < blocks; ++block) {
          const scalar_t* in = numbers + (block * rows + row) * kLanes;
          const scalar_t* scale = scales.data() + block * kLanes;
          for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            sums[lane] += scale[lane] == 0 ? scalar_t(0) : scale[lane] * in[lane];
          }
        }
        scalar_t sum = 0;
        for (const scalar_t lane : sums) sum += lane;
        const std::int64_t channel = row / (taps + 1), tap = row % (taps + 1);
        const std::int64_t x = tap % kernel, in = tap / kernel % layer_.in, y = tap / kernel / layer_.in;
        (tap == taps ? biases[channel] : weights[((channel * layer_.in + in) * kernel + y) * kernel + x]) +=
            sum;
      }
    });
  });
}

}  // namespace fedarena::kernels
