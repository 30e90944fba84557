#pragma once

#include "fedarena/model.hpp"

#include "harness/oracle/example_reader.hpp"
#include "results/images/npy_file.hpp"

namespace fedarena {

/// An algorithm's synthetic batch as people look at it: inputs float32 in pixel units
/// (ExampleReader::pixels), targets as they are, copied to the CPU. An empty batch stays empty. Error when
/// the inputs are not of the model's shape, as many as the targets.
Batch in_pixels(const Batch& synthetic, const ExampleReader& reader, const Model& model);

/// The values of a contiguous tensor on the CPU; what is not int64 becomes float32.
results::Array to_array(const torch::Tensor& tensor);

}  // namespace fedarena
