#pragma once

#include <cstddef>
#include <cstdint>
#include <png.h>
#include <turbojpeg.h>

#include <gtest/gtest.h>

#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {

inline Bytes png(png_uint_32 format, int width, int height, const Bytes& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = format;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  png_alloc_size_t size = 0;
  EXPECT_NE(png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr), 0);
  Bytes content(size);
  EXPECT_NE(png_image_write_to_memory(&image, content.data(), &size, 0, pixels.data(), 0, nullptr), 0);
  content.resize(size);
  return content;
}

inline Bytes grey(int width, int height, std::uint8_t shade) {
  return png(PNG_FORMAT_GRAY, width, height, Bytes(static_cast<std::size_t>(width * height), shade));
}

inline void append_number(Bytes& bytes, std::uint32_t number) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
}

/// A chunk of a PNG.
inline Bytes chunk(const std::string& name, const Bytes& data) {
  Bytes named(name.begin(), name.end());
  named.insert(named.end(), data.begin(), data.end());
  Bytes whole;
  append_number(whole, static_cast<std::uint32_t>(data.size()));
  whole.insert(whole.end(), named.begin(), named.end());
  append_number(whole,
                static_cast<std::uint32_t>(crc32(0, named.data(), static_cast<unsigned>(named.size()))));
  return whole;
}

/// A PNG of these samples as they are, row by row, with further chunks before them. `colour_type` as PNG has
/// it: 0 grey, 2 colour, 4 grey with opacity; `interlacing`: 1 for that of Adam7, which leaves a single pixel
/// as it is.
inline Bytes stored_png(std::uint8_t depth, std::uint8_t colour_type, std::uint32_t width,
                        std::uint32_t height, const Bytes& samples, const Bytes& further = {},
                        std::uint8_t interlacing = 0) {
  Bytes head;
  append_number(head, width);
  append_number(head, height);
  head.insert(head.end(), {depth, colour_type, 0, 0, interlacing});
  Bytes rows;
  const std::size_t row = samples.size() / height;
  for (std::size_t i = 0; i < height; ++i) {
    rows.push_back(0);  // no filter
    rows.insert(rows.end(), samples.begin() + static_cast<std::ptrdiff_t>(i * row),
                samples.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
  }
  uLongf size = compressBound(rows.size());
  Bytes packed(size);
  EXPECT_EQ(compress(packed.data(), &size, rows.data(), rows.size()), Z_OK);
  packed.resize(size);
  Bytes content = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  for (const Bytes& part : {chunk("IHDR", head), further, chunk("IDAT", packed), chunk("IEND", {})})
    content.insert(content.end(), part.begin(), part.end());
  return content;
}

inline Bytes jpeg(int format, int width, int height, const Bytes& pixels, int sampling = TJSAMP_444) {
  tjhandle compressor = tjInitCompress();
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(tjCompress2(compressor, pixels.data(), width, 0, height, format, &buffer, &size,
                        format == TJPF_GRAY ? TJSAMP_GRAY : sampling, 100, 0),
            0);
  Bytes content(buffer, buffer + size);
  tjFree(buffer);
  tjDestroy(compressor);
  return content;
}

}  // namespace fedarena
