#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/attack/gradient_inversion.hpp"
#include "harness/attack/image_quality.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/images/synthetic_folder.hpp"

namespace fedarena {

/// What an honest but curious server inverts.
struct UplinkInversion {
  Simulation& simulation;            ///< of which the next round is looked at
  const SimulationSetup& setup;      ///< what it was made of
  const Settings& hyper_parameters;  ///< of the algorithm: its learning rate is known to the server
  Inversion method = Inversion::kDlg;
  InversionEffort effort = {};
  /// Called, by one thread at a time, with the number of clients whose uplink is inverted, unless empty.
  std::function<void(std::size_t done)> tell = {};
};

/// One example of a client, beside what was made of the client's uplink.
struct InvertedExample {
  std::int64_t label = 0, guess = 0;
  ImageQuality quality;
  torch::Tensor original, reconstruction;  ///< [channels, height, width] in pixels, float32
};

struct InvertedUplink {
  std::int64_t client = 0;
  std::int64_t gradients = 0;  ///< how many the client had asked for: only one is what methods are made for
  double distance = 0;         ///< squared distance of the gradients in the end
  std::vector<InvertedExample> examples;
};

/// Reconstructs the examples of the last gradient of each of the clients, all at once on the simulation's
/// pool; the same bits for any number of workers. The number of examples is known; which of them is which is
/// chosen as it fits best. Error where there are no images with classes, where a client sends nothing that
/// the mean of its gradients can be derived from, or where it has no examples.
std::vector<InvertedUplink> invert_uplinks(const UplinkInversion& attack,
                                           const std::vector<std::int64_t>& clients);

/// The gradient that a message gives away: its entry "gradient"; or -"update" / rate ("model_update" as
/// well), where the update is one of SGD steps whose rates sum to `rate`. Error when it has neither.
Params gradient_in(const Message& message, double rate);

/// Pairs of original and reconstruction, a row each.
results::LabelledImages side_by_side(const std::vector<InvertedUplink>& inverted);

/// The share of examples that were reconstructed: mse < kRecognisable.
double success_share(const std::vector<InvertedUplink>& inverted);

}  // namespace fedarena
