#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "datasets/dataset.hpp"
#include "partitions/partition.hpp"

namespace fedarena {

// Plain dense algebra for reference trajectories; it shares no code with what is tested.
using Vector = std::vector<double>;

struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;
  double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

Matrix zero_matrix(std::size_t rows, std::size_t columns);
Matrix identity(std::size_t size);
Matrix operator+(const Matrix& left, const Matrix& right);
Matrix operator*(double factor, const Matrix& matrix);
Matrix operator*(const Matrix& left, const Matrix& right);
Vector operator*(const Matrix& matrix, const Vector& vector);
Matrix power(const Matrix& matrix, std::int64_t exponent);
/// Solves matrix * x = right by elimination with pivots.
Vector solve(Matrix matrix, Vector right);

Vector operator+(const Vector& left, const Vector& right);
Vector operator-(const Vector& left, const Vector& right);
Vector operator*(double factor, const Vector& vector);
double length(const Vector& vector);

/// A client of a linear regression: its mean loss is 1/2 x'Ax - v'x + constant in x = (weights, bias).
struct Quadratic {
  Matrix hessian;  ///< A
  Vector slope;    ///< v
  double examples = 0;

  Vector gradient(const Vector& at) const { return hessian * at - slope; }
  Vector optimum() const { return solve(hessian, slope); }
};

/// Where `steps` steps of gradient descent with momentum end, in closed form: the error from the optimum is
/// multiplied by (I - rate A) each step, or with momentum, (error, velocity) by a block matrix.
Vector descend(const Quadratic& problem, const Vector& start, double rate, std::int64_t steps,
               double momentum = 0);

/// A regression whose clients differ in their inputs' covariance, in their true weights and in size. Features
/// of the clients are scaled so that every Hessian's largest eigenvalue is below 3: rates up to 0.3 are
/// stable.
struct QuadraticFederation {
  Dataset dataset;
  Partition partition;
  std::vector<Quadratic> clients;

  std::int64_t population() const { return static_cast<std::int64_t>(clients.size()); }
  double examples() const;
};

/// One round of model averaging: x + server_rate * sum_k p_k (train(k, x) - x) over the cohort.
Vector average_round(const QuadraticFederation& federation, const std::vector<std::int64_t>& cohort,
                     const Vector& x, bool by_examples, double server_rate,
                     const std::function<Vector(const Quadratic&, const Vector&)>& train);

QuadraticFederation quadratic_federation(const std::vector<std::int64_t>& sizes, std::int64_t features = 3,
                                         std::uint64_t seed = 11);

}  // namespace fedarena
