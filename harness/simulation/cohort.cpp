#include "harness/simulation/cohort.hpp"

#include <numeric>

namespace fedarena {
namespace {

StreamName cohort_stream(std::uint64_t seed, std::int64_t round) {
  return {.seed = seed, .round = round, .client = kServer, .purpose = Purpose::kCohort, .index = 0};
}

}  // namespace

std::vector<std::int64_t> draw_cohort(std::uint64_t seed, std::int64_t round, std::int64_t population,
                                      std::int64_t size, std::string_view sampling,
                                      const std::string& noise_source) {
  const auto draws = make_random_source(noise_source, Stream(cohort_stream(seed, round)));
  if (sampling == kPoisson)
    return draws->poisson_sample(population, static_cast<double>(size) / static_cast<double>(population));
  if (size != population) return draws->sample_without_replacement(population, size);
  std::vector<std::int64_t> everyone(static_cast<std::size_t>(population));
  std::iota(everyone.begin(), everyone.end(), 0);
  return everyone;
}

std::vector<std::int64_t> choose_held_out(std::uint64_t seed, std::int64_t population, std::int64_t count) {
  // Rounds are counted from 1.
  return Stream(cohort_stream(seed, 0)).sample_without_replacement(population, count);
}

Params CohortUplink::weighted(Key<Params> key, std::span<const double> weights) const {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0)) throw Error::of("no client of the cohort has any weight in the mean of \"{}\"", key.name);
  Params mean = zeros_like(messages_.front()[key]);
  for (std::size_t index = 0; index < messages_.size(); ++index) {
    mean.add_scaled(weights[index] / sum, messages_[index][key]);
  }
  return mean;
}

Params CohortUplink::mean(Key<Params> key) const {
  return weighted(key, std::vector<double>(messages_.size(), 1.0));
}

Params CohortUplink::mean(Key<Params> key, Key<std::int64_t> weight) const {
  std::vector<double> weights;
  for (const Message& message : messages_) {
    if (message[weight] < 0)
      throw Error(
          Complaint{.found = fmt::format("a client weighs {} by \"{}\"", message[weight], weight.name),
                    .allowed = "0 or more"});
    weights.push_back(static_cast<double>(message[weight]));
  }
  return weighted(key, weights);
}

}  // namespace fedarena
