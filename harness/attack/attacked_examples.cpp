#include "harness/attack/attacked_examples.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/oracle/canaries.hpp"
#include "harness/runner/cell_setup.hpp"
#include "harness/simulation/cohort.hpp"
#include "results/record/attack_file.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kLeastOfHalf = 10;
constexpr std::int64_t kLargestPopulation = 10'000;

// Which stream of the purpose; the first one is that of the bootstrap.
enum AttackStream : std::uint64_t { kMembers = 1, kNonMembers = 2, kPopulation = 3 };

Stream stream_of(const FinishedRun& run, AttackStream index) {
  return Stream(
      {.seed = static_cast<std::uint64_t>(run.summary().seed), .purpose = Purpose::kAttack, .index = index});
}

// What no client holds. A held-out client's examples are not like members: where clients differ, it alone may
// hold their labels. Nor are canaries, whose labels some clients saw wrong.
SeenExamples left_out_examples(const FinishedRun& run) {
  SeenExamples left_out{.part = &run.dataset().train};
  std::vector<bool> dealt(static_cast<std::size_t>(left_out.part->size()));
  for (const std::vector<std::int64_t>& positions : run.dealt().partition) {
    for (const std::int64_t position : positions) dealt[static_cast<std::size_t>(position)] = true;
  }
  for (std::size_t position = 0; position < dealt.size(); ++position) {
    if (!dealt[position]) left_out.positions.push_back(static_cast<std::int64_t>(position));
  }
  return left_out;
}

SeenExamples test_examples(const FinishedRun& run) {
  SeenExamples tests{.part = &run.dataset().test, .first = run.dataset().train.size()};
  tests.positions.resize(static_cast<std::size_t>(tests.part->size()));
  std::iota(tests.positions.begin(), tests.positions.end(), 0);
  return tests;
}

SeenExamples select(const SeenExamples& all, const std::vector<std::int64_t>& indices) {
  SeenExamples selected{.part = all.part, .first = all.first};
  for (const std::int64_t index : indices) {
    selected.positions.push_back(all.positions[static_cast<std::size_t>(index)]);
    if (!all.clients.empty()) selected.clients.push_back(all.clients[static_cast<std::size_t>(index)]);
  }
  return selected;
}

void keep_eligible(SeenExamples& examples, const Eligible& eligible) {
  std::vector<std::int64_t> kept;
  for (std::int64_t index = 0; index < examples.size(); ++index) {
    if (eligible(examples.positions[static_cast<std::size_t>(index)])) kept.push_back(index);
  }
  examples = select(examples, kept);
}

std::int64_t label_of(const SeenExamples& examples, std::int64_t index) {
  const torch::Tensor& targets = examples.part->targets;
  if (targets.scalar_type() != torch::kInt64) return 0;  // a regression
  return targets.data_ptr<std::int64_t>()[examples.positions[static_cast<std::size_t>(index)]];
}

// Places of members and of as many non-members, of equal labels at equal places. Without that, where clients
// have classes of their own, an attack would tell the classes apart and not the members.
struct Pairs {
  std::vector<std::int64_t> members, non_members;

  std::int64_t size() const { return std::ssize(members); }
};

// A non-member is then seen as the member of its pair is: in the view of another client, whose labels it may
// not have, it would look like nothing that the model knows.
Pairs pairs_of(const FinishedRun& run, const SeenExamples& members, SeenExamples& non_members) {
  std::map<std::int64_t, std::vector<std::int64_t>> waiting;  // by label
  for (const std::int64_t index : stream_of(run, kNonMembers).permutation(non_members.size()))
    waiting[label_of(non_members, index)].push_back(index);
  Pairs pairs;
  non_members.clients.assign(non_members.positions.size(), 0);
  for (const std::int64_t index : stream_of(run, kMembers).permutation(members.size())) {
    std::vector<std::int64_t>& partners = waiting[label_of(members, index)];
    if (partners.empty()) continue;
    pairs.members.push_back(index);
    pairs.non_members.push_back(partners.back());
    if (run.skewed()) {
      non_members.clients[static_cast<std::size_t>(partners.back())] =
          members.clients[static_cast<std::size_t>(index)];
    }
    partners.pop_back();
  }
  return pairs;
}

// Those at the places [begin, begin + count) of a random order, by client and position, so that examples of
// one client are read together.
SeenExamples choose(const SeenExamples& all, const std::vector<std::int64_t>& order, std::int64_t begin,
                    std::int64_t count) {
  std::vector<std::int64_t> chosen(order.begin() + begin, order.begin() + begin + count);
  std::ranges::sort(chosen, {}, [&](std::int64_t index) {
    return std::pair(all.clients.empty() ? 0 : all.clients[static_cast<std::size_t>(index)], index);
  });
  return select(all, chosen);
}

// Test examples that are not measured, for attacks that ask how likely a model finds what nobody trained on.
SeenExamples population_beside(const FinishedRun& run, const SeenExamples& measured) {
  const SeenExamples tests = test_examples(run);
  std::set<std::int64_t> taken;
  if (measured.part == tests.part) taken.insert(measured.positions.begin(), measured.positions.end());
  std::vector<std::int64_t> others;
  for (const std::int64_t position : stream_of(run, kPopulation).permutation(tests.size())) {
    if (!taken.contains(position)) others.push_back(position);
    if (std::ssize(others) == kLargestPopulation) break;
  }
  return choose(tests, others, 0, std::ssize(others));
}

