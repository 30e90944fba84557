#include "tests/conformance/quadratics.hpp"

#include <cmath>
#include <random>
#include <utility>

#include "harness/simulation/cohort.hpp"

namespace fedarena {

Matrix zero_matrix(std::size_t rows, std::size_t columns) {
  return {rows, columns, std::vector<double>(rows * columns)};
}

Matrix identity(std::size_t size) {
  Matrix result = zero_matrix(size, size);
  for (std::size_t i = 0; i < size; ++i) result.at(i, i) = 1;
  return result;
}

Matrix operator+(const Matrix& left, const Matrix& right) {
  Matrix sum = left;
  for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += right.values[i];
  return sum;
}

Matrix operator*(double factor, const Matrix& matrix) {
  Matrix product = matrix;
  for (double& value : product.values) value *= factor;
  return product;
}

Matrix operator*(const Matrix& left, const Matrix& right) {
  Matrix product = zero_matrix(left.rows, right.columns);
  for (std::size_t i = 0; i < left.rows; ++i) {
    for (std::size_t j = 0; j < right.columns; ++j) {
      for (std::size_t k = 0; k < left.columns; ++k) product.at(i, j) += left.at(i, k) * right.at(k, j);
    }
  }
  return product;
}

Vector operator*(const Matrix& matrix, const Vector& vector) {
  Vector product(matrix.rows);
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.columns; ++j) product[i] += matrix.at(i, j) * vector[j];
  }
  return product;
}

Matrix power(const Matrix& matrix, std::int64_t exponent) {
  Matrix result = identity(matrix.rows);
  for (std::int64_t i = 0; i < exponent; ++i) result = result * matrix;
  return result;
}

Vector solve(Matrix matrix, Vector right) {
  const std::size_t size = right.size();
  for (std::size_t column = 0; column < size; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < size; ++row) {
      if (std::abs(matrix.at(row, column)) > std::abs(matrix.at(pivot, column))) pivot = row;
    }
    for (std::size_t j = 0; j < size; ++j) std::swap(matrix.at(column, j), matrix.at(pivot, j));
    std::swap(right[column], right[pivot]);
    for (std::size_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const double factor = matrix.at(row, column) / matrix.at(column, column);
      for (std::size_t j = 0; j < size; ++j) matrix.at(row, j) -= factor * matrix.at(column, j);
      right[row] -= factor * right[column];
    }
  }
  for (std::size_t i = 0; i < size; ++i) right[i] /= matrix.at(i, i);
  return right;
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
  if (momentum == 0) {
    return optimum + power(identity(size) + (-rate * a), steps) * (start - optimum);
  }
  // v' = momentum v + A e, e' = e - rate v'
  Matrix step = zero_matrix(2 * size, 2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    step.at(i, i) = 1;
    step.at(i, size + i) = -rate * momentum;
    step.at(size + i, size + i) = momentum;
    for (std::size_t j = 0; j < size; ++j) {
      step.at(i, j) -= rate * a.at(i, j);
      step.at(size + i, j) = a.at(i, j);
    }
  }
  Vector state = start - optimum;
  state.resize(2 * size);
  state = power(step, steps) * state;
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

double QuadraticFederation::examples() const {
  double sum = 0;
  for (const Quadratic& client : clients) sum += client.examples;
  return sum;
}

Vector QuadraticFederation::optimum(bool by_examples) const {
  const std::size_t size = clients.front().slope.size();
  Matrix hessian = zero_matrix(size, size);
  Vector slope(size);
  for (const Quadratic& client : clients) {
    const double weight = by_examples ? client.examples : 1;
    hessian = hessian + weight * client.hessian;
    slope = slope + weight * client.slope;
  }
  return solve(hessian, slope);
}

void expect_rounds(const QuadraticFederation& federation, const std::string& algorithm,
                   const Settings& settings, const TestRunOptions& options, const ReferenceRound& next,
                   const std::function<void(TestRun&)>& after_each) {
  TestRun run(federation.task, algorithm, settings, options);
  const std::int64_t everyone = federation.population();
  Vector x = run.values();
  for (std::int64_t round = 1; round <= options.rounds; ++round) {
    const std::int64_t size = options.cohort_size > 0 ? options.cohort_size : everyone;
    x = next(x, choose_cohort(options.seed, round, everyone, size), round);
    run->next_round();
    ASSERT_LE(length(run.values() - x), 1e-10 * length(x)) << "round " << round;
    if (after_each) after_each(run);
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
    Quadratic client{zero_matrix(d + 1, d + 1), Vector(d + 1), static_cast<double>(sizes[k])};
    std::vector<std::int64_t>& shard = partition.emplace_back();
    for (std::int64_t i = 0; i < sizes[k]; ++i) {
      Vector row(d + 1, 1.0);  // the last input is the bias
      for (std::size_t j = 0; j < d; ++j) row[j] = scale[j] * draw();
      double target = 0.1 * draw();
      for (std::size_t j = 0; j <= d; ++j) target += truth[j] * row[j];
      for (std::size_t a = 0; a <= d; ++a) {
        for (std::size_t b = 0; b <= d; ++b) client.hessian.at(a, b) += row[a] * row[b] / client.examples;
        client.slope[a] += row[a] * target / client.examples;
      }
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
