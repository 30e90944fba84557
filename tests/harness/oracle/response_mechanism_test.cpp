// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include "harness/oracle/response_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/accounting/reference_files.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using Probabilities = std::vector<double>;

constexpr double kExact = 1e-12;

// A list that the reference has as JSON, of numbers or of texts with 17 digits.
Probabilities list_of(const std::string& text) {
  Probabilities numbers;
  for (const nlohmann::json& each : nlohmann::json::parse(text))
    numbers.push_back(each.is_string() ? std::stod(each.get<std::string>()) : each.get<double>());
  return numbers;
}

std::map<std::string, Probabilities> reference_priors() {
  std::map<std::string, Probabilities> priors;
  for (const ReferenceRow& row : reference_rows("labeldp_rrwithprior.csv"))
    priors[row.text("prior_id")] = list_of(row.text("prior"));
  return priors;
}

// The probability that the answer is the label, when labels follow the prior.
double right_answers(const ResponseLaw& law, const Probabilities& prior) {
  double sum = 0;
  for (std::size_t label = 0; label < prior.size(); ++label)
    sum += prior[label] * law.probabilities(static_cast<std::int64_t>(label))[label];
  return sum;
}

TEST(ResponseLaw, HasTheReferencesOutputDistributions) {
  const auto priors = reference_priors();
  for (const ReferenceRow& row : reference_rows("labeldp_matrices.csv")) {
    const Probabilities& prior = priors.at(row.text("prior_id"));
    const ResponseLaw law = ResponseLaw::with_prior(prior, row.number("eps"));
    Probabilities found(prior.size(), 0);
    if (row.text("true_label") == "marginal") {
      for (std::size_t label = 0; label < prior.size(); ++label) {
        const Probabilities given = law.probabilities(static_cast<std::int64_t>(label));
        for (std::size_t answer = 0; answer < given.size(); ++answer)
          found[answer] += prior[label] * given[answer];
      }
    } else {
      found = law.probabilities(row.whole("true_label"));
    }
    EXPECT_THAT(found, ::testing::Pointwise(::testing::DoubleNear(kExact), list_of(row.text("output_probs"))))
        << row.text("prior_id") << " at " << row.text("eps");
  }
}

TEST(ResponseLaw, KeepsTheReferencesCandidates) {
  for (const ReferenceRow& row : reference_rows("labeldp_rrwithprior.csv")) {
    const Probabilities prior = list_of(row.text("prior"));
    const ResponseLaw law = ResponseLaw::with_prior(prior, row.number("eps"));
    const Probabilities candidates(law.candidates().begin(), law.candidates().end());
    EXPECT_EQ(candidates, list_of(row.text("Y_kstar"))) << row.text("prior_id");
    EXPECT_NEAR(right_answers(law, prior), row.number("prob_correct"), kExact);
    EXPECT_NEAR(right_answers(ResponseLaw::plain(row.whole("K"), row.number("eps")), prior),
                row.number("rr_plain_prob_correct"), kExact);
  }
}

// All priors over `classes` classes in steps of 1/12, ties among them.
std::vector<Probabilities> grid_of_priors(std::size_t classes) {
  constexpr int kSteps = 12;
  std::vector<Probabilities> grid;
  std::vector<int> parts(classes);
  const std::function<void(std::size_t, int)> deal = [&](std::size_t place, int left) {
    if (place + 1 == classes) {
      parts[place] = left;
      Probabilities prior;
      for (const int part : parts) prior.push_back(part / double(kSteps));
      grid.push_back(std::move(prior));
      return;
    }
    for (int part = 0; part <= left; ++part) {
      parts[place] = part;
      deal(place + 1, left - part);
    }
  };
  deal(0, kSteps);
  return grid;
}

