#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/algorithm.hpp"

#include "harness/oracle/canaries.hpp"
#include "harness/oracle/declared_uplink.hpp"
#include "harness/oracle/gaussian_mechanism.hpp"
#include "harness/oracle/policies.hpp"

namespace fedarena {

/// The cohort's messages under client-level differential privacy (DP-FedAvg: McMahan et al., ICLR 2018,
/// Algorithm 1, flat clipping). All parameter vectors of a message are clipped together, to one norm; noise
/// is added once to each sum; the expected cohort divides it, not the actual one, which is secret. Messages
/// with parts that are not finite numbers contribute nothing, nor do those without what is asked for: to stop
/// there would tell that somebody sent another one.
class PrivateUplink final : public Uplink {
 public:
  struct Setting {
    ClientPolicy policy;
    /// What the algorithm declares that clients send in this round; none: it declares nothing, which is
    /// charged for elsewhere.
    std::optional<std::vector<UplinkEntry>> declared = {};
    FirstLook look = FirstLook::kOpen;  ///< after the rounds before; heeded where something is declared
    double clip_norm = 1;               ///< of this round
    std::int64_t expected_cohort = 1;   ///< what `size` says
    std::int64_t population = 1;
    Streams streams;  ///< the server's in this round
    Params zeros;     ///< of the model's layout; answers for an empty cohort start there
    /// Those that are clients are sampled as clients are, and each that is in sends a vector of its own, as
    /// long as the clip norm, in the part of the message that is asked for first, and zeros in the others.
    const Canaries* canaries = nullptr;
  };

  PrivateUplink(Setting setting, std::vector<Message> messages);

  /// The expected size of the cohort.
  std::int64_t size() const override { return setting_.expected_cohort; }
  /// The privatised mean. The same key has the same answer, however often it is asked for. Of a key that is
  /// not declared it is an exact access, whatever was sent: clients may have chosen the name. Where messages
  /// are declared, the first exact access of a run must come before any noised answer, here and below: one
  /// that such an answer decided on would make a run infinite that is finite without it.
  Params mean(Key<Params> key) const override;
  /// Refused: a client's influence on a weighted mean is not bounded by the clip norm.
  Params mean(Key<Params> key, Key<std::int64_t> weight) const override;
  /// The raw messages: an exact access to every client.
  std::span<const Message> each() const override;

  /// Answers nothing, and is charged as if a sum had been asked for.
  void charge_a_sum() const { (void)release(); }

  /// What has been answered so far, as events on the population, and as what they would be in the larger one.
  const RoundAccesses& accesses() const { return accesses_; }
  const RoundAccesses& as_if_accesses() const { return as_if_accesses_; }
  /// The clip norm of the next round (Andrew et al., NeurIPS 2021, Algorithm 1); this round's when it is
  /// fixed or nothing was asked.
  double next_clip_norm() const { return next_clip_norm_; }

 private:
  // Two threads that ask at once would have their sums under one noise.
  void refuse_other_threads(const char* what) const;
  void look_exactly(const char* what) const;
  double rate() const;
  const GaussianRelease& release() const;
  void adapt_clip_norm() const;

  Setting setting_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::vector<Message> messages_;
  std::vector<double> norms_;
  std::vector<std::int64_t> canaries_;  // in this round's sample
  // Answers are made when they are asked for, so that what nobody asks costs nothing.
  mutable std::optional<GaussianRelease> release_;
  mutable std::map<std::string, Params> answers_;
  mutable RoundAccesses accesses_;
  mutable RoundAccesses as_if_accesses_;
  mutable double next_clip_norm_;
};

/// How the noise multiplier splits between the sum of the messages and the count of those below the clip
/// norm, so that both together tell as much as one sum under the multiplier z: {z_sum, 2 * count noise}, with
/// z_sum = (z^-2 - (2 count noise)^-2)^(-1/2) (Andrew et al., NeurIPS 2021, Theorem 1). {z} without adaptive
/// clipping. Where the noise is rescaled, those of the larger cohort. Throws Error when the count alone tells
/// more than z allows.
std::vector<double> noise_multipliers(const ClientPolicy& policy, std::int64_t expected_cohort);
/// What `noise_multiplier` must stay below for these: twice the noise on the count; infinite without one.
double noise_limit(const ClientPolicy& policy, std::int64_t expected_cohort);

/// Throws Error where the noise is to be rescaled to that of a cohort, or of a population, that is smaller
/// than what is simulated: less noise than a round needs never stands for anything.
void check_as_if(const ClientPolicy& policy, std::int64_t expected_cohort, std::int64_t population);

}  // namespace fedarena
