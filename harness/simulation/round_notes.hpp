#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/compute.hpp"
#include "fedarena/observations.hpp"

#include "harness/oracle/example_reader.hpp"
#include "results/images/npy_file.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// What an algorithm tells of a round for people to look at. Nothing else rests on it.
struct RoundNotes {
  Batch synthetic = {};
  Observations observed = {};
  std::vector<std::int64_t> choices = {};  ///< of the cohort, in its order
};

/// The mean of each name over a round, names ascending. Error for a name of the harness's own measures.
std::vector<std::pair<std::string, double>> observed_means(const Observations& observed);

/// Which model each client chose; none where nothing was noted. Error unless there is one, from 0, for each
/// client of the cohort.
std::vector<results::ModelChoice> choices_of(std::span<const std::int64_t> cohort,
                                             std::span<const std::int64_t> choices);

/// An algorithm's synthetic batch as people look at it: inputs float32 in pixel units
/// (ExampleReader::pixels), targets as they are, of class probabilities the likeliest class, copied to the
/// CPU. A batch of nothing is empty. Error when the inputs are not of the model's shape, as many as the
/// targets, or the targets are not classes where the model has classes.
Batch in_pixels(const Batch& synthetic, const ExampleReader& reader, const Model& model);

/// The values of a contiguous tensor on the CPU; what is not int64 becomes float32.
results::Array to_array(const torch::Tensor& tensor);

}  // namespace fedarena
