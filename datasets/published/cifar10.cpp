// CIFAR-10, binary version. SHA-256 values are of the uncompressed files, from copies whose MD5 are the
// published ones.
#include "datasets/published/cifar.hpp"
#include "datasets/source.hpp"

namespace fedarena {
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
    CifarLayout layout;
    layout.sha256 = wanted.files[i].sha256;
    Examples examples = read_cifar(files[i], layout);
    if (i + 1 == files.size()) {
      cifar.test = examples;
    } else {
      inputs.push_back(examples.inputs);
      targets.push_back(examples.targets);
    }
  }
  cifar.name = "cifar10";
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

}  // namespace fedarena
