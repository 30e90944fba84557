#include "datasets/published/cifar.hpp"

#include <fmt/format.h>

#include "datasets/published/published_files.hpp"

namespace fedarena {

Examples read_cifar(const std::filesystem::path& file, const CifarLayout& layout) {
  constexpr std::int64_t kChannels = 3;
  const auto labels = static_cast<std::int64_t>(layout.classes.size());
  const std::int64_t record = labels + kChannels * layout.side * layout.side;
  const auto expected = static_cast<std::size_t>(layout.records * record);
  auto content = read_content(file, expected + 1);
  check_size(file, content.size(), expected, fmt::format("{} records of {}", layout.records, record));
  for (std::int64_t i = 0; i < layout.records; ++i) {
    for (std::int64_t byte = 0; byte < labels; ++byte) {
      const std::uint8_t label = content[static_cast<std::size_t>(i * record + byte)];
      const std::int64_t classes = layout.classes[static_cast<std::size_t>(byte)];
      if (label < classes) continue;
      const std::string which = labels == 1 ? "the label" : fmt::format("label byte {}", byte + 1);
      reject_file(file, fmt::format("{} of record {} (counting from 0) is {}", which, i, label),
                  fmt::format("0 to {}", classes - 1));
    }
  }
  check_sha256(file, content, layout.sha256);

  const auto records = torch::from_blob(content.data(), {layout.records, record}, torch::kUInt8);
  // clone: the blob dies with `content`
  return {records.slice(1, labels)
              .clone(torch::MemoryFormat::Contiguous)
              .view({layout.records, kChannels, layout.side, layout.side}),
          records.select(1, static_cast<std::int64_t>(layout.label)).to(torch::kInt64),
          {}};
}

}  // namespace fedarena
