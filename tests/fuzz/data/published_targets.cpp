// The formats of published sets, each in a size of its own; as if no digest of the files were known.
#include <array>
#include <hdf5.h>

#include "datasets/published/formats.hpp"
#include "tests/fuzz/data/data_targets.hpp"
#include "tests/fuzz/driver/memory_file.hpp"
#include "tests/scratch.hpp"

namespace fedarena::fuzz {
namespace {

void read_images(std::string_view bytes) {
  const MemoryFile file(bytes);
  read_idx(file.path(), {.shape = {2, 2, 2}, .classes = 0, .sha256 = {}});
}

void read_records(std::string_view bytes) {
  const MemoryFile file(bytes);
  read_cifar(file.path(), {.records = 2, .side = 2, .classes = {2}});
}

void read_hdf5(std::string_view bytes) {
  const test::Scratch scratch;  // the library looks for the file by its name again
  read_emnist_h5(scratch.write("train.h5", bytes), {.side = 1, .classes = 4});
}

void read_leaf(std::string_view bytes) {
  const MemoryFile file(bytes);
  UserImages images;
  append_leaf_json(file.path(), {.pixels = 2, .classes = 4}, images);
}

std::string idx() { return std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16) + "abcdefgh"; }

std::string cifar() {
  std::string records(26, 'x');
  records[0] = 1;
  records[13] = 0;
  return records;
}

void put(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& shape, const void* data) {
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(set);
  H5Sclose(space);
}

std::string hdf5() {
  const test::Scratch scratch;
  const std::string path = (scratch / "train.h5").string();
  const std::array<float, 2> pixels = {0, 1};
  const std::array<int, 2> labels = {3, 0};
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t examples = H5Gcreate2(file, "examples", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t client = H5Gcreate2(examples, "f0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(client, "pixels", H5T_NATIVE_FLOAT, {2, 1, 1}, pixels.data());
  put(client, "label", H5T_NATIVE_INT, {2}, labels.data());
  H5Gclose(client);
  H5Gclose(examples);
  H5Fclose(file);
  return test::content_of(path);
}

}  // namespace

std::vector<Target> published_targets() {
  return {
      {.name = "idx", .read = read_images, .seeds = {idx()}},
      {.name = "cifar", .read = read_records, .seeds = {cifar()}},
      {.name = "hdf5", .read = read_hdf5, .seeds = {hdf5()}},
      {.name = "leaf",
       .read = read_leaf,
       .seeds = {R"({"users": ["ann", "bob"], "num_samples": [2, 0], "hierarchies": [], "user_data": )"
                 R"({"ann": {"x": [[0.0, 1.0], [0.2, 0.50196]], "y": [3, 0]}, "bob": {"x": [], "y": []}}})"},
       .json = true}};
}

}  // namespace fedarena::fuzz
