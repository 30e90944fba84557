#include "tests/conformance/quadratics.hpp"

#include <cmath>
#include <random>
#include <utility>

#include "harness/simulation/cohort.hpp"

namespace fedarena {

namespace {

torch::Tensor column_of(const Vector& vector) { return torch::tensor(vector, torch::kFloat64); }

}  // namespace

Matrix identity(std::size_t size) { return torch::eye(static_cast<std::int64_t>(size), torch::kFloat64); }

Vector operator*(const Matrix& matrix, const Vector& vector) {
  return numbers_of(matrix.mv(column_of(vector)));
}

Vector solve(const Matrix& matrix, const Vector& right) {
  return numbers_of(torch::linalg_solve(matrix, column_of(right)));
}

Vector operator+(const Vector& left, const Vector& right) {
  Vector sum = left;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

Vector operator-(const Vector& left, const Vector& right) { return left + -1.0 * right; }

Vector operator*(double factor, const Vector& vector) {
  Vector product = vector;
  for (double& value : product) value *= factor;
  return product;
}

double length(const Vector& vector) {
  double sum = 0;
  for (const double value : vector) sum += value * value;
  return std::sqrt(sum);
}

Vector descend(const Quadratic& problem, const Vector& start, double rate, std::int64_t steps,
               double momentum) {
  const Vector optimum = problem.optimum();
  const Matrix& a = problem.hessian;
  const std::size_t size = start.size();
  const Matrix one = identity(size);
  if (momentum == 0) return optimum + torch::matrix_power(one - rate * a, steps) * (start - optimum);
  // v' = momentum v + A e, e' = e - rate v'
  const Matrix step = torch::cat(
      {torch::cat({one - rate * a, -rate * momentum * one}, 1), torch::cat({a, momentum * one}, 1)});
  Vector state = start - optimum;
  state.resize(2 * size);
  state = torch::matrix_power(step, steps) * state;
  state.resize(size);
  return optimum + state;
}

Vector average_round(const QuadraticFederation& federation, const std::vector<std::int64_t>& cohort,
                     const Vector& x, bool by_examples, double server_rate,
                     const std::function<Vector(const Quadratic&, const Vector&)>& train) {
  double sum = 0;
  Vector update(x.size());
  for (const std::int64_t k : cohort) {
    const Quadratic& client = federation.clients[static_cast<std::size_t>(k)];
    const double weight = by_examples ? client.examples : 1;
    update = update + weight * (train(client, x) - x);
    sum += weight;
  }
  return x + server_rate / sum * update;
}

Vector QuadraticFederation::optimum(bool by_examples) const {
  Matrix hessian = torch::zeros_like(clients.front().hessian);
  Vector slope(clients.front().slope.size());
  for (const Quadratic& client : clients) {
    const double weight = by_examples ? client.examples : 1;
    hessian = hessian + weight * client.hessian;
    slope = slope + weight * client.slope;
  }
  return solve(hessian, slope);
}

void expect_rounds(const QuadraticFederation& federation, const std::string& algorithm,
                   const Settings& settings, const TestRunOptions& options, const ReferenceRound& next,
                   const AfterRound& after_each) {
  TestRun run(federation.task, algorithm, settings, options);
  const std::int64_t everyone = federation.population();
  Vector x = run.values();
  for (std::int64_t round = 1; round <= options.rounds; ++round) {
    const std::int64_t size = options.cohort_size > 0 ? options.cohort_size : everyone;
    x = next(x, draw_cohort(options.seed, round, everyone, size), round);
    const results::RoundRecord record = run->next_round();
    ASSERT_LE(length(run.values() - x), 1e-10 * length(x)) << "round " << round;
    if (after_each) after_each(run, record, x);
  }
}

QuadraticFederation quadratic_federation(const std::vector<std::int64_t>& sizes, std::int64_t features,
                                         std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  // Not std::normal_distribution, whose numbers differ between C++ libraries.
  const auto draw = [&] { return static_cast<double>(bits() >> 11) * 0x1.0p-53 * 2 - 1; };
  const auto d = static_cast<std::size_t>(features);

  std::vector<Quadratic> clients;
  Partition partition;
  std::vector<double> inputs, targets;
  std::int64_t next = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    Vector truth(d + 1), scale(d);
    for (double& value : truth) value = 2 * draw();
    for (double& value : scale) value = 0.6 + 0.6 * std::abs(draw());
    Quadratic client{torch::zeros({features + 1, features + 1}, torch::kFloat64), Vector(d + 1),
                     static_cast<double>(sizes[k])};
    std::vector<std::int64_t>& shard = partition.emplace_back();
    for (std::int64_t i = 0; i < sizes[k]; ++i) {
      Vector row(d + 1, 1.0);  // the last input is the bias
      for (std::size_t j = 0; j < d; ++j) row[j] = scale[j] * draw();
      double target = 0.1 * draw();
      for (std::size_t j = 0; j <= d; ++j) target += truth[j] * row[j];
      client.hessian += column_of(row).outer(column_of(row)) / client.examples;
      client.slope = client.slope + target / client.examples * row;
      inputs.insert(inputs.end(), row.begin(), row.end() - 1);
      targets.push_back(target);
      shard.push_back(next++);
    }
    clients.push_back(std::move(client));
  }
  const torch::Tensor x = torch::tensor(inputs, torch::kFloat64).view({next, features});
  const torch::Tensor y = torch::tensor(targets, torch::kFloat64).view({next, 1});
  return {regression_task(x, y, std::move(partition)), std::move(clients)};
}

}  // namespace fedarena
