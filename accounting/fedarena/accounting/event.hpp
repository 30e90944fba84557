#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// More accesses than any run makes, and few enough for exact sums in 64 bits.
inline constexpr std::int64_t kMostAccesses = 1'000'000'000'000;

/// Which data sets count as neighbours: those that an observer must not be able to tell apart.
enum class Adjacency {
  kAddRemove,   ///< one unit more or less
  kReplaceOne,  ///< one unit exchanged for another; their number is public
  /// One unit contributes nothing in one of them (Kairouz et al., ICML 2021); their number is public, so that
  /// rates and counts may follow from it. At a given rate it costs what adding or removing the unit would.
  kZeroOut,
};

/// How the units (records or clients) that enter an answer were chosen.
enum class Sampling {
  kPoisson,             ///< each on its own with probability `rate`
  kWithoutReplacement,  ///< a fixed part `rate` of them, every such subset equally likely
};

// clang-tidy 14 takes the zero that a defaulted <=> is compared with for a pointer.
// NOLINTBEGIN(modernize-use-nullptr)

/// An access to private data that nothing privatised. Its epsilon is infinite.
struct FEDARENA_API ExactAccess {
  std::string what;  ///< "gradient", "loss", "label counts", "examples" or "messages"
  auto operator<=>(const ExactAccess&) const = default;
};

/// The Gaussian mechanism on everything: a sum to which each unit contributes at most the clip norm
/// (Euclidean), plus noise of standard deviation noise_multiplier * clip norm. Exchanging a unit moves the
/// sum by twice the clip norm, hence what it costs depends on the adjacency.
struct FEDARENA_API Gaussian {
  double noise_multiplier = 0;  ///< >= 0; 0 is an exact answer
  Adjacency adjacency = Adjacency::kAddRemove;
  auto operator<=>(const Gaussian&) const = default;
};

/// The Gaussian mechanism on a random sample of the units.
struct FEDARENA_API SampledGaussian {
  Sampling sampling = Sampling::kPoisson;
  double rate = 1;  ///< in [0, 1]; at 1 the same as Gaussian, at 0 nothing is looked at
  /// Of every sum that is answered on the same sample, each over its own clip norm; at least one.
  std::vector<double> noise_multipliers;
  Adjacency adjacency = Adjacency::kAddRemove;
  auto operator<=>(const SampledGaussian&) const = default;
};

/// The Laplace mechanism in R^n under Euclidean distance: noise of density proportional to exp(-epsilon ||x||
/// / d) where neighbours lie at most d apart (Chatzikokolakis et al., PETS 2013; n = 1 is the classic one).
struct FEDARENA_API Laplace {
  std::int64_t dimension = 1;  ///< n >= 1
  double epsilon = 0;          ///< > 0, for one access
  auto operator<=>(const Laplace&) const = default;
};

/// k-ary randomised response (Warner 1965): the true category with probability e^epsilon / (e^epsilon + k -
/// 1), else another one, all alike.
struct FEDARENA_API RandomizedResponse {
  std::int64_t categories = 2;  ///< k >= 2
  double epsilon = 0;           ///< > 0, for one access
  auto operator<=>(const RandomizedResponse&) const = default;
};

/// An exact access to what the experiment declares to be public, so that it costs nothing: a premise of the
/// claim, which every table states.
struct FEDARENA_API DeclaredPublic {
  std::string what;  ///< "classes": which classes a client holds examples of
  auto operator<=>(const DeclaredPublic&) const = default;
};

/// The same noise where nothing bounds how far neighbours lie apart: of density proportional to exp(-||x|| /
/// scale) in R^n. Whatever gives answers within a distance d of each other is told apart by at most d /
/// scale, which is not an epsilon without a distance (metric privacy; Chatzikokolakis et al., PETS 2013).
struct FEDARENA_API MetricLaplace {
  std::int64_t dimension = 1;  ///< n >= 1
  double scale = 0;            ///< > 0, in the unit of the distance
  auto operator<=>(const MetricLaplace&) const = default;
};

/// What a paper calls the privacy of an access, and no accountant can use: it adds nothing to an epsilon and
/// takes nothing from it, so that what the access tells needs an event of its own.
struct FEDARENA_API Nominal {
  std::string what;  ///< "n/nu": as the paper has it
  double value = 0;  ///< >= 0
  /// Whether the largest counts of several accesses, each of which is about other data (parallel
  /// composition), instead of their sum.
  bool largest = false;
  auto operator<=>(const Nominal&) const = default;
};

// NOLINTEND(modernize-use-nullptr)

struct Access;

/// Several accesses that count as one event, in order.
struct FEDARENA_API Composition {
  std::vector<Access> parts;
  bool operator==(const Composition&) const;
  std::partial_ordering operator<=>(const Composition&) const;
};

/// Something that happened to private data, as a value with an order; its meaning never changes, new kinds
/// are appended.
using Event = std::variant<ExactAccess, Gaussian, SampledGaussian, Laplace, RandomizedResponse, Composition,
                           DeclaredPublic, MetricLaplace, Nominal>;

/// Equal events in a row.
struct FEDARENA_API Access {
  Event event;
  std::int64_t count = 0;
  bool operator==(const Access&) const;
  std::partial_ordering operator<=>(const Access&) const;
};

/// "Poisson-sampled Gaussian (rate 0.0256, noise multiplier 1)": one line for a report.
FEDARENA_API std::string describe(const Event& event);
/// Throws Error when a number of the event lies outside what its documentation says, or is not a number;
/// naming it.
FEDARENA_API void validate(const Event& event);
/// The noise multiplier of one Gaussian that tells as much as several on the same sample: (sum z_i^-2)^(-1/2)
/// (Andrew et al., NeurIPS 2021, Theorem 1).
FEDARENA_API double joint_noise_multiplier(const SampledGaussian& event);

/// Whether some event has the property: the parts of compositions are asked, not the compositions.
FEDARENA_API bool any_event(const std::vector<Access>& accesses,
                            const std::function<bool(const Event&)>& property);
/// Whether it answers without noise: an exact access, a Gaussian of noise multiplier 0, or a composition that
/// holds one.
FEDARENA_API bool is_exact(const Event& event);
/// Whether no accountant charges it: what is declared public, and what a paper calls privacy.
FEDARENA_API bool is_free(const Event& event);
/// Whether it goes through a mechanism, whatever its noise: neither an exact access nor free.
FEDARENA_API bool is_noised(const Event& event);
/// Whose neighbours the Gaussians hide, those of compositions included. Laplace noise and randomised response
/// are defined on whatever neighbours the rest has. Joint, as below.
FEDARENA_API std::set<Adjacency> adjacencies(const std::vector<Access>& accesses);
/// Under which neighbours all of those claims hold, one where that is known. Beside zero-out it is that: what
/// holds for every exchange holds for one with a unit that contributes nothing, and what holds for adding and
/// removing holds at a given rate.
FEDARENA_API std::set<Adjacency> joint(std::set<Adjacency> adjacencies);
/// The event in which every sample of a fixed size is a Poisson sample of the same rate under zero-out:
/// what accountants read where a user has them assume that the two cost the same, which nobody has proven.
FEDARENA_API Event assuming_poisson(Event event);

/// "add-remove and replace-one".
FEDARENA_API std::string describe(const std::set<Adjacency>& adjacencies);

/// "add-remove", "replace-one", "zero-out".
FEDARENA_API std::string_view name(Adjacency adjacency);
/// "poisson", "without-replacement".
FEDARENA_API std::string_view name(Sampling sampling);

}  // namespace fedarena
