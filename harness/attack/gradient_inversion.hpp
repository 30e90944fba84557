#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "fedarena/model.hpp"
#include "fedarena/random.hpp"

namespace fedarena {

/// How a shared gradient is turned back into examples.
enum class Inversion {
  kDlg,   ///< images and labels together: Zhu, Liu, Han, NeurIPS 2019, Algorithm 1
  kIdlg,  ///< of a single example; its label first, exactly: Zhao, Mopuri, Bilen, arXiv:2001.02610
};

/// What is known to who inverts a gradient.
struct SharedGradient {
  const Model& model;      ///< of double precision, with the loss kCrossEntropy
  const Params& at;        ///< where the gradient was taken
  const Params& gradient;  ///< of the mean loss over the examples, or something near it
  std::int64_t examples;   ///< how many there were, at least 1; 1 for kIdlg, else Error
};

/// What an inversion ends with.
struct Reconstruction {
  torch::Tensor inputs;  ///< [examples, input shape...], in the model's units; all numbers are finite
  torch::Tensor labels;  ///< int64 [examples]
  double distance =
      std::numeric_limits<double>::infinity();  ///< squared distance of their gradient from the shared one
  std::int64_t iterations = 0;                  ///< of the optimiser from all starts, each of up to 20 steps
};

/// How hard an inversion tries.
struct InversionEffort {
  std::int64_t iterations = 300;  ///< of the optimiser, at most
  std::int64_t starts = 1;  ///< from new random numbers, at most: none after one that found the gradient
};

/// Finds examples whose gradient is the shared one, by L-BFGS with LibTorch's defaults (step 1, 20 steps an
/// iteration, no line search) from standard normal inputs and, for kDlg, standard normal logits of soft
/// labels. A start ends when the optimiser stands still, too, or has left for numbers that are not finite;
/// returns the nearest examples on all ways. Throws Interrupted once `stop` is set.
Reconstruction invert(const SharedGradient& shared, Inversion method, const InversionEffort& effort,
                      Stream stream, const std::atomic<bool>& stop);

/// The label of the one example: the class whose last bias has the lowest gradient, which is the only
/// negative one where nobody added noise. Error when the model's last parameters are not one number a class.
std::int64_t label_of(const Model& model, const Params& gradient);

}  // namespace fedarena
