#include "harness/oracle/private_uplink.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fedarena/base/find.hpp"

#include "harness/sdk/plugin_visit.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kSumQuery = 0;
constexpr std::size_t kCountQuery = 1;
// The bit "below the clip norm" is sent as plus or minus one half.
constexpr double kBitNorm = 0.5;

// Over all parameter vectors together; NaN or infinite when a part is.
double message_norm(const Message& message) {
  double squares = 0;
  for (const Message::Entry& entry : message.entries()) {
    if (const auto* params = std::get_if<Params>(&entry.content)) squares += dot(*params, *params);
  }
  return std::sqrt(squares);
}

// nullptr where the message has no parameters of that name.
const Params* params_in(const Message& message, const char* name) {
  const Message::Entry* entry = find_named(message.entries(), name, &Message::Entry::name);
  return entry == nullptr ? nullptr : std::get_if<Params>(&entry->content);
}

// Noise streams of a round: the count has the first, answers have the others in the order in which they are
// made. Names would not do: keys whose hashes agree would share their noise.
constexpr std::uint64_t kCountStream = 0;

}  // namespace

double noise_limit(const ClientPolicy& policy, std::int64_t expected_cohort) {
  if (!policy.adaptive_clipping) return std::numeric_limits<double>::infinity();
  const std::int64_t cohort = policy.as_if_cohort > 0 ? policy.as_if_cohort : expected_cohort;
  const double twentieth = static_cast<double>(cohort) / 20;
  return (policy.count_noise > 0 ? policy.count_noise : twentieth) / kBitNorm;
}

std::vector<double> noise_multipliers(const ClientPolicy& policy, std::int64_t expected_cohort) {
  const double total = policy.noise_multiplier.number();
  if (!policy.adaptive_clipping) return {total};
  const double count = noise_limit(policy, expected_cohort);
  if (total == 0) return {0, count};
  const double rest = 1 / (total * total) - 1 / (count * count);
  if (!(rest > 0)) {
    throw Error(Complaint{
        .found =
            fmt::format("count_noise {} is too little for the noise multiplier {}", count * kBitNorm, total),
        .allowed = fmt::format("a number above {}, half the noise multiplier", total * kBitNorm),
        .remedy = "Set count_noise, or lower noise_multiplier"});
  }
  return {1 / std::sqrt(rest), count};
}

void check_as_if(const ClientPolicy& policy, std::int64_t expected_cohort, std::int64_t population) {
  if (policy.as_if_cohort == 0) return;
  const auto check = [](const char* key, std::int64_t value, std::int64_t least, const char* what) {
    if (value >= least) return;
    throw Error(Complaint{.found = fmt::format("{} is {}, but {} are simulated", key, value, what),
                          .allowed = fmt::format("0, or at least {}", least),
                          .remedy = "The noise can be rescaled to that of a larger federation only"});
  };
  check("as_if_cohort", policy.as_if_cohort, expected_cohort,
        fmt::format("cohorts of {}", expected_cohort).c_str());
  check("as_if_population", policy.as_if_population, population,
        fmt::format("{} clients", population).c_str());
}

PrivateUplink::PrivateUplink(Setting setting, std::vector<Message> messages)
    : setting_(std::move(setting)), messages_(std::move(messages)), next_clip_norm_(setting_.clip_norm) {
  for (const Message& message : messages_) norms_.push_back(message_norm(message));
  if (setting_.canaries != nullptr) canaries_ = setting_.canaries->sampled(rate(), setting_.streams);
}

double PrivateUplink::rate() const {
  return static_cast<double>(setting_.expected_cohort) / static_cast<double>(setting_.population);
}

const GaussianRelease& PrivateUplink::release() const {
  if (release_) return *release_;
  const ClientPolicy& policy = setting_.policy;
  const auto cohort = static_cast<double>(setting_.expected_cohort);
  std::vector<double> multipliers = noise_multipliers(policy, setting_.expected_cohort);
  if (policy.as_if_cohort > 0) {
    const auto larger = static_cast<double>(policy.as_if_cohort);
    as_if_accesses_.add(
        event(policy.sampling, larger / static_cast<double>(policy.as_if_population), multipliers));
    // The noise on the mean shall be that of the larger cohort.
    for (double& multiplier : multipliers) multiplier *= cohort / larger;
  }
  std::vector<double> clip_norms{setting_.clip_norm};
  if (policy.adaptive_clipping) clip_norms.push_back(kBitNorm);
  release_.emplace(event(policy.sampling, rate(), std::move(multipliers)), std::move(clip_norms), accesses_);
  if (setting_.canaries != nullptr && setting_.canaries->plan().control)
    accesses_.add(ExactAccess{kAnswersWithoutNoise});
  if (policy.adaptive_clipping) adapt_clip_norm();
  return *release_;
}

