#pragma once

#include <cstdint>
#include <filesystem>

#include "datasets/published/user_images.hpp"

namespace fedarena {

/// What a file of the federated EMNIST holds.
struct EmnistLayout {
  std::int64_t side = 28;     ///< of an image, in pixels
  std::int64_t classes = 62;  ///< labels lie in [0, classes)
};

/// Reads one HDF5 file with `examples/CLIENT/pixels`, numbers k/255 [images, side, side], and
/// `examples/CLIENT/label`, integers [images]; clients by name. Throws Error on a file that is not HDF5's, on
/// data sets that are missing, damaged or of another form, a number that is not k/255, and a label out of
/// range, with the client. Format: tensorflow_federated, simulation.datasets.emnist.
UserImages read_emnist_h5(const std::filesystem::path& file, const EmnistLayout& layout);

}  // namespace fedarena
