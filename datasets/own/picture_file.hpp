#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fedarena {

/// What a picture is made of.
struct PictureForm {
  std::int64_t width = 0, height = 0;
  bool colour = false;

  bool operator==(const PictureForm&) const = default;
  std::int64_t channels() const { return colour ? 3 : 1; }
};

/// "28 x 28 grey", for messages: width, then height.
std::string in_words(const PictureForm& form);

/// Whether the name ends as PNG and JPEG files do: .png, .jpg or .jpeg, in any case.
bool is_picture_name(const std::filesystem::path& file);

/// A PNG or JPEG file, told by its first bytes. Throws Error when it is neither, damaged or cut off, or
/// larger than 4,096 pixels in a direction.
class PictureFile {
 public:
  explicit PictureFile(const std::filesystem::path& file);

  const PictureForm& form() const { return form_; }
  /// Appends the picture plane by plane, row by row, in 8 bits, grey or colour as asked for. What is
  /// transparent shows white paper.
  void append(bool colour, std::vector<std::uint8_t>& planes) const;

 private:
  void decode_png(bool colour, std::uint8_t* pixels) const;
  void decode_jpeg(bool colour, std::uint8_t* pixels) const;

  std::filesystem::path file_;
  std::vector<std::uint8_t> content_;
  bool png_ = false;
  PictureForm form_;
};

}  // namespace fedarena
