#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/stream.hpp"

#include "results/audit/expected_inputs.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {

/// What an experiment file makes every ledger of its run say, whatever came of the training. It computes
/// everything by itself, from the texts of the file, so that it shares no mistake with what wrote the ledger.
class ExpectedLedger {
 public:
  /// `toml`: the experiment of one run. Throws Error that names `file` when a setting is missing or no
  /// number.
  ExpectedLedger(std::string_view toml, const std::string& file);

  /// "none", "record", "client", "local" or "label".
  const std::string& policy() const { return policy_; }
  /// Whether noise is drawn from random streams. From any other source, a round that was lost cannot be
  /// answered again as it was, so a ledger may hold more than the rounds need.
  bool is_repeatable() const { return setting("noise_source", "stream") == "stream"; }
  /// Whether the system's generator drew the cohorts, because the claim counts on their being secret. Nobody
  /// can then say who took part, and an attempt that a crash lost may have had other clients.
  bool has_secret_cohorts() const { return policy_ == "client" && !is_repeatable(); }
  /// Whether it is the control of an audit, which adds no noise.
  bool is_control() const { return settings_.of("audit.noise") == "off"; }
  /// Whether samples may hold fewer examples than places: those of canaries that are out are empty.
  bool has_empty_places() const { return settings_.of("audit.kind") == "mislabelled"; }
  /// That were planned.
  std::int64_t rounds() const { return settings_.number<std::int64_t>("experiment.rounds", 0); }
  /// Whether each client has a budget of its own, and which.
  bool has_own_budgets() const { return setting("budget", "0.0").starts_with('['); }
  /// 0 without any.
  double budget(std::int64_t client) const {
    return setting("budget", "").empty() ? 0 : number("budget", client);
  }
  /// Of the partition; none where the data decide it.
  std::optional<std::int64_t> clients() const;
  /// Who never trains, of so many clients, ascending.
  std::vector<std::int64_t> held_out(std::int64_t clients) const;
  /// Who takes part in a round, of so many clients, ascending; not where cohorts are secret.
  std::vector<std::int64_t> cohort(std::int64_t round, std::int64_t clients) const;

  /// Among how many models clients choose; none where they do not, and for an algorithm that this program
  /// does not bring along.
  std::optional<std::int64_t> models() const;

  /// The client's noise multipliers under the policy "record", sampling and adjacency; without the rate.
  SampledGaussian of_records(std::int64_t client) const;
  /// The rates at which a client with so many examples may be sampled; none where any may be, because the
  /// algorithm has no batch size or this program does not bring it along.
  std::set<double> rates(std::int64_t examples) const;
  /// How many noised accesses such a client makes in a round: exactly, or at least and at most.
  struct Count {
    std::int64_t least = 0, most = 0;
    /// Of that many attempts at the round together.
    bool allows(std::int64_t count, std::int64_t attempts) const {
      return count / attempts >= least && count / attempts + (count % attempts > 0 ? 1 : 0) <= most;
    }
  };
  /// As the most of a count: there may be any number.
  static constexpr std::int64_t kAnyCount = std::int64_t{1} << 60;
  /// None for an algorithm whose rounds differ, and for one that this program does not bring along.
  std::optional<Count> accesses(std::int64_t examples) const;
  /// What such a client is charged for in each of its rounds, made or not: over samples, and of the whole
  /// shard. None as above, and where what was made is charged (ifca, and fedlap that looks at losses).
  struct Plan {
    std::int64_t sampled = 0, whole = 0;
  };
  std::optional<Plan> plan(std::int64_t examples) const;

  /// The noised answers that the making of such a client's synthetic examples takes in its first round.
  struct Generation {
    Event answer;              ///< what each of them is
    std::int64_t answers = 0;  ///< at most so many: a budget may pay for fewer
    std::int64_t steps = 0;    ///< answers for other purposes beside them, in each of its rounds
  };
  /// None for an algorithm without any, or that this program does not bring along.
  std::optional<Generation> generation(std::int64_t client, std::int64_t examples) const;

  /// Whether clients may send nothing in a round that has noise under the policy "local". Any algorithm may
  /// that this program does not bring along.
  bool may_send_nothing(std::int64_t round) const;
  /// Whether they declare beforehand that they will not, under the policy "client"; nothing of any algorithm
  /// that this program does not bring along.
  std::optional<bool> declares_nothing(std::int64_t round) const;
  /// Whether under the policy "client" the server may look at nothing that the cohort of a round sends, of so
  /// many clients.
  bool may_answer_nothing(std::int64_t round, std::int64_t clients) const;

  /// What happens to all clients in a round under the policy "client".
  SampledGaussian of_clients(std::int64_t clients) const;
  /// The same for the population that rescaled noise stands for; none without one.
  std::optional<SampledGaussian> as_if() const;

