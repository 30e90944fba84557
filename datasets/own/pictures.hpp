#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/own/picture_file.hpp"

namespace fedarena {

/// The classes of a folder: its folders, by name. None where it holds no folder; throws Error for one class,
/// for classes whose names hardly differ, and for what cannot be read.
std::vector<std::string> classes_of(const std::filesystem::path& folder);

/// The pictures of one or two folders of folders, all of one form.
class Pictures {
 public:
  /// `colour`: "as-is", "grey" or "colour". `classes`: which folders there may be, as classes_of() has them.
  Pictures(const std::string& colour, std::vector<std::string> classes);

  /// Pictures, and the SHA-256 of the files they are from.
  struct Read {
    Examples examples;
    std::vector<std::string> digests;  ///< one an example, ascending
  };

  /// All pictures of FOLDER/CLASS/, by the SHA-256 of their files: partitions are dealt, and examples drawn
  /// for validation, by position, so that in an order which knows no class, who holds which pictures does not
  /// tell their labels. Throws Error, with the file, for a class without pictures and for a picture of
  /// another form.
  Read read(const std::filesystem::path& folder);

  /// What was taken for training and testing, in lines for a terminal.
  std::string taken(const Dataset& dataset, bool tells_labels) const;

 private:
  void pass_over(const std::vector<std::filesystem::path>& others);
  std::size_t label_of(const std::filesystem::path& class_folder) const;
  std::string append(const std::filesystem::path& file, std::vector<std::uint8_t>& planes);

  std::string choice_;
  std::vector<std::string> classes_;
  std::vector<std::filesystem::path> passed_over_;
  std::optional<PictureForm> form_;  // of the first picture
  std::filesystem::path first_;
};

}  // namespace fedarena
