#include "harness/oracle/record_oracle.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "harness/oracle/gaussian_mechanism.hpp"
#include "harness/sdk/plugin_visit.hpp"

namespace fedarena {

RecordOracle::RecordOracle(const Setting& setting, torch::Tensor positions, const Streams& streams,
                           const RecordPolicy& policy, ClientCanaries canaries)
    : MeteredOracle(setting, std::move(positions), streams),
      policy_(policy),
      canaries_(std::move(canaries)),
      samples_(make_random_source(policy.noise_source, streams(Purpose::kBatches))),
      noise_(make_noise_source(policy.noise_source, streams)) {
  if (canaries_.leave_places_empty()) {
    std::vector<std::int64_t> held;
    const auto* position = this->positions().data_ptr<std::int64_t>();
    std::copy_if(position, position + size(), std::back_inserter(held),
                 [&](std::int64_t own) { return !canaries_.leaves_out(own); });
    hold(tensor_of(held));
  }
  if (canaries_.control()) book().add(ExactAccess{kAnswersWithoutNoise});
}

Event RecordOracle::class_access() const {
  if (policy_.public_classes) return DeclaredPublic{"classes"};
  return policy_.public_label_counts ? label_count_access() : MeteredOracle::class_access();
}

Event RecordOracle::label_count_access() const { return fedarena::label_count_access(policy_); }

// Of the whole shard nothing is left to chance, and nothing is amplified.
double RecordOracle::rate_of(std::int64_t batch_size) const {
  if (batch_size == 0 || batch_size >= size()) return 1;
  return static_cast<double>(batch_size) / static_cast<double>(size());
}

SampledGaussian RecordOracle::event_of(std::int64_t batch_size) const {
  return event(policy_.sampling, rate_of(batch_size), {policy_.noise_multiplier.number()});
}

RecordOracle::Sample RecordOracle::draw(std::int64_t batch_size) {
  const std::int64_t shard = size();
  const double rate = rate_of(batch_size);
  if (rate == 1) return {held(), 1, static_cast<double>(std::max<std::int64_t>(shard, 1))};
  std::vector<std::int64_t> chosen = policy_.sampling == kWithoutReplacement
                                         ? samples_->sample_without_replacement(shard, batch_size)
                                         : samples_->poisson_sample(shard, rate);
  if (canaries_.leave_places_empty()) {
    const auto* position = positions().data_ptr<std::int64_t>();
    std::erase_if(chosen, [&](std::int64_t example) { return canaries_.leaves_out(position[example]); });
  }
  return {positions().index_select(0, tensor_of(chosen)), rate, static_cast<double>(batch_size)};
}

Params RecordOracle::answer(const Params& at, const Query& asked) {
  const Query query = asked;  // a plugin's, which may change it
  check(query);
  const FreshTorchState while_private;
  const Sample sample = draw(query.batch_size);
  const std::int64_t count = sample.positions.size(0);
  count_gradient(sample.positions, query);
  const GaussianRelease release(event_of(query.batch_size), {policy_.clip_norm}, book());
  return attempted([&] {
    Params sum =
        setting()
            .engine.clipped_gradient_sum(at, policy_.clip_norm, count, source(sample.positions, query))
            .sum;
    canaries_.enter(sum, sample.rate, policy_.clip_norm);
    release.noise(sum.flat(), *noise_);
    canaries_.score(sum, policy_.clip_norm);
    sum *= 1 / sample.expected_size;
    return sum;
  });
}

// What a record does to the vote of its part nobody knows, so that an exchange moves the sum by up to twice
// the bound.
Gaussian RecordOracle::event_of(const VoteQuery& query) const {
  const SampledGaussian of_all = event_of(0);
  return {of_all.noise_multipliers[0], query.parts > 0 ? Adjacency::kReplaceOne : of_all.adjacency};
}

void RecordOracle::release(const torch::Tensor& votes, const VoteQuery& query) {
  for (std::int64_t vote = 0; vote < votes.size(0); ++vote)
    GaussianRelease(event_of(query), query.bound, book()).noise(votes.select(0, vote), *noise_);
}

std::vector<Access> RecordOracle::noised(const AccessPlan& plan) const {
  std::vector<Access> list;
  const auto add = [&](Event event, std::int64_t count) {
    if (count > 0 && size() > 0) list.push_back({std::move(event), count});  // else there is no record
  };
  for (const auto& [batch_size, count] : plan.gradients) add(event_of(batch_size), count);
  add(event_of(VoteQuery{.parts = 0}), plan.votes);
  add(event_of(VoteQuery{.parts = 1}), plan.part_votes);
  return list;
}

std::int64_t RecordOracle::left(const Event& event) const {
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  if (!setting().pays) return std::numeric_limits<std::int64_t>::max();
  const auto pays = [&](std::int64_t more) {
    std::vector<Access> all = accesses().list();
    // Together with those before, so that rounding makes nothing of when it is asked.
    if (all.empty() || !(all.back().event == event)) all.push_back({event, 0});
    all.back().count += more;
    return setting().pays(all);
  };
  std::int64_t paid = 0, unpaid = 1;
  while (unpaid < kMany && pays(unpaid)) paid = std::exchange(unpaid, 2 * unpaid);
  while (unpaid - paid > 1) {
    const std::int64_t middle = paid + (unpaid - paid) / 2;
    (pays(middle) ? paid : unpaid) = middle;
  }
  return paid;
}

}  // namespace fedarena
