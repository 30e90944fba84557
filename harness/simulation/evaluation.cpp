#include "harness/simulation/evaluation.hpp"

#include <algorithm>
#include <cmath>
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

std::vector<Evaluator::Piece> Evaluator::pieces() const {
  std::vector<Piece> pieces;
  const auto add = [&](Piece::Of of, const Examples& examples) {
    const std::int64_t size = setting_.engine.micro_batch();
    for (std::int64_t begin = 0; begin < examples.size(); begin += size)
      pieces.push_back({.of = of, .begin = begin, .end = std::min(begin + size, examples.size())});
  };
  add(Piece::Of::kTest, setting_.dataset.test);
  add(Piece::Of::kValidation, setting_.dataset.validation);
  for (const std::int64_t client : tested_clients()) {
    const auto size = std::ssize((*setting_.client_tests)[static_cast<std::size_t>(client)]);
    pieces.push_back({.of = Piece::Of::kClient, .end = size, .client = client});
  }
  return pieces;
}

Score Evaluator::score(const Params& params, const Piece& piece) const {
  torch::Tensor positions;
  InputSkew skew;
  if (piece.of == Piece::Of::kClient) {
    positions = tensor_of((*setting_.client_tests)[static_cast<std::size_t>(piece.client)]);
    if (setting_.test_skew) skew = setting_.test_skew(piece.client);
  } else {
    positions = torch::arange(piece.begin, piece.end, torch::kInt64);
  }
  const Examples& examples =
      piece.of == Piece::Of::kValidation ? setting_.dataset.validation : setting_.dataset.test;
  return setting_.engine.evaluate(params, positions.size(0), [&](std::int64_t begin, std::int64_t end) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    return setting_.reader.read(examples, positions.slice(0, begin, end), skew);
  });
}

results::ClientScore Evaluator::client_score(std::int64_t client, const Score& sums) const {
  results::ClientScore score{.client = client, .test_examples = sums.examples};
  if (setting_.dataset.classes > 0) {
    score.accuracy = share(sums.correct, sums.examples);
    score.macro_f1 = results::macro_f1(counts_of(sums.by_class));
    score.diverged = !std::isfinite(sums.loss_sum);
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

void Evaluator::write(const std::vector<Piece>& pieces, const std::vector<Score>& scores, bool personal,
                      results::RoundRecord& record) const {
  const bool classes = setting_.dataset.classes > 0;
  Score test, validation;
  double loss = 0, accuracy = 0, validating = 0;
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    const Score& score = scores[index];
    const std::int64_t client = pieces[index].client;
    if (client < 0) {
      (pieces[index].of == Piece::Of::kTest ? test : validation) += score;
    } else if (!std::ranges::binary_search(setting_.held_out, client)) {
      record.client_scores.push_back(client_score(client, score));
    } else {
      loss += score.loss_sum / static_cast<double>(score.examples);
      if (classes) accuracy += share(score.correct, score.examples);
      ++validating;
    }
  }
  record.test_loss = test.loss_sum / static_cast<double>(test.examples);
  if (classes) {
    record.test_accuracy = share(test.correct, test.examples);
    record.classes = results::class_metrics(counts_of(test.by_class));
  }
  if (validation.examples > 0) {
    record.validation_loss = validation.loss_sum / static_cast<double>(validation.examples);
    if (classes) record.validation_accuracy = share(validation.correct, validation.examples);
  }
  if (validating > 0) {
    record.validation_loss = loss / validating;
    if (classes) record.validation_accuracy = accuracy / validating;
  }
  if (record.client_scores.empty()) return;
  record.personal = personal;
  if (classes)
    record.per_client = results::client_metrics(record.client_scores);
  else
    record.client_errors = results::client_errors(record.client_scores);
}

}  // namespace fedarena
