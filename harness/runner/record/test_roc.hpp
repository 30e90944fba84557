#pragma once

#include <atomic>
#include <optional>

#include "fedarena/base/pool.hpp"
#include "fedarena/model.hpp"
#include "fedarena/params.hpp"

#include "datasets/dataset.hpp"
#include "results/statistics/roc.hpp"

namespace fedarena {

/// The receiver operating characteristic of each class, one against the rest, by the model's class
/// probabilities (softmax, in double precision) on all test examples, read as they are; none on regression
/// data. The same bits for any number of workers. Throws Interrupted once `stop` is set.
std::optional<results::TestRoc> test_roc(const Params& params, const Dataset& dataset, const Model& model,
                                         const WorkPool& pool, const std::atomic<bool>& stop);

}  // namespace fedarena
