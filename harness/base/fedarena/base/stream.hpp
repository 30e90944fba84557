#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// What a random stream is used for. Values are part of every recorded result: append, never renumber.
enum class Purpose : std::uint32_t {
  kInitialWeights = 1,
  kPartition = 2,
  kCohort = 3,
  kBatches = 4,
  kNoise = 5,
  kSynthetic = 6,
  kDataset = 7,
  kAlgorithm = 8,
  kTuning = 9,
  kAttack = 10,  ///< which examples an attack looks at
  kAudit = 11,   ///< which canaries are in, and what they are
};

/// The client number that stands for "the server" or "no client" in a stream's name.
inline constexpr std::int64_t kServer = -1;

/// The full name of a random stream. Streams of different names are independent.
struct FEDARENA_API StreamName {
  std::uint64_t seed = 0;
  std::int64_t round = 0;
  std::int64_t client = kServer;
  Purpose purpose = Purpose::kAlgorithm;
  std::uint64_t index = 0;  ///< tells apart several streams of one purpose, such as one a class
};

/// A sequence of random numbers that is a pure function of its name: the same on every machine, for any
/// number of workers, whatever was drawn elsewhere. For reproducible science, not for protecting real
/// records.
class FEDARENA_API Stream {
 public:
  using result_type = std::uint64_t;

  explicit Stream(const StreamName& name);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  /// The next 64 uniform bits.
  result_type operator()();
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  /// Uniform in {0, ..., bound - 1}, unbiased; bound >= 1.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Box-Muller).
  double normal();
  /// Gamma(shape, 1) for shape > 0 (Marsaglia and Tsang 2000).
  double gamma(double shape);
  /// Dirichlet(alpha, ..., alpha) on `size` categories; sums to 1, never NaN, also for tiny alpha.
  std::vector<double> dirichlet(double alpha, std::size_t size);
  /// A uniformly random order of 0 .. size-1.
  std::vector<std::int64_t> permutation(std::int64_t size);
  /// `count` distinct values of 0 .. size-1, ascending; every subset is equally likely. Needs count <= size.
  std::vector<std::int64_t> sample_without_replacement(std::int64_t size, std::int64_t count);
  /// Fills with independent standard normals.
  void fill_normal(std::span<double> values);

  /// Where words of a stream begin: philox4x64's key and counter, and the first word of that block.
  struct Place {
    std::array<std::uint64_t, 2> key;
    std::array<std::uint64_t, 4> counter;
    unsigned word;
  };
  /// Leaves out the words of so many pairs of normals, for whoever makes them elsewhere from where they
  /// begin: each pair of two words, by Box-Muller.
  Place skip_pairs(std::uint64_t pairs);
  /// Whether a normal is over from an odd number of them: the next one.
  bool has_spare() const { return has_spare_; }

 private:
  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_;
  std::array<std::uint64_t, 4> block_{};
  unsigned used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace fedarena
