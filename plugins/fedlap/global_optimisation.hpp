#pragma once

#include <vector>

#include <fedarena/algorithm.hpp>

#include "config.hpp"

namespace fedlap {

/// A client's synthetic set and its share N_k / N.
struct WeightedSet {
  fedarena::Batch set;
  double weight = 0;
};

/// Descent on synthetic sets (Algorithm 2), epoch by epoch.
class GlobalDescent {
 public:
  GlobalDescent(const Config& config, const fedarena::Compute& compute, std::vector<WeightedSet> sets,
                fedarena::Stream shuffles);

  /// One pass over the sets: SGD steps of that rate from `params`, each only while `params` is nearer to
  /// `start` than the radius. False when it is not any more.
  bool epoch(fedarena::Params& params, const fedarena::Params& start, double radius, double rate);

 private:
  bool union_epoch(fedarena::Params& params, const fedarena::Params& start, double radius, double rate);

  const Config& config_;
  const fedarena::Compute& compute_;
  std::vector<WeightedSet> sets_;
  fedarena::Batch union_;
  fedarena::Stream shuffles_;
};

/// The server's part of a round: radius r_g from the clients' messages, then the descent.
void optimise_globally(const Config& config, fedarena::Server& server, const fedarena::Uplink& uplink);

}  // namespace fedlap
