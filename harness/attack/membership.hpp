#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/base/pool.hpp"

#include "harness/runner/finished_run.hpp"
#include "results/record/attack_file.hpp"

namespace fedarena {

/// Membership inference on the model of a finished run: whether an example was trained on, guessed from one
/// number an example that is higher for members.
///
/// loss            minus the loss (Yeom et al., CSF 2018): black box
/// gradient-norm   minus the length of the loss's gradient in all parameters (Nasr et al., IEEE S&P 2019):
///                 white box
/// learned         a logistic regression on (s, s^2, log s) of loss and gradient norm, fitted on examples
///                 that the audited ones are not among. FedLAP-DP's Section 6.6 feeds a neural network with
///                 one of the two numbers, which can only re-order it
/// rmia            Zarifzadeh et al., ICML 2024, offline: the share of examples of the population that are
///                 less likely than this one, each in relation to models that did not train on it; a = 0.3,
///                 gamma 1
/// lira            Carlini et al., IEEE S&P 2022, offline: how far the logit of the true class's probability
///                 lies above those of models that did not train on the example, in units of a deviation that
///                 all examples share (their "fixed variance", for few models); ordered as their probability
/// image-distance  minus the least distance, in pixels, to an image that clients sent, of whatever class:
///                 what the server sees of methods that send images. Ours
std::span<const std::string_view> membership_scores();

struct MembershipSetting {
  const WorkPool& pool;
  const std::atomic<bool>& stop;    ///< set on Ctrl-C: attacks then throw Interrupted
  std::vector<std::string> scores;  ///< at least one, known ones
  std::int64_t examples = 0;        ///< members to measure, and as many non-members, at most; 0: no limit
  std::function<void(const std::string&)> tell = {};  ///< called with each score that begins, unless empty
};

/// Attacks a run; the same bits for any number of workers. `references`: runs of the same experiment under
/// other seeds, which rmia and lira ask. Error where a score does not go with the run.
results::MembershipAttacks attack_membership(const FinishedRun& run,
                                             std::span<const FinishedRun* const> references,
                                             const MembershipSetting& setting);

/// Whether two runs differ in the seed alone.
bool are_alike(const FinishedRun& run, const FinishedRun& other);

}  // namespace fedarena
