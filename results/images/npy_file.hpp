#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
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

/// Arrays, each under a name of its own.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// The bytes of NumPy's format .npz: a zip archive, not compressed, with a .npy file for each array, in their
/// order. `numpy.load` reads them.
std::string to_npz(const NamedArrays& arrays);

/// The arrays in what to_npz(), numpy.savez or numpy.savez_compressed wrote, of the types that read_npy()
/// reads; Python objects are refused like any other type. An Error names the file and what is wrong with it.
NamedArrays read_npz(const std::filesystem::path& file);

/// The SHA-256 of names, types, shapes and values, whatever their order and however they are packed.
std::string content_hash(const NamedArrays& arrays);

}  // namespace fedarena::results
