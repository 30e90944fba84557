#pragma once

#include <string>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/schema.hpp"
#include "fedarena/model.hpp"
#include "fedarena/params.hpp"

namespace fedarena {

struct Client;

/// How far apart two gradients are (Wang, Chen, Kerkouche, Fritz, PoPETs 2024(3), Equations 9, 10 and 21):
/// for each tensor of the layout a sum of row-wise cosine distances and a squared distance. A row is
/// everything that belongs to one output channel (the first dimension); a tensor of one dimension is one row.
/// The hyper-parameters of methods that match gradients: derive your Config from it.
struct FEDARENA_API GradientMatching {
  std::string criterion = "cosine+squared";
  double squared_weight = 0.1;
  std::string cosine_rows = "sum";

  static Schema<GradientMatching> schema();
};

/// A distance and its derivative.
struct FEDARENA_API MatchingDistance {
  double value = 0;
  Params slope;  ///< d value / d `matched`
};

/// The distance of `matched` from `target`. A row that is zero in either, up to the gradient's rounding, has
/// cosine distance 1 and no slope.
FEDARENA_API MatchingDistance matching_distance(const Params& matched, const Params& target,
                                                const GradientMatching& how);

/// The derivative in the images, in their shape, of the distance of their gradient at `at` from `target`. The
/// client observes the distance as "matching-loss".
FEDARENA_API torch::Tensor matching_slope(const GradientMatching& how, const Client& client, const Params& at,
                                          const Batch& images, const Params& target);

}  // namespace fedarena
