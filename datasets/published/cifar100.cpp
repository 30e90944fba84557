// CIFAR-100, binary version: a record begins with a coarse and a fine label. SHA-256 values are those that
// torchvision-ruby publishes; its values for CIFAR-10 are ours.
#include "datasets/published/cifar.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kCoarse = 20;
constexpr std::int64_t kFine = 100;
constexpr std::int64_t kCifar100Train = 50'000;
constexpr std::int64_t kCifar100Test = 10'000;
constexpr std::int64_t kRecord = 2 + 3 * 32 * 32;

struct Cifar100Config {
  std::string labels = "fine";

  static Schema<Cifar100Config> schema() {
    return {{"labels", &Cifar100Config::labels, "100 fine classes, or the 20 coarse ones that group them by fives.",
             Constraint::one_of({"fine", "coarse"})}};
  }
};

PublishedFiles cifar100_files() {
  return {
      "cifar100",
      {"cifar100", "cifar-100-binary"},
      {{"train.bin", kCifar100Train * kRecord, "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29"},
       {"test.bin", kCifar100Test * kRecord, "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"}},
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
  cifar.name = "cifar100";
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
