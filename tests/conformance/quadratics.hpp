#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/conformance/federations.hpp"

namespace fedarena {

// Reference trajectories: plain vectors, and matrices in double precision, whose powers and inverses nothing
// that is tested computes.
using Vector = std::vector<double>;
using Matrix = torch::Tensor;

Matrix identity(std::size_t size);
Vector operator*(const Matrix& matrix, const Vector& vector);
/// Solves matrix * x = right.
Vector solve(const Matrix& matrix, const Vector& right);

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
  Task task;
  std::vector<Quadratic> clients;

  std::int64_t population() const { return static_cast<std::int64_t>(clients.size()); }
  /// Of the mean of the clients' losses.
  Vector optimum(bool by_examples) const;
};

/// One round of model averaging: x + server_rate * sum_k p_k (train(k, x) - x) over the cohort.
Vector average_round(const QuadraticFederation& federation, const std::vector<std::int64_t>& cohort,
                     const Vector& x, bool by_examples, double server_rate,
                     const std::function<Vector(const Quadratic&, const Vector&)>& train);

/// Checks the weights after every round: `next` says where the reference goes from x with the round's cohort,
/// and `after_each` may look at more of the run.
using ReferenceRound =
    std::function<Vector(const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t round)>;
using AfterRound = std::function<void(TestRun&, const results::RoundRecord&, const Vector& x)>;
void expect_rounds(const QuadraticFederation& federation, const std::string& algorithm,
                   const Settings& settings, const TestRunOptions& options, const ReferenceRound& next,
                   const AfterRound& after_each = {});

QuadraticFederation quadratic_federation(const std::vector<std::int64_t>& sizes, std::int64_t features = 3,
                                         std::uint64_t seed = 11);

}  // namespace fedarena
