// What a simulation leaves behind to go on from later, and how it does.
#include <algorithm>
#include <utility>

#include "fedarena/base/error.hpp"

#include "harness/simulation/checkpoint.hpp"
#include "harness/simulation/simulation.hpp"

namespace fedarena {
namespace {

constexpr Key<torch::Tensor> kSyntheticInputs{"inputs"};
constexpr Key<torch::Tensor> kSyntheticTargets{"targets"};

}  // namespace

Bytes Simulation::save(std::string_view unpublished) {
  Message synthetic;
  if (!repeatable() && synthetic_.inputs.defined()) {
    synthetic = {{kSyntheticInputs, synthetic_.inputs}, {kSyntheticTargets, synthetic_.targets}};
  }
  return pack_checkpoint({.round = round_,
                          .params = params_,
                          .server_state = server_state_,
                          .client_states = client_states_.content(),
                          .clip_norm = clip_norm_,
                          .ledger = ledger_.to_json(),
                          .synthetic = std::move(synthetic),
                          .unpublished = std::string(unpublished),
                          .canary_scores = gradient_scores_,
                          .labels = responses_ ? train_.targets : torch::Tensor()});
}

void Simulation::checkpoint(const std::function<void(const Bytes&)>& write, std::string_view unpublished) {
  write(save(unpublished));
  client_states_.checkpointed();
}

void Simulation::restore(std::span<const std::byte> bytes,
                         const std::function<void(const std::string& unpublished)>& look) {
  Checkpoint checkpoint = unpack_checkpoint(bytes, setup_.model);
  if (look) look(checkpoint.unpublished);
  if (checkpoint.round > setup_.rounds) {
    throw Error::of("the checkpoint is of round {}, this run has {} rounds", checkpoint.round, setup_.rounds);
  }
  Ledger ledger = Ledger::from_json(checkpoint.ledger);
  if (ledger.unit() != ledger_.unit()) throw Error::of("the checkpoint is of another privacy policy");
  const auto shard = [](const auto& entry) { return std::pair(entry.first, entry.second.examples); };
  if (!std::ranges::equal(ledger.clients(), ledger_.clients(), {}, shard, shard)) {
    throw Error::of("the checkpoint is of another partition: its clients hold other numbers of examples");
  }
  if (checkpoint.canary_scores.size() != gradient_scores_.size()) {
    throw Error::of("the checkpoint has scores of {} canaries, this run has {} canaries",
                    checkpoint.canary_scores.size(), gradient_scores_.size());
  }
  const bool whole =
      checkpoint.labels.defined() && checkpoint.labels.numel() == train_.size() &&
      checkpoint.labels.ge(-1).logical_and(checkpoint.labels.lt(setup_.dataset.classes)).all().item<bool>();
  if (responses_ && !whole) throw Error::of("the checkpoint does not have the randomised labels of this run");
  client_states_.restore(std::move(checkpoint.client_states));
  gradient_scores_ = std::move(checkpoint.canary_scores);
  if (responses_) train_.targets = std::move(checkpoint.labels);
  round_ = checkpoint.round;
  params_ = std::move(checkpoint.params);
  server_state_ = std::move(checkpoint.server_state);
  clip_norm_ = checkpoint.clip_norm;
  ledger_ = std::move(ledger);
  spent_ = spent_so_far();
  synthetic_ = {};
  if (const Message& synthetic = checkpoint.synthetic; !synthetic.entries().empty()) {
    synthetic_ = {synthetic[kSyntheticInputs], synthetic[kSyntheticTargets]};
  }
}

void Simulation::charge_lost(const Ledger& written) {
  // Rounds that were left out are charged at the end: no round was begun after that, and where a kill left
  // the charge in the ledger alone, it is made again.
  if (ledger_.ended_after() > 0) return;
  const std::int64_t end = written.ended_after();
  const Ledger before = ledger_;
  ledger_.add_lost(end > 0 ? written.after_round(end).most : written, round_ + 1);
  // Those that were drawn in round 1 are charged with it, once more; of later ones the ledger has no event.
  const auto* labels = std::get_if<LabelPolicy>(&setup_.policy);
  const bool drew_labels = labels != nullptr && labels->stages == 2 && labels->first_rounds == round_ + 1;
  if (drew_labels && round_ > 0 && ledger_ != before)
    throw Error::of(
        "round {}, which a crash lost, released labels, and nothing would charge another draw of them",
        round_ + 1);
}

}  // namespace fedarena
