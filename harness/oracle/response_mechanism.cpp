#include "harness/oracle/response_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr double kPriorTolerance = 1e-3;  // of a softmax in single precision, and more
constexpr double kRounding = 1e-14;       // of sums and quotients that are equal but for it

void check_epsilon(double epsilon) {
  if (epsilon > 0 && epsilon <= kLargestLabelEpsilon) return;
  throw Error::of("the epsilon of randomised response is {}; allowed: 0 < epsilon <= {}", epsilon,
                  kLargestLabelEpsilon);
}

void check_prior(std::span<const double> prior) {
  double sum = 0;
  for (const double share : prior) {
    if (!(share >= 0)) throw Error::of("a prior probability is {}; allowed: a number >= 0", share);
    sum += share;
  }
  if (std::abs(sum - 1) <= kPriorTolerance) return;
  throw Error::of("the prior of a label sums to {}; allowed: probabilities that sum to 1", sum);
}

// With which a label among k candidates stays, without overflow.
double stays(double epsilon, std::size_t k) {
  return 1 / (1 + static_cast<double>(k - 1) * std::exp(-epsilon));
}

// The classes, the most probable first and of equals the lower one.
std::vector<std::int64_t> ranked(std::span<const double> prior) {
  std::vector<std::int64_t> classes(prior.size());
  std::iota(classes.begin(), classes.end(), 0);
  std::ranges::stable_sort(classes, [&](std::int64_t left, std::int64_t right) {
    return prior[static_cast<std::size_t>(left)] > prior[static_cast<std::size_t>(right)];
  });
  return classes;
}

std::vector<std::int64_t> first_of(std::vector<std::int64_t> classes, std::size_t k) {
  classes.resize(k);
  std::ranges::sort(classes);
  return classes;
}

}  // namespace

ResponseLaw::ResponseLaw(std::int64_t classes, std::vector<std::int64_t> candidates, double epsilon)
    : classes_(classes),
      candidates_(std::move(candidates)),
      other_(std::exp(-epsilon) * stays(epsilon, candidates_.size())) {}

ResponseLaw ResponseLaw::plain(std::int64_t classes, double epsilon) {
  FEDARENA_CHECK(classes, >=, 1);
  check_epsilon(epsilon);
  std::vector<std::int64_t> all(static_cast<std::size_t>(classes));
  std::iota(all.begin(), all.end(), 0);
  return {classes, std::move(all), epsilon};
}

ResponseLaw ResponseLaw::top_k(std::span<const double> prior, std::int64_t k, double epsilon) {
  check_epsilon(epsilon);
  check_prior(prior);
  const auto classes = std::ssize(prior);
  if (k < 1 || k > classes) throw Error::of("RRTop-k keeps {} classes; allowed: 1 to {}", k, classes);
  return {classes, first_of(ranked(prior), static_cast<std::size_t>(k)), epsilon};
}

ResponseLaw ResponseLaw::with_prior(std::span<const double> prior, double epsilon) {
  check_epsilon(epsilon);
  check_prior(prior);
  const std::vector<std::int64_t> classes = ranked(prior);
  double sum = 0, best = -1;
  std::size_t best_k = 1;
  for (std::size_t k = 1; k <= classes.size(); ++k) {
    sum += prior[static_cast<std::size_t>(classes[k - 1])];
    const double right = stays(epsilon, k) * sum;
    if (right > best * (1 + kRounding)) {
      best = right;
      best_k = k;
    }
  }
  return {std::ssize(prior), first_of(classes, best_k), epsilon};
}

std::vector<double> ResponseLaw::probabilities(std::int64_t label) const {
  std::vector<double> result(static_cast<std::size_t>(classes_), 0);
  const bool inside = std::ranges::binary_search(candidates_, label);
  const auto k = static_cast<double>(candidates_.size());
  for (const std::int64_t candidate : candidates_) {
    double& probability = result[static_cast<std::size_t>(candidate)];
    probability = !inside ? 1 / k : candidate == label ? 1 - (k - 1) * other_ : other_;
  }
  return result;
}

std::int64_t ResponseLaw::draw(std::int64_t label, RandomSource& source) const {
  const auto one_of = [&](std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(source.uniform() * static_cast<double>(count)));
  };
  const auto own = std::ranges::lower_bound(candidates_, label);
  if (own == candidates_.end() || *own != label) return candidates_[one_of(candidates_.size())];
  // A second number refines the first, so that answers as rare as e^-epsilon come as often as they should.
  const double coarse = source.uniform();
  const double share = coarse + 0x1p-53 * source.uniform();
  const std::size_t others = candidates_.size() - 1;
  if (share >= static_cast<double>(others) * other_) return label;
  const std::size_t other = one_of(others);
  return candidates_[other < static_cast<std::size_t>(own - candidates_.begin()) ? other : other + 1];
}

ResponseRelease::ResponseRelease(std::int64_t classes, double epsilon)
    : classes_(classes), epsilon_(epsilon) {
  FEDARENA_CHECK(classes, >=, 1);
  check_epsilon(epsilon);
}

ResponseRelease ResponseRelease::of_examples(std::int64_t classes, bool with_prior, double epsilon,
                                             RoundAccesses& book) {
  const ResponseRelease release(classes, epsilon);
  book.add(RandomizedResponse{with_prior ? 2 : std::max<std::int64_t>(classes, 2), epsilon});
  return release;
}

ResponseRelease ResponseRelease::of_synthetic(std::int64_t classes, double epsilon, RoundAccesses& book) {
  const ResponseRelease release(classes, epsilon);
  book.add(Nominal{kSyntheticLabels, epsilon, true});
  return release;
}

torch::Tensor ResponseRelease::answers(const torch::Tensor& labels, const torch::Tensor& prior,
                                       RandomSource& source) const {
  if (labels.dim() != 1 || labels.scalar_type() != torch::kInt64)
    throw Bug("labels for randomised response are no row of int64");
  const std::int64_t n = labels.size(0);
  if (prior.defined() && (prior.dim() != 2 || prior.size(0) != n || prior.size(1) != classes_))
    throw Bug("a prior for randomised response has no row of all classes for each label");
  const torch::Tensor own = labels.to(torch::kCPU).contiguous();
  torch::Tensor rows = prior;
  if (prior.defined()) {
    rows = prior.detach().to(torch::kCPU, torch::kFloat64);
    const torch::Tensor uniform = torch::full_like(rows, 1.0 / static_cast<double>(classes_));
    rows = torch::where(rows.isfinite().all(1, true), rows, uniform).contiguous();
  }
  torch::Tensor result = torch::empty({n}, torch::kInt64);
  const ResponseLaw plain = ResponseLaw::plain(classes_, epsilon_);
  const auto width = static_cast<std::size_t>(classes_);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t label = own.data_ptr<std::int64_t>()[i];
    if (label < 0 || label >= classes_)
      throw Error::of("a label for randomised response is {}; allowed: 0 to {}", label, classes_ - 1);
    std::int64_t& answer = result.data_ptr<std::int64_t>()[i];
    answer = prior.defined()
                 ? ResponseLaw::with_prior({rows.data_ptr<double>() + i * classes_, width}, epsilon_)
                       .draw(label, source)
                 : plain.draw(label, source);
  }
  return result.to(labels.device());
}

}  // namespace fedarena
