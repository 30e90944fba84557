#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedarena/model_averaging.hpp"

namespace fedarena {

/// The hyper-parameters of methods whose clients send small sets of synthetic images in place of models:
/// derive your Config from it.
struct FEDARENA_API SyntheticSets {
  std::int64_t images_per_class = 50;
  std::string classes = "held";
  std::string image_init = "real";
  std::string image_encoding = "float32";

  static Schema<SyntheticSets> schema();
};

/// Entries of the messages below, beside `kExamples`.
inline constexpr Key<torch::Tensor> kImages{"images"};  ///< [n, input shape...]
inline constexpr Key<torch::Tensor> kLabels{"labels"};  ///< int64 [n]

/// The labels of a client's set: `images_per_class` of each of its classes, ascending; int64 [n], on the
/// model's device. Asks the oracle for the held classes unless `classes` is "all".
FEDARENA_API torch::Tensor balanced_labels(const SyntheticSets& config, Client& client);

/// What a client starts with: balanced labels, and images of those classes drawn from its examples, noise
/// where it holds too few (an exact access), or standard normal noise alone.
FEDARENA_API Batch initial_set(const SyntheticSets& config, Client& client);

/// What a client sends: its set, encoded as configured, and the number of its examples.
FEDARENA_API Message encode_set(const SyntheticSets& config, const Client& client, const Batch& set);

/// The set of a client's message or of a state, which may be empty; in the floating type and on the device of
/// `options`.
FEDARENA_API Batch decode_set(const Message& message, const torch::TensorOptions& options);

/// The sets of a cohort that are not empty, in client order. An exact access when the run privatises whole
/// messages.
FEDARENA_API std::vector<Batch> decode_sets(const Uplink& uplink, const torch::TensorOptions& options);

/// All examples of at least one set, in their order.
FEDARENA_API Batch union_of(const std::vector<Batch>& sets);

}  // namespace fedarena
