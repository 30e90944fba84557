// Algorithms with models of the clients' own on linear regressions, against their papers written out once
// more on plain vectors: fine-tuning, Ditto, Per-FedAvg, FedMeta and IFCA; and what all of them must do.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/simulation/checkpoint.hpp"
#include "harness/simulation/cohort.hpp"
#include "tests/conformance/quadratics.hpp"
#include "tests/conformance/same_runs.hpp"

namespace fedarena {
namespace {

constexpr double kOuterRate = 0.12, kInnerRate = 0.2;
constexpr std::int64_t kOwnSteps = 3;
const TestRunOptions kOptions{.seed = 9, .rounds = 5, .cohort_size = 3, .test_clients = true};

// Of a client at its own training examples, which are its test examples as well.
double rmse_at(const QuadraticFederation& federation, std::size_t client, const Vector& at) {
  const Examples& train = federation.task.dataset.train;
  const auto inputs = train.inputs.accessor<double, 2>();
  const auto targets = train.targets.accessor<double, 2>();
  double sum = 0;
  for (const std::int64_t example : federation.task.partition[client]) {
    double error = at.back() - targets[example][0];
    for (std::int64_t j = 0; j < inputs.size(1); ++j)
      error += at[static_cast<std::size_t>(j)] * inputs[example][j];
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(federation.task.partition[client].size()));
}

// The model that a client is tested with when the global one is x.
using OwnModel = std::function<Vector(std::size_t client, const Vector& x)>;

// Checks the global model and all clients' errors after every round.
void expect_personal_rounds(const QuadraticFederation& federation, const std::string& algorithm,
                            const Settings& settings, const ReferenceRound& next, const OwnModel& own) {
  expect_rounds(federation, algorithm, joined({{"batch_size", 0}}, settings), kOptions, next,
                [&](TestRun&, const results::RoundRecord& record, const Vector& x) {
                  ASSERT_TRUE(record.personal);
                  ASSERT_EQ(std::ssize(record.client_scores), federation.population());
                  for (std::size_t k = 0; k < record.client_scores.size(); ++k) {
                    ASSERT_NEAR(*record.client_scores[k].rmse, rmse_at(federation, k, own(k, x)), 1e-9)
                        << "round " << record.round << ", client " << k;
                  }
                });
}

QuadraticFederation five_clients() { return quadratic_federation({9, 30, 14, 6, 21}); }

Vector round_of_fedavg(const QuadraticFederation& federation, const std::vector<std::int64_t>& cohort,
                       const Vector& x) {
  return average_round(federation, cohort, x, true, 1, [](const Quadratic& client, const Vector& start) {
    return descend(client, start, kOuterRate, 4);
  });
}

TEST(FineTune, StepsOnFromTheModelOfFedAvg) {
  const QuadraticFederation federation = five_clients();
  expect_personal_rounds(
      federation, "fine-tune",
      {{"local_steps", 4},
       {"rate", kOuterRate},
       {"personal_steps", kOwnSteps},
       {"personal_rate", kInnerRate}},
      [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t) {
        return round_of_fedavg(federation, cohort, x);
      },
      [&](std::size_t k, const Vector& x) {
        return descend(federation.clients[k], x, kInnerRate, kOwnSteps);
      });
}

// A rate that has fallen to nothing would adapt nobody.
TEST(FineTune, TakesTheFirstRateWhateverTheSchedule) {
  const QuadraticFederation federation = five_clients();
  expect_personal_rounds(
      federation, "fine-tune",
      {{"local_steps", 4},
       {"rate", kOuterRate},
       {"schedule", "step"},
       {"schedule_step", 1},
       {"schedule_factor", 0.5},
       {"personal_steps", kOwnSteps}},
      [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t round) {
        const double rate = kOuterRate * std::pow(0.5, static_cast<double>(round - 1));
        return average_round(
            federation, cohort, x, true, 1,
            [&](const Quadratic& client, const Vector& start) { return descend(client, start, rate, 4); });
      },
      [&](std::size_t k, const Vector& x) {
        return descend(federation.clients[k], x, kOuterRate, kOwnSteps);
      });
}

TEST(FineTune, TrainsAsFedAvgDoes) {
  const Settings settings{{"local_steps", 3}, {"batch_size", 5}, {"momentum", 0.5}};
  expect_same_rounds(five_clients().task, {.rounds = 4, .cohort_size = 2}, "fine-tune", settings, "fedavg",
                     settings);
}

TEST(Ditto, PullsEachClientsModelToTheGlobalOne) {
  constexpr double kLambda = 0.7;
  const QuadraticFederation federation = five_clients();
  std::map<std::size_t, Vector> owns;
  const auto towards = [&](std::size_t k, const Vector& from, const Vector& global) {
    Quadratic pulled = federation.clients[k];
    pulled.hessian = pulled.hessian + kLambda * identity(global.size());
    pulled.slope = pulled.slope + kLambda * global;
    return descend(pulled, from, kInnerRate, kOwnSteps);
  };
  expect_personal_rounds(
      federation, "ditto",
      {{"local_steps", 4},
       {"rate", kOuterRate},
       {"lambda", kLambda},
       {"personal_steps", kOwnSteps},
       {"personal_rate", kInnerRate}},
      [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t) {
        for (const std::int64_t client : cohort) {
          const auto k = static_cast<std::size_t>(client);
          owns[k] = towards(k, owns.contains(k) ? owns[k] : x, x);
        }
        return round_of_fedavg(federation, cohort, x);
      },
      [&](std::size_t k, const Vector& x) { return owns.contains(k) ? owns[k] : towards(k, x, x); });
}

class PerFedAvg : public ::testing::TestWithParam<std::string> {};

// On a quadratic a difference of gradients is the Hessian times the vector.
TEST_P(PerFedAvg, StepsAlongTheGradientAfterAStep) {
  const QuadraticFederation federation = five_clients();
  const bool hessian = GetParam() == "hessian-free";
  expect_personal_rounds(
      federation, "per-fedavg",
      {{"local_steps", 4}, {"rate", kOuterRate}, {"inner_rate", kInnerRate}, {"hessian", GetParam()}},
      [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t) {
        return average_round(federation, cohort, x, false, 1, [&](const Quadratic& client, Vector w) {
          for (int step = 0; step < 4; ++step) {
            Vector meta = client.gradient(w - kInnerRate * client.gradient(w));
            if (hessian) meta = meta - kInnerRate * (client.hessian * meta);
            w = w - kOuterRate * meta;
          }
          return w;
        });
      },
      [&](std::size_t k, const Vector& x) { return x - kInnerRate * federation.clients[k].gradient(x); });
}

INSTANTIATE_TEST_SUITE_P(Ways, PerFedAvg, ::testing::Values("first-order", "hessian-free"),
                         [](const auto& info) { return info.param == "hessian-free" ? "HF" : "FO"; });

TEST(FedMeta, FollowsTheGradientsAtTheClientsOwnModels) {
  const QuadraticFederation federation = five_clients();
  const auto own = [&](std::size_t k, const Vector& x) {
    return descend(federation.clients[k], x, kInnerRate, kOwnSteps);
  };
  expect_personal_rounds(
      federation, "fedmeta", {{"rate", kOuterRate}, {"inner_rate", kInnerRate}, {"inner_steps", kOwnSteps}},
      [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t) {
        Vector sum(x.size());
        for (const std::int64_t client : cohort) {
          const auto k = static_cast<std::size_t>(client);
          sum = sum + federation.clients[k].gradient(own(k, x));
        }
        return x - kOuterRate / static_cast<double>(cohort.size()) * sum;
      },
      own);
}

// IFCA, with the hypotheses where a run begins taken from its checkpoint.
struct IfcaReference {
  const QuadraticFederation& federation;
  bool k_means;
  std::vector<Vector> hypotheses = {};
  std::vector<std::int64_t> chosen = {};  // in the last round, by how many

