#include "harness/simulation/evaluation.hpp"

#include <algorithm>
#include <vector>

#include "results/record/test_metrics.hpp"

namespace fedarena {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<results::ClassCount> counts_of(const ClassCounts& by_class) {
  std::vector<results::ClassCount> counts;
  for (std::size_t label = 0; label < by_class.examples.size(); ++label) {
    counts.push_back({by_class.examples[label], by_class.predicted[label], by_class.correct[label]});
  }
  return counts;
}

}  // namespace

Score Evaluator::score(const Params& params, const Examples& examples) const {
  return setting_.engine.evaluate(params, examples.size(), [&](std::int64_t begin, std::int64_t end) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    return setting_.reader.read(examples, torch::arange(begin, end, torch::kInt64));
  });
}

Score Evaluator::sums_of(const Params& params, std::int64_t client) const {
  const torch::Tensor positions =
      torch::tensor((*setting_.client_tests)[static_cast<std::size_t>(client)], torch::kInt64);
  const InputSkew skew = setting_.test_skew ? setting_.test_skew(client) : InputSkew();
  return setting_.engine.evaluate(params, positions.size(0), [&](std::int64_t begin, std::int64_t end) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    return setting_.reader.read(setting_.dataset.test, positions.slice(0, begin, end), skew);
  });
}

results::ClientScore Evaluator::client_score(std::int64_t client, const Score& sums) const {
  results::ClientScore score{.client = client, .test_examples = sums.examples};
  if (setting_.dataset.classes > 0) {
    score.accuracy = share(sums.correct, sums.examples);
    score.macro_f1 = results::macro_f1(counts_of(sums.by_class));
  } else {
    score.rmse = results::root_mean_squared_error(sums.loss_sum / static_cast<double>(sums.examples));
  }
  return score;
}

std::vector<std::int64_t> Evaluator::tested_clients() const {
  std::vector<std::int64_t> tested;
  if (setting_.client_tests == nullptr) return tested;
  for (std::size_t client = 0; client < setting_.client_tests->size(); ++client) {
    if (!(*setting_.client_tests)[client].empty()) tested.push_back(static_cast<std::int64_t>(client));
  }
  return tested;
}

void Evaluator::evaluate(const Params& params, results::RoundRecord& record,
                         const PersonalModel& personal) const {
  const Dataset& dataset = setting_.dataset;
  const bool classes = dataset.classes > 0;
  const Score sums = score(params, dataset.test);
  record.test_loss = sums.loss_sum / static_cast<double>(sums.examples);
  if (classes) {
    record.test_accuracy = share(sums.correct, sums.examples);
    record.classes = results::class_metrics(counts_of(sums.by_class));
  }
  if (dataset.validation.size() > 0) {
    const Score held_out = score(params, dataset.validation);
    record.validation_loss = held_out.loss_sum / static_cast<double>(held_out.examples);
    if (classes) record.validation_accuracy = share(held_out.correct, held_out.examples);
  }
  const std::vector<std::int64_t> tested = tested_clients();
  std::vector<Score> own_sums(tested.size());
  setting_.pool.for_each(tested.size(), [&](std::size_t index) {
    const std::int64_t client = tested[index];
    own_sums[index] = personal ? sums_of(personal(client), client) : sums_of(params, client);
  });
  std::vector<results::ClientScore>& scores = record.client_scores;
  double loss = 0, accuracy = 0, validating = 0;
  for (std::size_t index = 0; index < tested.size(); ++index) {
    const Score& own = own_sums[index];
    if (!std::ranges::binary_search(setting_.held_out, tested[index])) {
      scores.push_back(client_score(tested[index], own));
      continue;
    }
    loss += own.loss_sum / static_cast<double>(own.examples);
    if (classes) accuracy += share(own.correct, own.examples);
    ++validating;
  }
  if (validating > 0) {
    record.validation_loss = loss / validating;
    if (classes) record.validation_accuracy = accuracy / validating;
  }
  if (scores.empty()) return;
  record.personal = static_cast<bool>(personal);
  if (classes)
    record.per_client = results::client_metrics(scores);
  else
    record.client_errors = results::client_errors(scores);
}

}  // namespace fedarena
