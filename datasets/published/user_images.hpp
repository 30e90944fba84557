#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/own/name_numbers.hpp"

namespace fedarena {

/// The images of some people, one person after the other.
struct UserImages {
  std::vector<std::uint8_t> pixels;  ///< image by image
  std::vector<std::int64_t> labels;  ///< one an image
  struct User {
    std::string name;
    std::int64_t images;
  };
  std::vector<User> users;  ///< in the order of their images
};

/// 255 * value, where this is a whole number from 0 to 255 but for the digits that a text or a float loses;
/// otherwise -1.
int shade_of(double value);

/// Says how shades of ink on paper become inputs: standardised by the mean and the deviation that public code
/// uses for FEMNIST, or from 0 for ink to 1 for paper.
void set_shades(Dataset& dataset, bool standardise);

/// As grey examples of side x side pixels, which keep `images` alive rather than copy it. `users` numbers
/// their owners.
Examples to_examples(const std::shared_ptr<UserImages>& images, std::int64_t side, NameNumbers& users);

}  // namespace fedarena
