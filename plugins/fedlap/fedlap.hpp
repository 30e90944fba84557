#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fedarena/local_training.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/set_descent.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace fedlap {

/// The hyper-parameters of FedLAP; defaults are those of the paper's run without privacy (Section 6.1 and the
/// public code), but for a constant rate. The rate is that of the model, on clients and server.
struct Config : fedarena::RateSchedule,
                fedarena::GradientMatching,
                fedarena::SyntheticSets,
                fedarena::ImageTraining,
                fedarena::SetTraining {
  Config() {
    rate = 0.1;
    image_rate = 100;
  }

  bool carry_images = false;

  // Local approximation, Algorithm 1.
  std::int64_t trajectories = 1;   // R_i
  std::int64_t outer_steps = 5;    // turns of the while loop, at most
  std::int64_t real_batches = 40;  // in each of them
  std::int64_t image_updates = 5;  // R_b, for each real batch
  std::int64_t model_steps = 0;    // R_l
  std::int64_t batch_size = 256;
  std::string augmentation = "color_crop_cutout_flip_scale_rotate";
  double radius = 10;  // r

  // Global optimisation, Algorithm 2.
  std::string server_radius = "min";
  std::string region = "loss";
  double region_bound = 1;
  std::string server_descent = "union";
  bool server_calibration = false;  // Equation 20

  static fedarena::Schema<Config> schema();
  /// Throws Error for an unknown augmentation, and for calibration without gradients set by set.
  void validate() const;

  /// Whether clients measure r_k on their examples (Figure 2).
  bool measures_regions() const {
    return server_radius == "min" || server_radius == "median" || server_radius == "max";
  }
};

/// FedLAP-DP: the paper's run with privacy. Nothing but privatised gradients depends on examples.
struct PrivateConfig : Config {
  PrivateConfig() {
    rate = 0.002;
    schedule = "cosine";
    images_per_class = 10;
    classes = "all";
    image_init = "noise";
    carry_images = true;
    trajectories = 4;
    real_batches = 10;
    model_steps = 2;
    radius = 1.5;
    server_radius = "constant";
  }

  static fedarena::Schema<PrivateConfig> schema();
};

/// Entries of a client's message beside its set: where clients measure a radius, and where they calibrate.
inline constexpr fedarena::Key<double> kRadius{"radius"};
inline constexpr fedarena::Key<torch::Tensor> kNorms{"norms"};  ///< as of `tensor_norms`

/// A client's synthetic set, its share N_k / N, and the `tensor_norms` that its gradients are calibrated to;
/// undefined: they stay as they are.
struct WeightedSet {
  fedarena::Batch set;
  double weight = 1;
  torch::Tensor norms = {};
};

/// The Euclidean norm of each tensor of the layout; float64 [tensors], on the CPU.
torch::Tensor tensor_norms(const fedarena::Params& gradient);

/// Equation 20: scales each tensor of the gradient to its entry of `norms`; one that is zero stays so.
void calibrate(fedarena::Params& gradient, const torch::Tensor& norms);

/// Descent on synthetic sets (Algorithm 2), epoch by epoch; at least one set, none of them empty.
class GlobalDescent {
 public:
  GlobalDescent(const Config& config, const fedarena::Compute& compute, std::vector<WeightedSet> sets,
                fedarena::Stream shuffles);

  /// One pass over the sets: SGD steps of that rate from `params`, each only while `params` is nearer to
  /// `start` than the radius. False when it is not any more.
  bool epoch(fedarena::Params& params, const fedarena::Params& start, double radius, double rate);

 private:
  void weighted_step(fedarena::Params& params, double rate) const;

  const fedarena::Compute& compute_;
  std::vector<WeightedSet> sets_;
  std::optional<fedarena::SetDescent> on_union_;  // none: steps along the weighted mean
};

/// The server's part of a round: radius r_g from the clients' messages, then the descent.
void optimise_globally(const Config& config, fedarena::Server& server, const fedarena::Uplink& uplink);

/// Algorithm 1 (with privatised gradients Algorithm 3): moves the images of `set` so that its gradients match
/// those of the client's examples along walks from `start` within the radius.
void approximate(const Config& config, fedarena::Client& client, const fedarena::Params& start,
                 fedarena::Batch& set);

/// r_k: how far from `start` the set, descended on as the server does, serves the client's examples; at most
/// the radius (Section 4.2, Figure 2). Looks at the examples.
double effective_radius(const Config& config, fedarena::Client& client, const fedarena::Params& start,
                        const WeightedSet& own);

}  // namespace fedlap
