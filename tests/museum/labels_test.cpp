// Exhibits 22 and 23: privacy of labels that are nobody's, or not drawn as they should be.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/pld.hpp"

#include "harness/oracle/response_mechanism.hpp"
#include "tests/accounting/reference_files.hpp"
#include "tests/infinity.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr double kLabelEpsilon = 1;
constexpr Key<torch::Tensor> kImages{"images"}, kLabels{"labels"};

// What FedGM sends, boiled down: an image of each class, made from the raw examples of that class, under a
// label that randomised response answered. Half of them in each of two rounds.
class SyntheticSets final : public Algorithm {
 public:
  Message broadcast(const Server& server) const override { return {{kModel, server.params}}; }
  Message train(Client& client, const Message&) const override {
    const Batch raw = client.oracle.exact_batch();
    const std::int64_t shown = client.round - 1;
    const torch::Tensor image = raw.inputs.index({raw.targets == shown}).mean(0, true);
    const torch::Tensor label = torch::full({1}, shown, torch::kInt64);
    return {{kImages, image}, {kLabels, client.oracle.randomised_response(label, {}, kLabelEpsilon)}};
  }
  void aggregate(Server&, const Uplink&) const override {}
};

results::PrivacyClaim claim_of_synthetic_sets() {
  const Federation federation({20, 20});
  const SyntheticSets algorithm;
  const RecordPolicy policy;
  Simulation simulation(federation.setup(algorithm, policy, 2));
  finish(simulation);
  return claim_of(simulation.ledger(), "record", policy);
}

TEST(LabelsOfSyntheticImages, AreNoPrivacyOfExamples) {
  const results::PrivacyClaim claim = claim_of_synthetic_sets();
  EXPECT_EQ(claim.rdp->epsilon, kInfinity);
  EXPECT_THAT(claim.exact_access, HasSubstr("examples"));
  // What the paper prints: each label is randomised once, in one of two halves.
  ASSERT_EQ(claim.nominal.size(), 1U);
  EXPECT_EQ(claim.nominal[0], (std::pair<std::string, double>(kSyntheticLabels, kLabelEpsilon)));
}

// Neighbours by the label of one raw example: the images tell them apart, whatever the labels beside them
// say.
TEST(LabelsOfSyntheticImages, StandBesideImagesThatTellRawLabels) {
  const SyntheticSets algorithm;
  Federation federation({20}), neighbour({20});
  neighbour.dataset.train.targets = neighbour.dataset.train.targets.clone();
  neighbour.dataset.train.targets[3] = 1 - neighbour.dataset.train.targets[3];
  Simulation one(federation.setup(algorithm, NoPolicy())), other(neighbour.setup(algorithm, NoPolicy()));
  const Message sent = one.next_uplink(0).message, sent_by_other = other.next_uplink(0).message;
  EXPECT_TRUE(torch::equal(sent[kLabels], sent_by_other[kLabels]));
  EXPECT_GT((sent[kImages] - sent_by_other[kImages]).abs().max().item<double>(), 0.01);
}

// A client of one class (#C = 1) answers for each of 50 images of it.
TEST(LabelsOfSyntheticImages, AreOutvotedWhereAClientHasOneClass) {
  constexpr std::int64_t kClasses = 10, kPerClass = 50, kClients = 500;
  RoundAccesses book;
  const auto release = ResponseRelease::of_synthetic(kClasses, kLabelEpsilon, book);
  const auto source = make_noise_source(kStreamNoise, Streams(1, 1, 0));
  std::int64_t first_right = 0, vote_right = 0;
  for (std::int64_t client = 0; client < kClients; ++client) {
    const std::int64_t held = client % kClasses;
    const torch::Tensor answers = release.answers(torch::full({kPerClass}, held, torch::kInt64), {}, *source);
    first_right += answers[0].item<std::int64_t>() == held ? 1 : 0;
    vote_right += answers.bincount({}, kClasses).argmax().item<std::int64_t>() == held ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(first_right) / kClients, 0.232, 0.1);
  EXPECT_NEAR(static_cast<double>(vote_right) / kClients, 0.86, 0.05);
  // What 50 answers about one fact cost.
  const std::vector<Access> votes{{RandomizedResponse{kClasses, kLabelEpsilon}, kPerClass}};
  EXPECT_NEAR(pld_epsilon(votes, 1e-5).upper, 23.0, 0.05);
}

// The baseline that the paper plots beside it: noise for an epsilon of each message, over rounds.
TEST(LocalNoise, IsComposedOverTheRoundsOfAClient) {
  constexpr double kNominal = 1, kDelta = 1e-5;
  const auto epsilon_after = [](std::int64_t rounds) {
    const Federation federation({5, 5});
    const Exhibit algorithm;
    LocalPolicy policy;
    policy.delta = kDelta;
    // Two messages lie at most two clip norms apart.
    policy.noise_multiplier = 2 * gaussian_noise_multiplier(kNominal, kDelta);
    Simulation simulation(federation.setup(algorithm, policy, rounds));
    finish(simulation);
    return account(simulation.ledger(), policy).pld.epsilon.value();
  };
  EXPECT_NEAR(epsilon_after(1), kNominal, 1e-3);
  EXPECT_NEAR(epsilon_after(50), 9.36, 0.01);
}

// Exhibit 23: the number of candidates in a public copy of RRWithPrior.

// e^epsilon / (e^epsilon + k - 2), where the paper has k - 1.
std::int64_t candidates_by_the_copy(std::vector<double> prior, double epsilon) {
  std::ranges::sort(prior, std::greater<>());
  double sum = 0, best = -1;
  std::int64_t chosen = 0;
  for (std::int64_t k = 1; k <= std::ssize(prior); ++k) {
    sum += prior[static_cast<std::size_t>(k - 1)];
    const double weight = std::exp(epsilon) / (std::exp(epsilon) + static_cast<double>(k - 2)) * sum;
    if (weight > best) {
      best = weight;
      chosen = k;
    }
  }
  return chosen;
}

double right_answers(const ResponseLaw& law, const std::vector<double>& prior) {
  double sum = 0;
  for (std::size_t label = 0; label < prior.size(); ++label)
    sum += prior[label] * law.probabilities(static_cast<std::int64_t>(label))[label];
  return sum;
}

TEST(CandidatesOffByOne, AnswerRightLessOften) {
  std::int64_t different = 0;
  double largest_loss = 0;
  const std::vector<ReferenceRow> rows = reference_rows("labeldp_rrwithprior.csv");
  for (const ReferenceRow& row : rows) {
    std::vector<double> prior;
    for (const nlohmann::json& share : nlohmann::json::parse(row.text("prior")))
      prior.push_back(share.get<double>());
    const double epsilon = row.number("eps");
    const std::int64_t k = candidates_by_the_copy(prior, epsilon);
    EXPECT_EQ(k, row.whole("k_by_label_dp_repo_formula"));
    const double loss = right_answers(ResponseLaw::with_prior(prior, epsilon), prior) -
                        right_answers(ResponseLaw::top_k(prior, k, epsilon), prior);
    EXPECT_GE(loss, -1e-12);
    different += loss > 1e-12 ? 1 : 0;
    largest_loss = std::max(largest_loss, loss);
  }
  if (rows.empty()) return;
  EXPECT_EQ(different, 6);
  EXPECT_NEAR(largest_loss, 0.122, 1e-3);
}

}  // namespace
}  // namespace fedarena
