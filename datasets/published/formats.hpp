#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/own/name_numbers.hpp"

// The formats of published sets.
namespace fedarena {

/// What an IDX file of unsigned bytes has to be.
struct IdxLayout {
  std::vector<std::int64_t> shape;  ///< such as [60000, 28, 28] for images or [60000] for labels
  std::int64_t classes = 0;         ///< above 0: every byte is a label in [0, classes)
  std::string sha256;               ///< of the uncompressed file; empty: any content of the right form
};

/// The bytes of an IDX file (plain or gzip) as uint8 of `layout.shape`. The format is the one of the MNIST
/// page: big-endian words 0x0000'08dd with dd dimensions, then each dimension, then the bytes, last dimension
/// fastest. Throws Error on a wrong magic number, other dimensions, too few or too many bytes, a label out of
/// range, or another SHA-256, in this order.
torch::Tensor read_idx(const std::filesystem::path& file, const IdxLayout& layout);

/// What one file of the binary version of CIFAR-10 or CIFAR-100 has to be.
struct CifarLayout {
  std::int64_t records = 10'000;
  std::int64_t side = 32;  ///< of an image, in pixels; an image has three channels
  /// One number of classes for each label byte that a record begins with; a label lies in [0, classes).
  std::vector<std::int64_t> classes = {10};
  std::size_t label = 0;    ///< which of the label bytes becomes the target
  std::string sha256 = {};  ///< of the uncompressed file; empty: any content of the right form
};

/// One file (plain or gzip) of records: the label bytes, then the red, the green and the blue plane, row by
/// row. Gives uint8 [records, 3, side, side] and int64 [records]. Throws Error on too few or too many bytes,
/// a label out of range, or another SHA-256, in this order. Format: www.cs.toronto.edu/~kriz/cifar.html,
/// "Binary version".
Examples read_cifar(const std::filesystem::path& file, const CifarLayout& layout);

/// What one file of SVHN's cropped digits has to be.
struct SvhnLayout {
  std::int64_t images = 0;
  std::int64_t side = 32;   ///< of an image, in pixels; an image has three channels
  std::string sha256 = {};  ///< of the file; empty: any content of the right form
};

/// One MATLAB 5 file with `X`, uint8 [side, side, 3, images], and `y`, uint8 [images, 1], where label 10
/// stands for the digit 0. Gives uint8 [images, 3, side, side] and int64 [images], the digits. Throws Error
/// on another SHA-256, on a file that is not MATLAB's, on a variable that is missing, damaged or of another
/// form, and on a label out of range, in this order. Format: ufldl.stanford.edu/housenumbers, "Cropped
/// Digits".
Examples read_svhn(const std::filesystem::path& file, const SvhnLayout& layout);

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
