#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/stream.hpp"

#include "harness/gradients/cuda/norm_tangents.hpp"
#include "harness/gradients/cuda/normals.hpp"
#include "harness/gradients/cuda/norms.hpp"
#include "harness/gradients/cuda/patches.hpp"
#include "harness/gradients/cuda/pools.hpp"
#include "harness/gradients/cuda/rows.hpp"

/// Every kernel on given numbers, on arrays of the host or of a GPU (`Arrays`: HostArrays or GpuArrays).
/// Results are filled with NaN before, so that a place that is not written is seen.
namespace fedarena::cuda {

template <typename T>
using Numbers = std::vector<T>;

template <typename T>
Numbers<T> random_numbers(std::uint64_t seed, std::int64_t count) {
  Numbers<T> numbers(static_cast<std::size_t>(count));
  Stream stream({.seed = seed});
  for (T& number : numbers) number = static_cast<T>(stream.normal());
  return numbers;
}

template <typename T>
Numbers<T> unwritten(std::int64_t count) {
  return Numbers<T>(static_cast<std::size_t>(count), std::numeric_limits<T>::quiet_NaN());
}

/// What the kernel that is made for these numbers, to be written to, makes of them.
template <typename T, typename Arrays, typename Make>
Numbers<T> results_of(Arrays& arrays, const Numbers<T>& before, const Make& make) {
  T* numbers = arrays.put(before);
  arrays.run(make(numbers));
  return arrays.take(numbers, before.size());
}

template <typename T, typename Arrays>
Numbers<double> squared_norms(Arrays& arrays, const Numbers<T>& rows, std::int64_t count) {
  const std::int64_t size = count == 0 ? 0 : static_cast<std::int64_t>(rows.size()) / count;
  return results_of(arrays, unwritten<double>(count), [&](double* squared) {
    return SquaredNorms<T>{.rows = arrays.put(rows), .count = count, .size = size, .squared = squared};
  });
}

template <typename T, typename Arrays>
Numbers<T> weighted_sum(Arrays& arrays, const Numbers<T>& rows, const Numbers<T>& factors,
                        const Numbers<T>& target) {
  return results_of(arrays, target, [&](T* sum) {
    return ForEach{WeightedSum<T>{.rows = arrays.put(rows),
                                  .factors = arrays.put(factors),
                                  .height = static_cast<std::int64_t>(factors.size()),
                                  .size = static_cast<std::int64_t>(target.size()),
                                  .target = sum}};
  });
}

template <typename T, typename Arrays>
Numbers<T> pool(Arrays& arrays, Pooling what, const Windows& windows, std::int64_t planes,
                const Numbers<T>& inputs, const Numbers<T>& from) {
  Pool<T> pool{what, windows, planes, arrays.put(inputs), arrays.put(from), nullptr};
  return results_of(arrays, unwritten<T>(pool.count()), [&](T* to) {
    pool.to = to;
    return ForEach{pool};
  });
}

template <typename T, typename Arrays>
Numbers<T> add_normals(Arrays& arrays, Stream& stream, double deviation, const Numbers<T>& target) {
  const auto pairs = static_cast<std::int64_t>(target.size() / 2);
  const Stream::Place at = stream.skip_pairs(static_cast<std::uint64_t>(pairs));
  return results_of(arrays, target, [&](T* sum) {
    return ForEach{AddNormals<T>{.key = {at.key[0], at.key[1]},
                                 .counter = {at.counter[0], at.counter[1], at.counter[2], at.counter[3]},
                                 .word = at.word,
                                 .pairs = pairs,
                                 .deviation = deviation,
                                 .target = sum}};
  });
}

/// A normalisation of so many examples, its parameters, and gradients in the tail's outputs.
template <typename T>
struct NormCase {
  NormSizes sizes;
  std::int64_t examples;
  Numbers<T> inputs, weight, bias, deltas;