  // Where the first of the least is.
  static std::size_t least(const std::vector<Vector>& vectors, const auto& cost) {
    return static_cast<std::size_t>(std::ranges::min_element(vectors, {}, cost) - vectors.begin());
  }
  std::size_t choice(std::size_t k) const {
    return least(hypotheses, [&](const Vector& one) { return rmse_at(federation, k, one); });
  }

  // Of the points with that choice; where there is none, the old one.
  static Vector mean(std::size_t j, const std::vector<std::size_t>& choices,
                     const std::vector<Vector>& points, const std::vector<double>& weights,
                     const Vector& old) {
    Vector sum(old.size());
    double weight = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (choices[i] != j) continue;
      sum = sum + weights[i] * points[i];
      weight += weights[i];
    }
    return weight > 0 ? 1 / weight * sum : old;
  }

  // The hypothesis that most clients chose.
  Vector round(const std::vector<std::int64_t>& cohort) {
    std::vector<Vector> trained;
    std::vector<std::size_t> choices;
    std::vector<double> weights;
    for (const std::int64_t client : cohort) {
      const auto k = static_cast<std::size_t>(client);
      choices.push_back(choice(k));
      trained.push_back(descend(federation.clients[k], hypotheses[choices.back()], kOuterRate, 4));
      weights.push_back(k_means ? 1 : federation.clients[k].examples);
    }
    if (k_means) {
      std::vector<Vector> centres = hypotheses;
      for (int iteration = 0; iteration < 20; ++iteration) {
        for (std::size_t i = 0; i < trained.size(); ++i) {
          choices[i] = least(centres, [&](const Vector& one) { return length(trained[i] - one); });
        }
        for (std::size_t j = 0; j < centres.size(); ++j)
          centres[j] = mean(j, choices, trained, weights, centres[j]);
      }
    }
    chosen.assign(hypotheses.size(), 0);
    std::size_t most = 0;
    for (const std::size_t j : choices) ++chosen[j];
    for (std::size_t j = 0; j < hypotheses.size(); ++j) {
      hypotheses[j] = mean(j, choices, trained, weights, hypotheses[j]);
      if (chosen[j] > chosen[most]) most = j;
    }
    return hypotheses[most];
  }
};

std::vector<Vector> hypotheses_of(TestRun& run, const Task& task, std::int64_t count) {
  const Checkpoint memory = unpack_checkpoint(run->save(), *task.model);
  std::vector<Vector> all;
  for (std::int64_t j = 0; j < count; ++j) {
    const std::string name = "hypothesis_" + std::to_string(j);
    all.push_back(numbers_of(memory.server_state[Key<Params>{name.c_str()}]));
  }
  return all;
}

class Ifca : public ::testing::TestWithParam<std::string> {};

// More hypotheses than a cohort has clients: some stay.
TEST_P(Ifca, TrainsEachHypothesisByThoseWhoChoseIt) {
  const QuadraticFederation federation = five_clients();
  const Settings settings{{"hypotheses", 4},
                          {"assign", GetParam()},
                          {"init", "normal"},
                          {"local_steps", 4},
                          {"rate", kOuterRate}};
  IfcaReference reference{federation, GetParam() == "k-means"};
  TestRun fresh(federation.task, "ifca", settings, kOptions);
  reference.hypotheses = hypotheses_of(fresh, federation.task, 4);
  expect_personal_rounds(
      federation, "ifca", settings,
      [&](const Vector&, const std::vector<std::int64_t>& cohort, std::int64_t) {
        return reference.round(cohort);
      },
      [&](std::size_t k, const Vector&) { return reference.hypotheses[reference.choice(k)]; });
}

TEST_P(Ifca, CountsWhoChoseEachHypothesis) {
  const QuadraticFederation federation = five_clients();
  TestRun run(federation.task, "ifca",
              {{"hypotheses", 3},
               {"assign", GetParam()},
               {"init", "normal"},
               {"batch_size", 0},
               {"local_steps", 4},
               {"rate", kOuterRate}},
              kOptions);
  IfcaReference reference{federation, GetParam() == "k-means"};
  reference.hypotheses = hypotheses_of(run, federation.task, 3);
  for (std::int64_t round = 1; round <= kOptions.rounds; ++round) {
    reference.round(draw_cohort(kOptions.seed, round, federation.population(), kOptions.cohort_size));
    std::vector<double> counted;
    for (const auto& [name, value] : run->next_round().observed) counted.push_back(value);
    EXPECT_EQ(counted, std::vector<double>(reference.chosen.begin(), reference.chosen.end()));
  }
}

// Two populations whose true weights are opposite: the published synthetic set-up at small size.
TEST_P(Ifca, FindsBothOptima) {
  Stream stream({.seed = 6, .purpose = Purpose::kDataset});
  constexpr std::int64_t kClients = 12, kEach = 20, kInputs = 4;
  const torch::Tensor inputs = normal(stream, {kClients * kEach, kInputs});
  const torch::Tensor truth = normal(stream, {kInputs, 1});
  torch::Tensor targets = inputs.mm(truth);
  Partition partition(kClients);
  for (std::int64_t client = 0; client < kClients; ++client) {
    if (client % 2 == 1) targets.slice(0, client * kEach, (client + 1) * kEach).neg_();
    for (std::int64_t i = 0; i < kEach; ++i)
      partition[static_cast<std::size_t>(client)].push_back(client * kEach + i);
  }
  const Task task = regression_task(inputs, targets, partition);
  TestRun run(
      task, "ifca",
      {{"assign", GetParam()}, {"init", "normal"}, {"local_steps", 10}, {"batch_size", 0}, {"rate", 0.1}},
      {.rounds = 30, .evaluate_every = 30, .test_clients = true});
  results::RoundRecord last;
  while (!run->finished()) last = run->next_round();
  EXPECT_LE(last.client_errors->rmse_worst, 1e-6);
  // One model for all cannot.
  TestRun single(task, "fedavg", {{"local_steps", 10}, {"batch_size", 0}, {"rate", 0.1}},
                 {.rounds = 30, .evaluate_every = 30, .test_clients = true});
  while (!single->finished()) last = single->next_round();
  EXPECT_GE(last.client_errors->rmse_worst, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Assignments, Ifca, ::testing::Values("clients", "k-means"),
                         [](const auto& info) { return info.param == "clients" ? "Clients" : "KMeans"; });

TEST(Ifca, WithOneHypothesisIsFedAvg) {
  const Settings common{{"local_steps", 3}, {"batch_size", 5}, {"rate", 0.1}};
  const Task task = five_clients().task;
  const Vector expected = trained(task, "fedavg", common, {.rounds = 4, .cohort_size = 2});
  const Vector reached =
      trained(task, "ifca", joined(common, {{"hypotheses", 1}}), {.rounds = 4, .cohort_size = 2});
  EXPECT_LE(length(reached - expected), 1e-12 * length(expected));
}

LocalPolicy laplace_around(double clip_norm, double noise_multiplier) {
  LocalPolicy policy;
  policy.mechanism = kLocalLaplace;
  policy.clip_norm = clip_norm;
  policy.noise_multiplier = noise_multiplier;
  return policy;
}

double spread_of(const std::vector<Vector>& centres) {
  double spread = 0;
  for (const Vector& one : centres) {
    for (const Vector& other : centres) spread = std::max(spread, length(one - other));
  }
  return spread;
}

// Which hypothesis a model was trained from is a secret, so messages of two clients may lie as far apart as
// the hypotheses of that round do, and two clip norms more.
TEST(IfcaUnderLocal, ChargesTheSpreadOfEachRoundsHypotheses) {
  constexpr double kClipNorm = 0.5, kNoise = 4;
  const QuadraticFederation federation = five_clients();
  TestRunOptions options = kOptions;
  options.policy = laplace_around(kClipNorm, kNoise);
  const Settings settings{{"hypotheses", 3},  {"assign", "k-means"}, {"init", "normal"},
                          {"local_steps", 4}, {"batch_size", 0},     {"rate", kOuterRate}};
  TestRun run(federation.task, "ifca", settings, options);
  for (std::int64_t round = 1; round <= options.rounds; ++round) {
    const double distance = 2 * kClipNorm + spread_of(hypotheses_of(run, federation.task, 3));
    const auto observed = run->next_round().observed;
    ASSERT_EQ(observed.size(), 3U) << "what the server makes of noised messages needs no protection";
    for (const std::int64_t client :
         draw_cohort(options.seed, round, federation.population(), options.cohort_size)) {
      const Ledger::Segment& last = run->ledger().clients().at(client).segments.back();
      ASSERT_EQ(last.first_round, round);
      ASSERT_EQ(last.accesses.size(), 1U);
      EXPECT_NEAR(std::get<Laplace>(last.accesses[0].event).epsilon, distance / (kClipNorm * kNoise), 1e-9);
    }
  }
  EXPECT_TRUE(run->ledger().varies()) << "the spread is of models that earlier messages made";
}

TEST(IfcaUnderLocal, ClipsAroundTheHypothesisThatIsNearest) {
  const QuadraticFederation federation = five_clients();
  TestRunOptions options = kOptions;
  options.policy = laplace_around(0.01, 0);
  TestRun run(federation.task, "ifca",
              {{"assign", "k-means"}, {"init", "normal"}, {"local_steps", 9}, {"batch_size", 0}}, options);
  const std::vector<Vector> hypotheses = hypotheses_of(run, federation.task, 2);
  for (std::int64_t client = 0; client < federation.population(); ++client) {
    const Vector sent = numbers_of(run->next_uplink(client).message[Key<Params>{"trained_model"}]);
    EXPECT_NEAR(std::min(length(sent - hypotheses[0]), length(sent - hypotheses[1])), 0.01, 1e-9);
  }
}

// What every algorithm with personal models must do.

std::vector<std::string> personal_algorithms() {
  std::vector<std::string> names;
  for (const std::string& name : algorithm_names()) {
    if (plugins().create(name, {})->personalises()) names.push_back(name);
  }
  return names;
}

class PersonalAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<TestRun> run(bool test_clients, int workers = 1,
                               const PrivacyPolicy& policy = NoPolicy{}) const {
    const Settings settings = declared_by(GetParam(), {{"batch_size", 16}, {"rate", 0.1}});
    return std::make_unique<TestRun>(task_, GetParam(), settings,
                                     TestRunOptions{.rounds = 3,
                                                    .cohort_size = 2,
                                                    .workers = workers,
                                                    .policy = policy,
                                                    .test_clients = test_clients});
  }

 private:
  // Every client has test examples of the same numbers as its training examples: those that there are.
  Task task_ = [] {
    Task task = image_task("logistic", {});
    task.dataset.test = task.dataset.train;
    return task;
  }();
};

INSTANTIATE_TEST_SUITE_P(Registered, PersonalAlgorithm, ::testing::ValuesIn(personal_algorithms()),
                         test_name);

TEST_P(PersonalAlgorithm, TestsClientsAlikeForAnyNumberOfWorkers) {
  const auto one = run(true, 1), several = run(true, 3);
  while (!(*one)->finished())
    EXPECT_EQ((*one)->next_round().client_scores, (*several)->next_round().client_scores);
  EXPECT_EQ((*one)->save(), (*several)->save());
}

TEST_P(PersonalAlgorithm, ContinuesFromEveryRoundToTheSameScores) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(NoPolicy{}), PrivacyPolicy(RecordPolicy())})
    expect_continuation([&] { return run(true, 1, policy); });
}

TEST_P(PersonalAlgorithm, TrainsAlikeWhetherClientsAreTestedOrNot) {
  const auto tested = run(true), untested = run(false);
  EXPECT_EQ(tested->finish().values(), untested->finish().values());
  for (const auto& [client, record] : (*tested)->ledger().clients())
    EXPECT_EQ(record.segments, (*untested)->ledger().clients().at(client).segments);
}

}  // namespace
}  // namespace fedarena
