#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fedarena::results {

/// Numbers in a grid of any dimensions, the last index running fastest.
struct Array {
  std::vector<std::int64_t> shape;  ///< each >= 0; their product is the number of values
  std::variant<std::vector<float>, std::vector<std::int64_t>, std::vector<double>> values;

  bool operator==(const Array&) const = default;
};

/// "float32", "float64" or "int64".
std::string type_of(const Array& array);

/// The bytes of NumPy's format .npy, version 1.0: little-endian, C order. `numpy.load` reads them.
std::string to_npy(const Array& array);

/// The array in the bytes of what to_npy() writes: version 1.0, float32, float64 or int64, little-endian, C
/// order. An Error has the file's name, what is wrong with it, and the remedy.
Array parse_npy(std::string_view text, const std::filesystem::path& file, const std::string& remedy);

/// The same of a file of a run directory.
Array read_npy(const std::filesystem::path& file);

}  // namespace fedarena::results
