#include <fmt/format.h>

#include "datasets/published/formats.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

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

// CIFAR-10, binary version. SHA-256 values are of the uncompressed files, from copies whose MD5 are the
// published ones.
namespace {

constexpr std::int64_t kBatch = 30'730'000;

PublishedFiles cifar10_files() {
  return {"cifar10",
          {"cifar10", "cifar-10-batches-bin"},
          {{"data_batch_1.bin", kBatch, "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
           {"data_batch_2.bin", kBatch, "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
           {"data_batch_3.bin", kBatch, "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
           {"data_batch_4.bin", kBatch, "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
           {"data_batch_5.bin", kBatch, "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
           {"test_batch.bin", kBatch, "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}},
          "they come in cifar-10-binary.tar.gz, the publisher's page is www.cs.toronto.edu/~kriz/cifar.html",
          {.addresses = {"https://www.cs.toronto.edu/~kriz/"}, .archive = "cifar-10-binary.tar.gz"}};
}

Dataset load_cifar10(const Settings& /*settings*/, const SearchPath& search_path) {
  const PublishedFiles wanted = cifar10_files();
  const auto files = find_published(wanted, search_path);
  std::vector<torch::Tensor> inputs, targets;
  Dataset cifar;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Examples examples = read_cifar(files[i], {.sha256 = wanted.files[i].sha256});
    if (i + 1 == files.size()) {
      cifar.test = examples;
    } else {
      inputs.push_back(examples.inputs);
      targets.push_back(examples.targets);
    }
  }
  cifar.train = {torch::cat(inputs), torch::cat(targets), {}};
  cifar.classes = 10;
  cifar.mean = {0.4914, 0.4822, 0.4465};
  // The values that most code in the field uses: deviations inside an image, averaged. Over all pixels they
  // would be 0.2470, 0.2435, 0.2616.
  cifar.deviation = {0.2023, 0.1994, 0.2010};
  return cifar;
}

}  // namespace

DatasetSource cifar10_source() {
  return {
      .name = "cifar10",
      .summary = "Photographs of objects: 50,000 train and 10,000 test images, 32 x 32 colour, 10 classes.",
      .files = cifar10_files(),
      .load = load_cifar10};
}

// CIFAR-100, binary version: a record begins with a coarse and a fine label. SHA-256 values are those that
// torchvision-ruby publishes; its values for CIFAR-10 are ours.
namespace {

constexpr std::int64_t kCoarse = 20;
constexpr std::int64_t kFine = 100;
constexpr std::int64_t kCifar100Train = 50'000;
constexpr std::int64_t kCifar100Test = 10'000;
constexpr std::int64_t kRecord = 2 + 3 * 32 * 32;

struct Cifar100Config {
  std::string labels = "fine";

  static Schema<Cifar100Config> schema() {
    return {{"labels", &Cifar100Config::labels,
             "100 fine classes, or the 20 coarse ones that group them by fives.",
             Constraint::one_of({"fine", "coarse"})}};
  }
};

PublishedFiles cifar100_files() {
  return {"cifar100",
          {"cifar100", "cifar-100-binary"},
          {{"train.bin", kCifar100Train * kRecord,
            "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29"},
           {"test.bin", kCifar100Test * kRecord,
            "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"}},
          "they come in cifar-100-binary.tar.gz, the publisher's page is www.cs.toronto.edu/~kriz/cifar.html",
          {.addresses = {"https://www.cs.toronto.edu/~kriz/"}, .archive = "cifar-100-binary.tar.gz"}};
}

Dataset load_cifar100(const Settings& settings, const SearchPath& search_path) {
  const bool fine = Cifar100Config::schema().read(settings).labels == "fine";
  const PublishedFiles wanted = cifar100_files();
  const auto files = find_published(wanted, search_path);
  const auto read = [&](std::size_t part, std::int64_t records) {
    return read_cifar(files[part], {.records = records,
                                    .classes = {kCoarse, kFine},
                                    .label = fine ? 1U : 0U,
                                    .sha256 = wanted.files[part].sha256});
  };
  Dataset cifar;
  cifar.train = read(0, kCifar100Train);
  cifar.test = read(1, kCifar100Test);
  cifar.classes = fine ? kFine : kCoarse;
  cifar.mean = {0.5071, 0.4867, 0.4408};
  cifar.deviation = {0.2675, 0.2565, 0.2761};
  return cifar;
}

}  // namespace

DatasetSource cifar100_source() {
  return {
      .name = "cifar100",
      .summary = "Photographs of objects: 50,000 train and 10,000 test images, 32 x 32 colour, 100 classes.",
      .fields = Cifar100Config::schema().fields(),
      .files = cifar100_files(),
      .load = load_cifar100};
}

}  // namespace fedarena
