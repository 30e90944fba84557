#include "fedarena/accounting/event.hpp"

#include <algorithm>
#include <compare>
#include <utility>

#include <fmt/ranges.h>

#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/names.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "accounting/checks.hpp"

namespace fedarena {
namespace {

void check_positive(double value, std::string_view what) {
  if (!(value > 0 && value < kInfinity)) {
    throw Error::of("{} is {}; allowed: a finite number > 0", what, value);
  }
}

void check_dimension(std::int64_t dimension, std::string_view of) {
  if (dimension < 1) throw Error::of("the dimension of {} is {}; allowed: an integer >= 1", of, dimension);
}

void check(const SampledGaussian& event) {
  if (!(event.rate >= 0 && event.rate <= 1)) {
    throw Error::of("a sampling rate is {}; allowed: 0 <= rate <= 1", event.rate);
  }
  if (event.noise_multipliers.empty()) {
    throw Error::of("a sampled Gaussian without noise multipliers; allowed: at least one");
  }
  for (const double noise : event.noise_multipliers) check_not_negative(noise, "a noise multiplier");
}

void check(const Composition& event) {
  for (const Access& part : event.parts) {
    if (part.count < 1) {
      throw Error::of("a part of a composition is counted {} times; allowed: an integer >= 1", part.count);
    }
    validate(part.event);
  }
}

std::string adjacency_note(Adjacency adjacency) {
  return adjacency == Adjacency::kAddRemove ? "" : fmt::format(", {}", name(adjacency));
}

std::string describe_sampled(const SampledGaussian& event) {
  return fmt::format("{} Gaussian (rate {}, noise multiplier{} {}{})",
                     event.sampling == Sampling::kPoisson ? "Poisson-sampled" : "fixed-size sampled",
                     event.rate, event.noise_multipliers.size() > 1 ? "s" : "",
                     fmt::join(event.noise_multipliers, " and "), adjacency_note(event.adjacency));
}

std::string describe_composition(const Composition& event) {
  std::string parts;
  for (const Access& part : event.parts) {
    if (!parts.empty()) parts += " and ";
    if (part.count != 1) parts += fmt::format("{} x ", part.count);
    parts += describe(part.event);
  }
  return parts.empty() ? "nothing" : "[" + parts + "]";
}

}  // namespace

// Not defaulted in the header: an event, a composition and an access hold each other, and clang 14 does not
// survive finding out which of them can be compared.
bool Composition::operator==(const Composition& other) const { return parts == other.parts; }

std::partial_ordering Composition::operator<=>(const Composition& other) const {
  return std::lexicographical_compare_three_way(parts.begin(), parts.end(), other.parts.begin(),
                                                other.parts.end());
}

bool Access::operator==(const Access& other) const { return count == other.count && event == other.event; }

std::partial_ordering Access::operator<=>(const Access& other) const {
  const std::partial_ordering by_event = event <=> other.event;
  return std::is_neq(by_event) ? by_event : std::partial_ordering(count <=> other.count);
}

std::string describe(const Event& event) {
  return std::visit(
      Overload{[](const ExactAccess& access) { return fmt::format("exact access ({})", access.what); },
               [](const Gaussian& gauss) {
                 return fmt::format("Gaussian (noise multiplier {}{})", gauss.noise_multiplier,
                                    adjacency_note(gauss.adjacency));
               },
               [](const SampledGaussian& sampled) { return describe_sampled(sampled); },
               [](const Laplace& laplace) {
                 return fmt::format("Laplace in R^{} (epsilon {})", laplace.dimension, laplace.epsilon);
               },
               [](const RandomizedResponse& response) {
                 return fmt::format("{}-ary randomised response (epsilon {})", response.categories,
                                    response.epsilon);
               },
               [](const Composition& composition) { return describe_composition(composition); },
               [](const DeclaredPublic& open) { return fmt::format("declared public ({})", open.what); },
               [](const MetricLaplace& metric) {
                 return fmt::format("metric Laplace in R^{} (scale {})", metric.dimension, metric.scale);
               },
               [](const Nominal& nominal) {
                 return fmt::format("nominal {} of {}, which is not an epsilon", nominal.what, nominal.value);
               }},
      event);
}

void validate(const Event& event) {
  std::visit(
      Overload{
          [](const ExactAccess&) {}, [](const DeclaredPublic&) {},
          [](const Gaussian& gauss) { check_not_negative(gauss.noise_multiplier, "a noise multiplier"); },
          [](const Laplace& laplace) {
            check_dimension(laplace.dimension, "a Laplace mechanism");
            check_positive(laplace.epsilon, "the epsilon of a Laplace mechanism");
          },
          [](const RandomizedResponse& response) {
            if (response.categories < 2) {
              throw Error::of("a randomised response has {} categories; allowed: an integer >= 2",
                              response.categories);
            }
            check_positive(response.epsilon, "the epsilon of a randomised response");
          },
          [](const MetricLaplace& metric) {
            check_dimension(metric.dimension, "a metric Laplace mechanism");
            check_positive(metric.scale, "the scale of a metric Laplace mechanism");
          },
          [](const Nominal& nominal) { check_not_negative(nominal.value, "the nominal " + nominal.what); },
          [](const auto& other) { check(other); }},
      event);
}

double joint_noise_multiplier(const SampledGaussian& event) {
  check(event);
  std::vector<GaussianBlock> blocks;
  for (const double noise : event.noise_multipliers) blocks.push_back({noise, 1});
  return composed_noise_multiplier(blocks);
}

bool any_event(const std::vector<Access>& accesses, const std::function<bool(const Event&)>& property) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    const auto* composition = std::get_if<Composition>(&access.event);
    return composition ? any_event(composition->parts, property) : property(access.event);
  });
}