// What an audit gave wrong labels: nobody trained on these examples as they are.
std::set<std::int64_t> mislabelled(const FinishedRun& run) {
  const Canaries canaries(canary_plan(run.experiment()), static_cast<std::uint64_t>(run.summary().seed),
                          run.dealt().partition, run.dataset().train, run.dataset().classes,
                          run.model().layout()->numel());
  if (canaries.plan().kind != kMislabelledCanaries) return {};
  return {canaries.places().begin(), canaries.places().end()};
}

// Who trained in the rounds after `round`, by the cohorts of a policy that does not draw them itself.
std::set<std::int64_t> clients_after(const FinishedRun& run, std::int64_t round) {
  const std::int64_t seed = run.summary().seed, clients = std::ssize(run.dealt().partition);
  const std::vector<std::int64_t> held_out = held_out_clients(run.experiment(), seed, clients);
  std::vector<std::int64_t> training;
  for (std::int64_t client = 0; client < clients; ++client) {
    if (!std::ranges::binary_search(held_out, client)) training.push_back(client);
  }
  std::set<std::int64_t> trained;
  while (++round <= run.summary().rounds_done) {
    for (const std::int64_t place : draw_cohort(static_cast<std::uint64_t>(seed), round, std::ssize(training),
                                                run.experiment().cohort_size(clients)))
      trained.insert(training[static_cast<std::size_t>(place)]);
  }
  return trained;
}

}  // namespace

SeenExamples touched_examples(const FinishedRun& run) {
  SeenExamples touched{.part = &run.dataset().train};
  const Partition& partition = run.dealt().partition;
  const PrivacyPolicy policy = policy_of(*run.cell().algorithm);
  const auto* labels = std::get_if<LabelPolicy>(&policy);
  const bool halved = labels != nullptr && labels->stages == 2;
  const std::set<std::int64_t> later =
      halved ? clients_after(run, labels->first_rounds) : std::set<std::int64_t>();
  for (std::int64_t client = 0; client < std::ssize(partition); ++client) {
    if (!run.took_part(client)) continue;
    std::vector<std::int64_t> positions = partition[static_cast<std::size_t>(client)];
    if (halved && !later.contains(client))
      positions = label_halves(static_cast<std::uint64_t>(run.summary().seed), client, positions).first;
    touched.positions.insert(touched.positions.end(), positions.begin(), positions.end());
    touched.clients.insert(touched.clients.end(), positions.size(), client);
  }
  return touched;
}

AttackedExamples draw_attacked_examples(const FinishedRun& run, std::int64_t most, const Eligible& eligible) {
  SeenExamples members = touched_examples(run), non_members = left_out_examples(run);
  keep_eligible(
      members, [canaries = mislabelled(run)](std::int64_t position) { return !canaries.contains(position); });
  if (eligible) {
    keep_eligible(members, eligible);
    keep_eligible(non_members, eligible);
  }
  Pairs pairs = pairs_of(run, members, non_members);
  const bool tests = pairs.size() < 2 * kLeastOfHalf;
  if (tests) {
    non_members = test_examples(run);
    pairs = pairs_of(run, members, non_members);
  }
  std::int64_t count = pairs.size() / 2;
  if (count < kLeastOfHalf) {
    throw Error::in(run.path(),
                    fmt::format("there are {} members with non-members of their labels, too few to attack: "
                                "half of either is measured, and the other half is there to learn from",
                                pairs.size()),
                    {.allowed = fmt::format("at least {} of both", 2 * kLeastOfHalf)});
  }
  if (most > 0) count = std::min(count, most);
  AttackedExamples result{.members = choose(members, pairs.members, 0, count),
                          .non_members = choose(non_members, pairs.non_members, 0, count),
                          .known_members = choose(members, pairs.members, count, count),
                          .known_non_members = choose(non_members, pairs.non_members, count, count),
                          .population = {},
                          .non_members_are = tests ? results::kTestExamples : results::kLeftOutExamples};
  result.population = population_beside(run, result.non_members);
  for (std::int64_t i = 0; i < result.population.size(); ++i)
    result.population.clients.push_back(result.members.clients[static_cast<std::size_t>(i % count)]);
  return result;
}

BatchSource source_of(const SeenExamples& examples, const FinishedRun& run, const ExampleReader& reader) {
  return [&](std::int64_t begin, std::int64_t end) {
    std::vector<torch::Tensor> inputs, targets;
    while (begin < end) {
      const std::int64_t client = examples.clients[static_cast<std::size_t>(begin)];
      std::int64_t next = run.skewed() ? begin : end;
      while (next < end && examples.clients[static_cast<std::size_t>(next)] == client) ++next;
      const Batch batch = reader.read(
          *examples.part,
          torch::tensor(std::vector(examples.positions.begin() + begin, examples.positions.begin() + next)),
          run.skew_of(client, examples.first));
      inputs.push_back(batch.inputs);
      targets.push_back(batch.targets);
      begin = next;
    }
    return inputs.size() == 1 ? Batch{inputs.front(), targets.front()}
                              : Batch{torch::cat(inputs), torch::cat(targets)};
  };
}

}  // namespace fedarena
