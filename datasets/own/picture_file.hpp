#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fedarena {

/// What a picture is made of, as it is looked at.
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

  /// Turned as the camera says (EXIF), if it says so.
  const PictureForm& form() const { return form_; }
  /// The SHA-256 of the file, as `sha256sum` prints it.
  std::string digest() const;
  /// Appends the picture plane by plane, row by row, in 8 bits, grey or colour as asked for. Shades are taken
  /// as they are stored, whatever the file says of gamma and colour profiles; 16 bits are rounded to 8. What
  /// is transparent shows white paper. Colour becomes grey as 0.299 red + 0.587 green + 0.114 blue (ITU-R
  /// BT.601).
  void append(bool colour, std::vector<std::uint8_t>& planes) const;

 private:
  // Pixel by pixel, row by row, with form_.channels() shades each.
  std::vector<std::uint8_t> decode_png() const;
  std::vector<std::uint8_t> decode_jpeg() const;
  std::size_t source_of(std::int64_t row, std::int64_t column) const;

  std::filesystem::path file_;
  std::vector<std::uint8_t> content_;
  bool png_ = false;
  int orientation_ = 1;  // as EXIF numbers them
  PictureForm form_;
};

}  // namespace fedarena