  NormCase(const NormSizes& shape, std::int64_t count, std::uint64_t seed)
      : sizes(shape),
        examples(count),
        inputs(random_numbers<T>(seed, groups() * sizes.group())),
        weight(random_numbers<T>(seed + 1, sizes.groups * sizes.channels)),
        bias(random_numbers<T>(seed + 2, sizes.groups * sizes.channels)),
        deltas(random_numbers<T>(seed + 3, groups() * sizes.channels * sizes.pooled_plane())) {}

  std::int64_t groups() const { return examples * sizes.groups; }
};

template <typename T>
struct NormResults {
  Numbers<T> outputs, mean, inverse, inputs, weight_rows, bias_rows;
};

/// Forward and backward.
template <typename T, typename Arrays>
NormResults<T> normalise(Arrays& arrays, const NormCase<T>& at) {
  const std::int64_t count = at.groups(), rows = count * at.sizes.channels;
  const T *inputs = arrays.put(at.inputs), *weight = arrays.put(at.weight), *bias = arrays.put(at.bias);
  T *outputs = arrays.put(unwritten<T>(static_cast<std::int64_t>(at.deltas.size()))),
    *mean = arrays.put(unwritten<T>(count)), *inverse = arrays.put(unwritten<T>(count));
  const NormForward<T> forward{at.sizes, count, inputs, weight, bias, outputs, mean, inverse};
  arrays.run(forward);
  T *gradients = arrays.put(unwritten<T>(static_cast<std::int64_t>(at.inputs.size()))),
    *weight_rows = arrays.put(unwritten<T>(rows)), *bias_rows = arrays.put(unwritten<T>(rows));
  const NormBackward<T> backward{at.sizes, count,   inputs,    arrays.put(at.deltas), weight,   bias,
                                 mean,     inverse, gradients, weight_rows,           bias_rows};
  arrays.run(backward);
  const auto groups = static_cast<std::size_t>(count), each = static_cast<std::size_t>(rows);
  return {arrays.take(outputs, at.deltas.size()), arrays.take(mean, groups),
          arrays.take(inverse, groups),           arrays.take(gradients, at.inputs.size()),
          arrays.take(weight_rows, each),         arrays.take(bias_rows, each)};
}

template <typename T>
struct TangentResults {
  Numbers<T> outputs, inputs;
};

/// The derivatives of outputs and of gradients in the inputs where everything moves as `by` says.
template <typename T, typename Arrays>
TangentResults<T> move(Arrays& arrays, const NormCase<T>& at, const NormCase<T>& by) {
  const MovingScales<T> scales{arrays.put(at.weight), arrays.put(at.bias), arrays.put(by.weight),
                               arrays.put(by.bias)};
  const T *inputs = arrays.put(at.inputs), *input_tangents = arrays.put(by.inputs);
  T *outputs = arrays.put(unwritten<T>(static_cast<std::int64_t>(at.deltas.size()))),
    *moments = arrays.put(unwritten<T>(at.groups() * kMoments)),
    *gradients = arrays.put(unwritten<T>(static_cast<std::int64_t>(at.inputs.size())));
  const NormTangentForward<T> forward{at.sizes,       at.groups(), scales, inputs,
                                      input_tangents, outputs,     moments};
  arrays.run(forward);
  const NormTangentBackward<T> backward{
      at.sizes, at.groups(), scales, inputs, input_tangents, arrays.put(at.deltas), arrays.put(by.deltas),
      moments,  gradients};
  arrays.run(backward);
  return {arrays.take(outputs, at.deltas.size()), arrays.take(gradients, at.inputs.size())};
}

/// All that the kernels of a normalisation write, one after the other.
template <typename T, typename Arrays>
Numbers<T> all_of(Arrays& arrays, const NormCase<T>& at, const NormCase<T>& by) {
  const NormResults<T> results = normalise(arrays, at);
  const TangentResults<T> tangents = move(arrays, at, by);
  Numbers<T> all;
  for (const Numbers<T>* part :
       {&results.outputs, &results.mean, &results.inverse, &results.inputs, &results.weight_rows,
        &results.bias_rows, &tangents.outputs, &tangents.inputs}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

template <typename T, typename Arrays>
Numbers<T> patches(Arrays& arrays, const PatchSizes& sizes, const Numbers<T>& inputs) {
  const std::int64_t examples = static_cast<std::int64_t>(inputs.size()) / sizes.inputs();
  return results_of(arrays, unwritten<T>(examples * sizes.rows() * sizes.positions()), [&](T* out) {
    return ForEach{Patches<T>{sizes, examples, arrays.put(inputs), out}};
  });
}

/// The transpose, from so many examples' taps.
template <typename T, typename Arrays>
Numbers<T> add_patches(Arrays& arrays, const PatchSizes& sizes, const Numbers<T>& taps) {
  const std::int64_t examples = static_cast<std::int64_t>(taps.size()) / sizes.taps() / sizes.positions();
  return results_of(arrays, unwritten<T>(examples * sizes.inputs()), [&](T* out) {
    return ForEach{AddPatches<T>{sizes, examples, arrays.put(taps), out}};
  });
}

template <typename T, typename Arrays>
Numbers<T> weight_matrix(Arrays& arrays, int taps, int rows, const Numbers<T>& weight,
                         const Numbers<T>& bias) {
  const auto out = static_cast<int>(bias.size());
  return results_of(arrays, unwritten<T>(std::int64_t{out} * rows), [&](T* matrix) {
    return ForEach{WeightMatrix<T>{out, taps, rows, arrays.put(weight), arrays.put(bias), matrix}};
  });
}

/// Shapes with all that can go wrong at an edge: one number, odd sizes, planes that windows do not fill, more
/// channels than a block has teams, groups of one channel and of all, more and fewer than a block takes.
inline std::vector<std::pair<NormSizes, std::int64_t>> norm_shapes() {
  constexpr double kEpsilon = 1e-5;
  std::vector<std::pair<NormSizes, std::int64_t>> shapes;
  for (const bool relu : {false, true}) {
    shapes.push_back({{2, 3, {1, 35, 1}, relu, kEpsilon}, 2});
    shapes.push_back({{1, 1, {2, 2, 2}, relu, kEpsilon}, 1});
    shapes.push_back({{4, 1, {32, 32, 2}, relu, kEpsilon}, 2});
    shapes.push_back({{37, 1, {8, 8, 2}, relu, kEpsilon}, 1});
    shapes.push_back({{1, 1, {60, 70, 2}, relu, kEpsilon}, 2});
    shapes.push_back({{1, 19, {5, 7, 2}, relu, kEpsilon}, 3});
    shapes.push_back({{2, 9, {7, 10, 3}, relu, kEpsilon}, 1});
    shapes.push_back({{3, 2, {1, 300, 1}, relu, kEpsilon}, 0});
  }
  return shapes;
}

inline std::string describe(const NormSizes& sizes) {
  return fmt::format("{} groups of {} channels of {}x{}, pooled by {}, relu {}", sizes.groups, sizes.channels,
                     sizes.windows.height, sizes.windows.width, sizes.windows.size, sizes.relu);
}

/// Convolutions, and how many examples.
inline std::vector<std::pair<PatchSizes, std::int64_t>> conv_shapes() {
  return {{{1, 1, 0, 1, 1}, 1},    {{3, 3, 1, 5, 7}, 2},    {{2, 5, 0, 9, 6}, 3},    {{16, 3, 1, 4, 4}, 1},
          {{1, 5, 2, 8, 3}, 2},    {{4, 3, 3, 3, 3}, 1},    {{2, 1, 0, 6, 3}, 1},    {{1, 3, 1, 8, 8}, 0},
          {{3, 3, 1, 8, 7, 2}, 2}, {{2, 1, 0, 5, 6, 2}, 2}, {{2, 2, 0, 9, 7, 3}, 1}, {{1, 5, 2, 7, 4, 4}, 2}};
}

inline std::string describe(const PatchSizes& sizes) {
  return fmt::format("{} channels of {}x{}, kernel {}, padding {}, stride {}", sizes.in, sizes.height,
                     sizes.width, sizes.kernel, sizes.padding, sizes.stride);
}

}  // namespace fedarena::cuda
