#pragma once

#include <vector>

#include <torch/types.h>

namespace fedarena {

/// A logistic regression on standardised features, fitted by Newton's method with a small ridge penalty,
/// which keeps it finite where the two kinds can be told apart without a fault.
class LogisticRegression {
 public:
  using Rows = std::vector<std::vector<double>>;

  /// One row of features an example, all of one length; at least one of either kind.
  LogisticRegression(const Rows& positives, const Rows& negatives);

  /// The logarithm of the odds that each is a positive.
  std::vector<double> logits(const Rows& rows) const;

 private:
  torch::Tensor mean_, deviation_, weights_;  // weights_: the constant last
};

}  // namespace fedarena