// At log 3 and log 2 numbers of candidates tie.
TEST(ResponseLaw, AnswersRightAsOftenAsAnyNumberOfCandidatesCould) {
  for (const std::size_t classes : {2, 3, 4}) {
    for (const Probabilities& prior : grid_of_priors(classes)) {
      for (const double epsilon : {0.3, std::log(2.0), 1.0, std::log(3.0), 4.0}) {
        const ResponseLaw law = ResponseLaw::with_prior(prior, epsilon);
        const auto chosen = static_cast<std::int64_t>(law.candidates().size());
        for (std::int64_t k = 1; k <= static_cast<std::int64_t>(classes); ++k) {
          const ResponseLaw other = ResponseLaw::top_k(prior, k, epsilon);
          const double gain = right_answers(law, prior) - right_answers(other, prior);
          EXPECT_GE(gain, -kExact);
          // A tie goes to fewer candidates.
          if (k < chosen) {
            EXPECT_GT(gain, kExact);
          }
          if (k == chosen) {
            EXPECT_EQ(other.candidates(), law.candidates());
          }
        }
      }
    }
  }
}

TEST(ResponseLaw, PrefersLowerLabelsOfEqualPriors) {
  EXPECT_EQ(ResponseLaw::top_k(Probabilities{0.2, 0.3, 0.3, 0.2}, 1, 1).candidates(),
            (std::vector<std::int64_t>{1}));
  EXPECT_EQ(ResponseLaw::top_k(Probabilities{0.2, 0.3, 0.3, 0.2}, 3, 1).candidates(),
            (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(ResponseLaw, MakesNoAnswerMoreThanItsEpsilonAsLikely) {
  for (const Probabilities& prior : grid_of_priors(4)) {
    for (const double epsilon : {0.3, 2.0, 30.0}) {
      for (std::int64_t k = 1; k <= 4; ++k) {
        const ResponseLaw law = ResponseLaw::top_k(prior, k, epsilon);
        for (std::int64_t left = 0; left < 4; ++left) {
          const Probabilities given = law.probabilities(left), other = law.probabilities((left + 1) % 4);
          double sum = 0;
          for (std::size_t answer = 0; answer < 4; ++answer) {
            EXPECT_LE(given[answer], other[answer] * std::exp(epsilon) * (1 + kExact));
            EXPECT_LE(other[answer], given[answer] * std::exp(epsilon) * (1 + kExact));
            sum += given[answer];
          }
          EXPECT_NEAR(sum, 1, kExact);
        }
      }
    }
  }
}

std::unique_ptr<RandomSource> source_of(const std::string& name) {
  return make_noise_source(name, {3, 1, 0});
}

// Pearson's statistic of draws given that label is within its bound.
bool follows(const ResponseLaw& law, std::int64_t label, RandomSource& source) {
  constexpr int kDraws = 40'000;
  const Probabilities expected = law.probabilities(label);
  std::vector<double> counts(expected.size());
  for (int draw = 0; draw < kDraws; ++draw) ++counts[static_cast<std::size_t>(law.draw(label, source))];
  double statistic = 0, cells = 0;
  for (std::size_t answer = 0; answer < expected.size(); ++answer) {
    if (expected[answer] == 0) {
      if (counts[answer] > 0) return false;
      continue;
    }
    ++cells;
    statistic += std::pow(counts[answer] - kDraws * expected[answer], 2) / (kDraws * expected[answer]);
  }
  return cells == 1 || statistic < chi_square_bound(cells - 1);
}

TEST(ResponseLaw, DrawsWhatItSays) {
  const Probabilities prior{0.1, 0.35, 0.05, 0.3, 0.2};
  for (const char* name : {kStreamNoise, kSystemNoise}) {
    const auto source = source_of(name);
    for (std::int64_t label = 0; label < 5; ++label) {
      EXPECT_TRUE(follows(ResponseLaw::plain(5, 1), label, *source));
      for (const std::int64_t k : {1, 2, 4})
        EXPECT_TRUE(follows(ResponseLaw::top_k(prior, k, 1.5), label, *source)) << k << " " << label;
    }
  }
}

// Numbers that a test wrote down.
class WrittenNumbers final : public RandomSource {
 public:
  explicit WrittenNumbers(std::vector<double> numbers) : numbers_(std::move(numbers)) {}
  void fill_normal(std::span<double>) override { ADD_FAILURE(); }
  double gamma(double) override { throw Bug("nobody asks for it"); }
  double uniform() override { return numbers_.at(next_++); }
  std::vector<std::int64_t> sample_without_replacement(std::int64_t, std::int64_t) override {
    throw Bug("nobody asks for it");
  }

 private:
  std::vector<double> numbers_;
  std::size_t next_ = 0;
};

// Its probability is 8.5e-17, less than a uniform number of 53 bits can tell from 0.
TEST(ResponseLaw, GivesAnswersThatAreRarerThanTheBitsOfOneNumber) {
  const ResponseLaw law = ResponseLaw::plain(2, 37);
  WrittenNumbers below({0, 0.7, 0}), above({0, 0.8});
  EXPECT_EQ(law.draw(1, below), 0);
  EXPECT_EQ(law.draw(1, above), 1);
}

// Sum of what `left` exceeds e^x times `right` by.
double delta_between(const Probabilities& left, const Probabilities& right, double x) {
  double delta = 0;
  for (std::size_t i = 0; i < left.size(); ++i) delta += std::max(0.0, left[i] - std::exp(x) * right[i]);
  return delta;
}

// What the ledger has of labels under a prior, whatever the prior: response among two.
TEST(ResponseRelease, ChargesForTheWorstCandidatesThatAPriorMayChoose) {
  const Probabilities prior{0.4, 0.2, 0.15, 0.1, 0.1, 0.05};
  for (const double epsilon : {0.2, 1.0, 3.0}) {
    RoundAccesses book;
    ResponseRelease::of_examples(6, true, epsilon, book);
    ASSERT_EQ(book.list(), (std::vector<Access>{{RandomizedResponse{2, epsilon}, 1}}));
    const ResponseLaw charged = ResponseLaw::plain(2, epsilon);
    for (double x = 0; x <= epsilon; x += epsilon / 8) {
      const double most = delta_between(charged.probabilities(0), charged.probabilities(1), x);
      EXPECT_NEAR(most, (std::exp(epsilon) - std::exp(x)) / (std::exp(epsilon) + 1), kExact);
      for (std::int64_t k = 1; k <= 6; ++k) {
        const ResponseLaw law = ResponseLaw::top_k(prior, k, epsilon);
        for (std::int64_t left = 0; left < 6; ++left) {
          for (std::int64_t right = 0; right < 6; ++right)
            EXPECT_LE(delta_between(law.probabilities(left), law.probabilities(right), x), most + kExact);
        }
      }
    }
  }
}

TEST(ResponseRelease, ChargesForAllClassesWithoutAPrior) {
  RoundAccesses book;
  ResponseRelease::of_examples(10, false, 2, book);
  EXPECT_EQ(book.list(), (std::vector<Access>{{RandomizedResponse{10, 2}, 1}}));
}

TEST(ResponseRelease, AnswersEachLabelUnderItsOwnPrior) {
  RoundAccesses book;
  const auto release = ResponseRelease::of_synthetic(3, 1, book);
  const torch::Tensor labels = torch::tensor({2, 2, 2}), prior = torch::eye(3);
  // A prior that is sure of a class leaves that one alone.
  EXPECT_TRUE(torch::equal(release.answers(labels, prior, *source_of(kStreamNoise)), torch::arange(3)));
  // Of single precision, as softmax gives it.
  const torch::Tensor spread = torch::rand({3, 3}).softmax(1);
  EXPECT_EQ(release.answers(labels, spread, *source_of(kStreamNoise)).numel(), 3);
  EXPECT_EQ(release.answers(torch::empty({0}, torch::kInt64), {}, *source_of(kStreamNoise)).numel(), 0);
}

// A model that diverged says nothing of any label.
TEST(ResponseRelease, TakesNothingFromAPriorThatIsNotFinite) {
  RoundAccesses book;
  const auto release = ResponseRelease::of_synthetic(3, 1, book);
  const torch::Tensor labels = torch::arange(3).repeat({50});
  torch::Tensor unknown = torch::eye(3, torch::kFloat64).repeat({50, 1});
  unknown.select(1, 0).fill_(kNan);
  EXPECT_TRUE(torch::equal(
      release.answers(labels, unknown, *source_of(kStreamNoise)),
      release.answers(labels, torch::full({150, 3}, 1.0 / 3, torch::kFloat64), *source_of(kStreamNoise))));
}

TEST(ResponseRelease, RefusesWhatHasNoAnswer) {
  RoundAccesses book;
  for (const double epsilon : {0.0, -1.0, 64.5, kNan, kInfinity}) {
    expect_refused("allowed: 0 < epsilon <= 64", [&] { ResponseRelease::of_synthetic(3, epsilon, book); });
  }
  EXPECT_TRUE(book.list().empty());
  const auto release = ResponseRelease::of_synthetic(3, 1, book);
  const auto refusal = [&](const torch::Tensor& labels, const torch::Tensor& prior) {
    return message_of([&] { (void)release.answers(labels, prior, *source_of(kStreamNoise)); });
  };
  for (const int label : {-1, 3})
    EXPECT_THAT(refusal(torch::tensor({std::int64_t{label}}), {}), HasSubstr("allowed: 0 to 2"));
  const torch::Tensor label = torch::tensor({std::int64_t{1}});
  EXPECT_THAT(refusal(label, torch::tensor({{0.5, 0.3, 0.1}})), HasSubstr("sum to 1"));
  EXPECT_THAT(refusal(label, torch::tensor({{0.5, 0.5, -0.5}})), HasSubstr("a number >= 0"));
  EXPECT_THROW((void)release.answers(label, torch::ones({1, 2}), *source_of(kStreamNoise)), Bug);
  EXPECT_THROW((void)release.answers(torch::ones({1}), {}, *source_of(kStreamNoise)), Bug);
  expect_refused("1 to 2", [] { ResponseLaw::top_k(Probabilities{0.5, 0.5}, 3, 1); });
}

// Of labels that no example has, the ledger keeps the number that papers print, and no epsilon.
TEST(SyntheticLabels, AreNominalAndCountOnceHoweverOftenTheyAreAsked) {
  const Bench bench;
  ExactOracle oracle = bench.exact(range(0, 8));
  const torch::Tensor labels = torch::arange(4).repeat(100);
  const torch::Tensor first = oracle.randomised_response(labels, {}, 2);
  const torch::Tensor second = oracle.randomised_response(labels, {}, 2);
  EXPECT_EQ(oracle.accesses().list(), (std::vector<Access>{{Nominal{kSyntheticLabels, 2, true}, 2}}));
  EXPECT_EQ(nominal_sums(oracle.accesses().list()).at(kSyntheticLabels), 2);
  EXPECT_FALSE(torch::equal(first, second));
  EXPECT_FALSE(torch::equal(first, labels));
  ExactOracle again = bench.exact(range(0, 8));
  EXPECT_TRUE(torch::equal(again.randomised_response(labels, {}, 2), first));
  ExactOracle other = bench.exact(range(0, 8), Streams(1, 1, 1));
  EXPECT_FALSE(torch::equal(other.randomised_response(labels, {}, 2), first));
}

TEST(SyntheticLabels, ShareNoNoiseWithGradients) {
  const Bench bench;
  RecordOracle plain = bench.record(range(0, 8), record_policy(1, 1));
  RecordOracle asked = bench.record(range(0, 8), record_policy(1, 1));
  (void)asked.randomised_response(torch::arange(4), {}, 1);
  EXPECT_TRUE(torch::equal(asked.gradient(bench.at(), {}).flat(), plain.gradient(bench.at(), {}).flat()));
}

TEST(SyntheticLabels, NeedClasses) {
  const Beacons beacons(8);
  RecordOracle oracle = beacons.record(record_policy(1, 1), Streams(1, 1, 0));
  expect_refused("regression", [&] { (void)oracle.randomised_response(torch::arange(2), {}, 1); });
}

}  // namespace
}  // namespace fedarena
