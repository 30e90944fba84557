#include "accounting/pld/dominating_pair.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/accounting/unproven.hpp"

namespace fedarena::pld {
namespace {

constexpr double kLeastSigma = 1e-3;
constexpr double kLeastJointSigma = 1e-4;
constexpr double kLeastRate = 1e-100;
constexpr double kMostSteps = 1e15;

class Collector {
 public:
  void add(const Access& access, double times) {
    if (access.count < 0) throw Error::of("an access counts {} times; allowed: 0 or more", access.count);
    validate(access.event);
    const double count = times * static_cast<double>(access.count);
    if (count > kMostSteps) throw Error::of("{} accesses in all; allowed: at most {}", count, kMostSteps);
    if (count > 0) std::visit([&](const auto& event) { add_event(event, count); }, access.event);
  }

  Terms finish() {
    check_adjacencies();
    terms_.mixed = met_.contains(Adjacency::kReplaceOne) && met_.contains(Adjacency::kZeroOut);
    if (precision_ == 0) return std::move(terms_);
    const double sigma = 1 / std::sqrt(precision_);
    // Alone they have a closed form; beside others, a grid that holds their losses and those of the others.
    if (sigma < kLeastJointSigma && !terms_.list.empty()) {
      throw Error::of(
          "Gaussians that together have the noise multiplier {}, beside other accesses: privacy loss "
          "distributions take those from {} on",
          sigma, kLeastJointSigma);
    }
    push(PoissonPair{{1, sigma}}, 1);
    return std::move(terms_);
  }

 private:
  void add_event(const ExactAccess& /*event*/, double /*count*/) { terms_.exact = true; }
  void add_event(const DeclaredPublic& /*event*/, double /*count*/) {}
  void add_event(const Nominal& /*event*/, double /*count*/) {}
  void add_event(const MetricLaplace& /*event*/, double /*count*/) {
    throw Unproven(Complaint{.found = kNoDistance});
  }
  void add_event(const Gaussian& event, double count) {
    met_.insert(event.adjacency);
    add_plain(event.noise_multiplier, event.adjacency, count);
  }
  void add_event(const SampledGaussian& event, double count) {
    met_.insert(event.adjacency);
    const double sigma = joint_noise_multiplier(event);
    if (event.rate == 0) return;
    if (event.rate == 1) return add_plain(sigma, event.adjacency, count);
    const bool replaces = event.adjacency == Adjacency::kReplaceOne;
    const bool fixed_size = event.sampling == Sampling::kWithoutReplacement;
    if (fixed_size && !replaces) {
      throw Unproven(Complaint{
          .found = fmt::format("no dominating pair is known for a {} under {}", describe(event),
                               name(event.adjacency)),
          .allowed = "Poisson sampling, or replace-one neighbours",
          .remedy =
              "Sample by Poisson, account under replace-one, or state the assumption of Poisson sampling"});
    }
    if (sigma == 0) {
      terms_.exact = true;
      return;
    }
    const SampledNormal normal{event.rate, replaces ? sigma / 2 : sigma};
    if (normal.sigma < kLeastSigma) {
      throw Error::of("a {}: privacy loss distributions take noise multipliers from {} on", describe(event),
                      replaces ? 2 * kLeastSigma : kLeastSigma);
    }
    if (event.rate < kLeastRate) {
      throw Error::of("a {}: privacy loss distributions take rates from {} on", describe(event), kLeastRate);
    }
    if (fixed_size) {
      terms_.any_fixed_size = true;
      return push(FixedSizePair{normal}, count);
    }
    if (replaces) return push(ExchangePair{{event.rate, sigma}}, count);
    terms_.two_sided = true;
    push(PoissonPair{normal}, count);
  }
  void add_event(const Laplace& event, double count) {
    if (event.epsilon > kLargestPure) return add_large(event.epsilon, count);
    if (event.dimension == 1) return push(LaplacePair{event.epsilon}, count);
    terms_.any_laplace = true;
    push(ResponsePair{event.epsilon, 2}, count);
  }
  void add_event(const RandomizedResponse& event, double count) {
    if (event.epsilon > kLargestPure) return add_large(event.epsilon, count);
    push(ResponsePair{event.epsilon, static_cast<double>(event.categories)}, count);
  }
  void add_event(const Composition& event, double count) {
    for (const Access& part : event.parts) add(part, count);
  }

  void add_large(double epsilon, double count) { terms_.added += count * epsilon * (1 + kRounding); }

  void add_plain(double sigma, Adjacency adjacency, double count) {
    if (sigma == 0) {
      terms_.exact = true;
      return;
    }
    const double distance = adjacency == Adjacency::kReplaceOne ? 2 / sigma : 1 / sigma;
    precision_ += count * distance * distance * (1 + 8 * kRounding);
  }

