#include "results/images/synthetic_images.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

namespace fedarena::results {
namespace {

[[noreturn]] void refuse(const std::string& folder, std::string found, std::string allowed) {
  throw Error(Complaint{.place = {.file = folder},
                        .found = std::move(found),
                        .allowed = std::move(allowed),
                        .nearest = {},
                        .remedy = {}});
}

}  // namespace

std::span<const float> LabelledImages::image(std::size_t index) const {
  const auto size = static_cast<std::size_t>(channels * height * width);
  return std::span(pixels).subspan(index * size, size);
}

std::vector<std::int64_t> LabelledImages::classes() const {
  const std::set<std::int64_t> distinct(labels.begin(), labels.end());
  return {distinct.begin(), distinct.end()};
}

LabelledImages as_images(SyntheticSet set, const std::string& folder) {
  const std::vector<std::int64_t>& shape = set.images.shape;
  auto* pixels = std::get_if<std::vector<float>>(&set.images.values);
  if (pixels == nullptr || shape.size() != 4 || (shape[1] != 1 && shape[1] != 3) || pixels->empty()) {
    refuse(folder,
           fmt::format("the synthetic inputs are {} of the shape [{}], which no picture can show",
                       pixels == nullptr ? "int64" : "float32", fmt::join(shape, ", ")),
           "images: float32 [n, 1 or 3, height, width], at least one");
  }
  auto* labels = std::get_if<std::vector<std::int64_t>>(&set.labels.values);
  if (labels == nullptr || set.labels.shape != std::vector{shape[0]}) {
    refuse(folder,
           fmt::format("the labels are {} of the shape [{}]", labels == nullptr ? "float32" : "int64",
                       fmt::join(set.labels.shape, ", ")),
           fmt::format("a class for each image: int64 [{}]", shape[0]));
  }
  return {.channels = shape[1],
          .height = shape[2],
          .width = shape[3],
          .pixels = std::move(*pixels),
          .labels = std::move(*labels)};
}

}  // namespace fedarena::results