void PrivateUplink::adapt_clip_norm() const {
  double below = 0;
  for (const double norm : norms_) below += norm <= setting_.clip_norm ? kBitNorm : -kBitNorm;
  below += kBitNorm * static_cast<double>(canaries_.size());
  const auto source = make_noise_source(setting_.policy.noise_source, setting_.streams, kCountStream);
  release_->noise(below, *source, kCountQuery);
  const double part = below / static_cast<double>(setting_.expected_cohort) + 0.5;
  const double next =
      setting_.clip_norm * std::exp(-setting_.policy.clip_rate * (part - setting_.policy.target_quantile));
  next_clip_norm_ = std::max(next, kLeastClipNorm);
}

void PrivateUplink::refuse_other_threads(const char* what) const {
  if (std::this_thread::get_id() == thread_) return;
  throw Error(Complaint{.found = fmt::format("the server asks for {} in a thread of the plugin's", what),
                        .allowed = "the thread that the harness calls aggregate() in"});
}

void PrivateUplink::look_exactly(const char* what) const {
  if (setting_.declared && is_late(setting_.look, accesses_.list())) {
    throw Error(Complaint{
        .found =
            "the server looks at messages exactly for the first time after noised answers, which may have "
            "decided that it does",
        .allowed = "an exact access before the first mean, or none",
        .remedy = "Ask for it first, in the first round that has messages"});
  }
  accesses_.add(ExactAccess{what});
}

Params PrivateUplink::mean(Key<Params> key) const {
  refuse_other_threads("a mean");
  const FreshTorchState while_private;
  const std::string name = key.name;  // what it points to is the plugin's, and may change
  if (const auto known = answers_.find(name); known != answers_.end()) return known->second;
  const auto is_asked = [&](const UplinkEntry& entry) {
    return !entry.counts_examples && entry.name == name;
  };
  if (setting_.declared && std::ranges::none_of(*setting_.declared, is_asked))
    look_exactly(kUndeclaredMessages);
  const bool asked_in_vain =
      !messages_.empty() && std::ranges::none_of(messages_, [&](const Message& message) {
        return params_in(message, name.c_str()) != nullptr;
      });
  // Whoever catches this has learnt from whole messages; what they hold is not said.
  if (asked_in_vain) {
    accesses_.add(ExactAccess{"messages"});
    throw Error(Complaint{
        .found =
            fmt::format("the server asks for the mean of \"{}\", which no client sent as parameters", name),
        .remedy = "Send it from every client, in the message that train() returns"});
  }
  Params sum = setting_.zeros;
  for (std::size_t index = 0; index < messages_.size(); ++index) {
    const double norm = norms_[index];
    const Params* sent = params_in(messages_[index], name.c_str());
    if (!std::isfinite(norm) || sent == nullptr) continue;
    if (norm > setting_.clip_norm) {
      FEDARENA_CHECK(sent->flat().numel(), ==, sum.flat().numel());
      add_clipped(sum.flat(), sent->flat(), norm, setting_.clip_norm);
    } else {
      sum += *sent;
    }
  }
  if (answers_.empty()) {
    for (const std::int64_t canary : canaries_)
      sum.add_scaled(setting_.clip_norm, setting_.canaries->direction(canary, sum));
  }
  const auto source =
      make_noise_source(setting_.policy.noise_source, setting_.streams, kCountStream + 1 + answers_.size());
  release().noise(sum.flat(), *source, kSumQuery);
  sum *= 1 / static_cast<double>(setting_.expected_cohort);
  return answers_.emplace(name, std::move(sum)).first->second;
}

Params PrivateUplink::mean(Key<Params> key, Key<std::int64_t> weight) const {
  throw Error(Complaint{
      .found = fmt::format("a mean of \"{}\" weighted by \"{}\" under the policy \"client\"", key.name,
                           weight.name),
      .allowed =
          "the mean in which all clients weigh alike: the clip norm bounds what one client can change only "
          "there",
      .remedy =
          "Set weighting = \"uniform\" for this algorithm, or choose the policy \"record\" or \"none\""});
}

std::span<const Message> PrivateUplink::each() const {
  refuse_other_threads("messages");
  look_exactly("messages");
  return messages_;
}

}  // namespace fedarena