bool is_exact(const Event& event) {
  return std::visit(
      Overload{[](const ExactAccess&) { return true; },
               [](const Gaussian& gauss) { return gauss.noise_multiplier == 0; },
               [](const SampledGaussian& sampled) {
                 return sampled.rate > 0 && joint_noise_multiplier(sampled) == 0;
               },
               [](const Composition& composition) { return any_event(composition.parts, is_exact); },
               [](const auto&) { return false; }},
      event);
}

bool is_free(const Event& event) {
  return std::holds_alternative<DeclaredPublic>(event) || std::holds_alternative<Nominal>(event);
}

bool is_noised(const Event& event) { return !std::holds_alternative<ExactAccess>(event) && !is_free(event); }

std::set<Adjacency> adjacencies(const std::vector<Access>& accesses) {
  std::set<Adjacency> found;
  any_event(accesses, [&](const Event& event) {
    if (const auto* gaussian = std::get_if<Gaussian>(&event)) found.insert(gaussian->adjacency);
    if (const auto* sampled = std::get_if<SampledGaussian>(&event)) found.insert(sampled->adjacency);
    return false;
  });
  return joint(std::move(found));
}

std::set<Adjacency> joint(std::set<Adjacency> adjacencies) {
  if (adjacencies.contains(Adjacency::kZeroOut)) return {Adjacency::kZeroOut};
  return adjacencies;
}

std::string describe(const std::set<Adjacency>& adjacencies) {
  std::string names;
  for (const Adjacency each : adjacencies) {
    if (!names.empty()) names += " and ";
    names += name(each);
  }
  return names;
}

Event assuming_poisson(Event event) {
  if (auto* sampled = std::get_if<SampledGaussian>(&event)) {
    if (sampled->sampling == Sampling::kWithoutReplacement) {
      sampled->sampling = Sampling::kPoisson;
      sampled->adjacency = Adjacency::kZeroOut;
    }
  } else if (auto* composition = std::get_if<Composition>(&event)) {
    for (Access& part : composition->parts) part.event = assuming_poisson(std::move(part.event));
  }
  return event;
}

std::string_view name(Adjacency adjacency) { return kAdjacencyNames.at(static_cast<std::size_t>(adjacency)); }

std::string_view name(Sampling sampling) { return kSamplingNames.at(static_cast<std::size_t>(sampling)); }

}  // namespace fedarena