  /// What a client's message goes through under the policy "local", the dimension of Laplace noise left at 1:
  /// what is charged for it, and what is nominal beside it.
  Event of_messages(std::int64_t client) const;
  /// Of the accesses to a client's examples, or of its messages.
  double noise_multiplier(std::int64_t client) const { return number("noise_multiplier", client); }
  /// How many such releases one message is: one, or one for each tensor where each is noised by itself. Of an
  /// algorithm or a model that this program does not bring along, at least and at most.
  Count releases() const;
  /// Whether nobody here knows how many tensors the messages have.
  bool may_have_any_releases() const;
  /// How many numbers the releases of one message have together, for a model of so many parameters; none of
  /// such an algorithm.
  std::optional<std::int64_t> numbers_released(std::int64_t parameters) const;
  /// How many bytes the server sends to each client in a round, where that is a model of so many parameters
  /// and nothing else; none of other algorithms.
  std::optional<std::int64_t> bytes_sent_down(std::int64_t parameters) const;
  /// How many bytes each client sends in a round, where that is the change of such a model and its number of
  /// examples; none of other algorithms.
  std::optional<std::int64_t> bytes_sent_up(std::int64_t parameters) const;
  /// Whether rounds count as many gradients as examples.
  bool counts_examples_by_gradients() const;
  /// Whether messages may be clipped around several centres. Their spread, which is of the run's models, then
  /// takes from what of_messages() says.
  bool may_have_centres() const;

  /// How many classes the data have; 0 where nobody knows, and on regression data.
  std::int64_t classes() const { return expected_classes(settings_).value_or(0); }
  /// What all labels went through at once under the policy "label"; `classes`: 0 where nobody knows how many,
  /// which the event's categories then are not compared with.
  RandomizedResponse of_labels(std::int64_t classes) const;

  /// What a client with so many examples is asked for outside of the mechanisms in each of its rounds under
  /// the policy "record", `first`: in its first one, as far as this program knows the algorithm.
  std::vector<Event> exact_accesses(std::int64_t examples, bool first) const;
  /// Whether the server is known to read messages one by one in every round.
  bool reads_each_message() const;
  /// What tests of clients tell of them, if these are tests of a classification; none where clients are not
  /// tested, or perhaps on examples of their own users.
  std::optional<Event> label_counts_of_tests() const;

  /// Whether the experiment declares this public, such as "label counts".
  bool declares_public(const std::string& what) const;
  /// What every epsilon of the run takes as public beside sizes, in the words and the order of the ledger.
  /// `recorded`: those of the ledger, which count where only the files of the data can tell.
  std::vector<std::string> public_data(const std::vector<std::string>& recorded) const;

 private:
  // Of the policy; of a list of numbers, the client's.
  std::string setting(const std::string& name, const std::string& fallback) const {
    return settings_.of(section_ + name, fallback);
  }
  double number(const std::string& name, std::int64_t client = 0) const;
  // Exact, unless the experiment declares it public.
  Event access_to(const std::string& what) const;
  // Of the algorithm: a count, and whether a choice is that.
  std::int64_t own(const std::string& name) const;
  bool has(const std::string& name) const { return settings_.has("algorithms." + name); }
  bool is(const std::string& name, std::string_view value) const {
    return settings_.of("algorithms." + name) == value;
  }
  bool by_tensor() const { return setting("by_tensor", "false") == "true"; }
  // Whether this program brings the algorithm along.
  bool is_known() const;
  // Of fedlap's clients, by their losses, gradients or votes.
  bool measures_regions() const;
  // Those of a round, planned or not.
  std::optional<Plan> noised_answers(std::int64_t examples) const;
  // How many vectors of the model's layout a message holds; none of an algorithm that is not known.
  std::optional<std::int64_t> vectors() const;
  // Of local SGD, where 0 steps count epochs instead.
  std::int64_t sgd_steps(std::int64_t examples, const char* steps, const char* epochs) const;
  std::int64_t bytes_of_model(std::int64_t parameters) const;
  std::int64_t as_if_cohort() const { return settings_.number<std::int64_t>(section_ + "as_if_cohort", 0); }
  std::int64_t cohort_size(std::int64_t trained) const;
  std::int64_t trained(std::int64_t clients) const { return clients - std::ssize(held_out(clients)); }
  Stream cohort_draws(std::int64_t round) const;
  SampledGaussian event(double rate, std::vector<double> noise_multipliers) const;
  std::vector<double> multipliers(std::int64_t cohort) const;

  std::string file_;
  ResolvedSettings settings_;
  std::string section_, policy_, algorithm_;
};

}  // namespace fedarena::results
