#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace fedarena::results {

/// Numbers in a grid of any dimensions, the last index running fastest.
struct Array {
  std::vector<std::int64_t> shape;  ///< each >= 0; their product is the number of values
  std::variant<std::vector<float>, std::vector<std::int64_t>> values;

  bool operator==(const Array&) const = default;
};

/// The bytes of NumPy's format .npy, version 1.0: little-endian, C order. `numpy.load` reads them.
std::string to_npy(const Array& array);

/// The array in a .npy file of what to_npy() writes: version 1.0, float32 or int64, little-endian, C order.
/// An Error names the file and what is wrong with it.
Array read_npy(const std::filesystem::path& file);

}  // namespace fedarena::results
