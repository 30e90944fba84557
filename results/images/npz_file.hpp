#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "results/images/npy_file.hpp"

namespace fedarena::results {

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
