#pragma once

#include <cstdint>
#include <filesystem>

#include "datasets/published/user_images.hpp"

namespace fedarena {

/// What the files of a LEAF data set of grey images hold.
struct LeafLayout {
  std::int64_t pixels = 28 * 28;  ///< of an image
  std::int64_t classes = 62;      ///< labels lie in [0, classes)
};

/// Appends what one file (plain or gzip) of LEAF holds: JSON with `users`, `num_samples` and, for each user,
/// `user_data[user]` with `x`, a list of numbers k/255 for every image, and `y`, the labels. Throws Error on
/// text that is not JSON of this form, an image of another size, a number that is not k/255, a label out of
/// range, and counts that do not agree, with the user and the image. Format: github.com/TalwalkarLab/leaf.
void append_leaf_json(const std::filesystem::path& file, const LeafLayout& layout, UserImages& images);

/// For files that LEAF made on the user's machine.
inline constexpr const char* kLeafRemedy = "Have LEAF make the file again, or copy it again";

}  // namespace fedarena
