#include "datasets/cifar10.hpp"

#include <fmt/format.h>

#include "datasets/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {

Examples read_cifar(const std::filesystem::path& file, const CifarLayout& layout) {
  constexpr std::int64_t kChannels = 3;
  const std::int64_t record = 1 + kChannels * layout.side * layout.side;
  const auto expected = static_cast<std::size_t>(layout.records * record);
  auto content = read_content(file, expected + 1);
  check_size(file, content.size(), expected, fmt::format("{} records of {}", layout.records, record));
  for (std::int64_t i = 0; i < layout.records; ++i) {
    const std::uint8_t label = content[static_cast<std::size_t>(i * record)];
    if (label >= layout.classes)
      reject_file(file, fmt::format("the label of record {} (counting from 0) is {}", i, label),
                  fmt::format("0 to {}", layout.classes - 1));
  }
  check_sha256(file, content, layout.sha256);

  const auto records = torch::from_blob(content.data(), {layout.records, record}, torch::kUInt8);
  // clone: the blob dies with `content`
  return {records.slice(1, 1)
              .clone(torch::MemoryFormat::Contiguous)
              .view({layout.records, kChannels, layout.side, layout.side}),
          records.select(1, 0).to(torch::kInt64)};
}

namespace {

struct Batch {
  std::string file;
  std::string sha256;  // of the uncompressed file, from a copy whose MD5 is the published one
};

Dataset load_cifar10(const SearchPath& search_path) {
  const std::vector<Batch> batches{
      {"data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
      {"data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
      {"data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
      {"data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
      {"data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
      {"test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"},
  };
  PublishedFiles wanted{
      "cifar10",
      {"cifar10", "cifar-10-batches-bin"},
      {},
      "they come in cifar-10-binary.tar.gz, the publisher's page is www.cs.toronto.edu/~kriz/cifar.html"};
  for (const Batch& batch : batches) wanted.files.push_back(batch.file);
  const auto files = find_published(wanted, search_path);

  std::vector<torch::Tensor> inputs, targets;
  Dataset cifar;
  for (std::size_t i = 0; i < files.size(); ++i) {
    CifarLayout layout;
    layout.sha256 = batches[i].sha256;
    Examples examples = read_cifar(files[i], layout);
    if (i + 1 == files.size()) {
      cifar.test = examples;
    } else {
      inputs.push_back(examples.inputs);
      targets.push_back(examples.targets);
    }
  }
  cifar.name = "cifar10";
  cifar.train = {torch::cat(inputs), torch::cat(targets)};
  cifar.classes = 10;
  cifar.mean = {0.4914, 0.4822, 0.4465};
  // The values that most code in the field uses: deviations inside an image, averaged. Over all pixels they
  // would be 0.2470, 0.2435, 0.2616.
  cifar.deviation = {0.2023, 0.1994, 0.2010};
  return cifar;
}

}  // namespace

DatasetSource cifar10_source() {
  return {"cifar10",
          "Photographs of objects: 50,000 train and 10,000 test images, 32 x 32 colour, 10 classes.",
          load_cifar10};
}

}  // namespace fedarena