  void push(const auto& pair, double count) {
    for (Term& term : terms_.list) {
      const auto* same = std::get_if<std::decay_t<decltype(pair)>>(&term.pair);
      if (same && *same == pair) {
        term.count += count;
        return;
      }
    }
    terms_.list.push_back({pair, count});
  }

  // An epsilon is about one notion of neighbours.
  void check_adjacencies() const {
    const std::set<Adjacency> joint = fedarena::joint(met_);
    if (joint.size() < 2) return;
    throw Unproven(Complaint{.found = fmt::format("accesses under {} are composed", describe(joint)),
                             .allowed = "one adjacency for all"});
  }

  std::set<Adjacency> met_;
  double precision_ = 0;  // of all plain Gaussians together: sum of (distance / sigma)^2
  Terms terms_;
};

Law law_of_segment(std::unique_ptr<Segment> segment) {
  Law law;
  law.segments.push_back(std::move(segment));
  return law;
}

Law law_of_pair(const PoissonPair& pair, Direction direction, double tail) {
  const bool removes = direction == Direction::kRemove || pair.normal.rate == 1;
  return law_of_segment((removes ? removal_loss : addition_loss)(pair.normal, tail, false));
}

Law law_of_pair(const ExchangePair& pair, Direction /*direction*/, double tail) {
  return law_of_segment(exchange_loss(pair.normal, tail));
}

// Delta is at most that of the removal's pair where epsilon > 0 and that of the addition's where epsilon < 0;
// the loss that has both curves takes its parts from them and the rest of the probability at 0.
Law law_of_pair(const FixedSizePair& pair, Direction /*direction*/, double tail) {
  Law law;
  law.segments.push_back(removal_loss(pair.normal, tail, true));
  law.segments.push_back(addition_loss(pair.normal, tail, true));
  law.atoms.push_back({0, (1 - pair.normal.rate) * std::erf(0.5 / (pair.normal.sigma * std::sqrt(2.0)))});
  return law;
}

// Between the two centres the loss y has the density e^((y - epsilon)/2) / 4 on (-epsilon, epsilon).
class BetweenCentres final : public Segment {
 public:
  explicit BetweenCentres(double epsilon) : epsilon_(epsilon) {}
  double lowest() const override { return -epsilon_; }
  double highest() const override { return epsilon_; }
  double below() const override { return 0; }
  double above() const override { return 0; }
  Part between(double from, double to) const override {
    const double height = 0.5 * std::exp((from - epsilon_) / 2);
    const double sinh = std::sinh((to - from) / 4);
    return {height * std::expm1((to - from) / 2), height * 4 * sinh * sinh, 16 * kRounding * (1 + epsilon_)};
  }
  double stride(double /*loss*/, double resolution) const override { return resolution * epsilon_; }
  double anchor(double /*step*/) const override { return 0; }
  double slip(double loss) const override { return 4 * kRounding * std::abs(loss); }

 private:
  double epsilon_;
};

// Laplace noise on the line; neighbours lie 1/epsilon scales apart.
Law law_of_pair(const LaplacePair& pair, Direction /*direction*/, double /*tail*/) {
  Law law = law_of_segment(std::make_unique<BetweenCentres>(pair.epsilon));
  law.atoms = {{-pair.epsilon, 0.5 * std::exp(-pair.epsilon)}, {pair.epsilon, 0.5}};
  return law;
}

// k-ary randomised response; with 2 categories it dominates every mechanism of its epsilon (Kairouz, Oh,
// Viswanath, ICML 2015, Theorem 3.3 and Lemma 6.2).
Law law_of_pair(const ResponsePair& pair, Direction /*direction*/, double /*tail*/) {
  const double other = std::exp(-pair.epsilon);
  const double sum = 1 + (pair.categories - 1) * other;
  Law law;
  law.atoms = {{-pair.epsilon, other / sum}, {pair.epsilon, 1 / sum}};
  if (pair.categories > 2) law.atoms.push_back({0, (pair.categories - 2) * other / sum});
  return law;
}

}  // namespace

Terms terms_of(std::span<const Access> accesses) {
  Collector collector;
  for (const Access& access : accesses) collector.add(access, 1);
  return collector.finish();
}

std::optional<Terms> attained(const Terms& terms) {
  if (terms.any_laplace) return std::nullopt;
  Terms result = terms;
  for (Term& term : result.list) {
    const auto* pair = std::get_if<FixedSizePair>(&term.pair);
    if (pair == nullptr) continue;
    term.pair = PoissonPair{pair->normal};
    result.two_sided = true;
    result.any_fixed_size = false;
  }
  return result;
}

Law law_of(const Term& term, Direction direction, double tail) {
  return std::visit([&](const auto& pair) { return law_of_pair(pair, direction, tail); }, term.pair);
}

}  // namespace fedarena::pld
