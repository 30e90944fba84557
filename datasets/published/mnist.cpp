#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/published/formats.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

constexpr std::uint32_t kUnsignedBytes = 0x0800;

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         bytes[3];
}

std::string in_words(const std::vector<std::int64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, " x "));
}

}  // namespace

torch::Tensor read_idx(const std::filesystem::path& file, const IdxLayout& layout) {
  const auto count = static_cast<std::size_t>(
      std::accumulate(layout.shape.begin(), layout.shape.end(), std::int64_t{1}, std::multiplies<>()));
  const std::size_t header = 4 + 4 * layout.shape.size();
  const std::size_t expected = header + count;
  const auto content = read_content(file, expected + 1);
  const std::string meaning = fmt::format("{} of header and {}", header, in_words(layout.shape));
  if (content.size() < header) check_size(file, content.size(), expected, meaning);

  const std::uint32_t magic = kUnsignedBytes | static_cast<std::uint32_t>(layout.shape.size());
  if (big_endian(content.data()) != magic)
    reject_file(file, fmt::format("the magic number is {:#010x}", big_endian(content.data())),
                fmt::format("{:#010x} (IDX, unsigned bytes, dimensions: {})", magic, layout.shape.size()));
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < layout.shape.size(); ++i)
    shape.push_back(big_endian(content.data() + 4 + 4 * i));
  if (shape != layout.shape)
    reject_file(file, fmt::format("the header says {}", in_words(shape)), in_words(layout.shape));
  check_size(file, content.size(), expected, meaning);

  for (std::size_t i = 0; layout.classes > 0 && i < count; ++i)
    if (content[header + i] >= layout.classes)
      reject_file(file, fmt::format("label {} (counting from 0) is {}", i, content[header + i]),
                  fmt::format("0 to {}", layout.classes - 1));
  check_sha256(file, content, layout.sha256);

  auto bytes = torch::empty(layout.shape, torch::kUInt8);
  if (count > 0) std::memcpy(bytes.data_ptr<std::uint8_t>(), content.data() + header, count);
  return bytes;
}

// MNIST and Fashion-MNIST: the same four IDX files with other content. SHA-256 values are of the uncompressed
// files, taken from copies whose MD5 are the published ones.
namespace {

constexpr std::int64_t kMnistClasses = 10;
constexpr std::int64_t kMnistTrain = 60'000;
constexpr std::int64_t kMnistTest = 10'000;
constexpr std::int64_t kMnistSide = 28;

struct Digests {
  std::string train_images, train_labels, test_images, test_labels;
};

PublishedFiles idx_files(const std::string& dataset, const std::string& origin,
                         std::vector<std::string> addresses, const Digests& sha256) {
  return {dataset,
          {dataset},
          {{"train-images-idx3-ubyte", 16 + kMnistTrain * kMnistSide * kMnistSide, sha256.train_images},
           {"train-labels-idx1-ubyte", 8 + kMnistTrain, sha256.train_labels},
           {"t10k-images-idx3-ubyte", 16 + kMnistTest * kMnistSide * kMnistSide, sha256.test_images},
           {"t10k-labels-idx1-ubyte", 8 + kMnistTest, sha256.test_labels}},
          origin,
          {.addresses = std::move(addresses), .ending = ".gz"}};
}

PublishedFiles mnist_files() {
  // The publisher's own server often refuses (403); PyTorch keeps a copy of the files.
  return idx_files("mnist", "the publisher's page is yann.lecun.com/exdb/mnist",
                   {"https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"},
                   {"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"});
}

PublishedFiles fashion_mnist_files() {
  return idx_files("fashion-mnist", "the publisher's page is github.com/zalandoresearch/fashion-mnist",
                   {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"},
                   {"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"});
}

Dataset read_idx_dataset(const PublishedFiles& wanted, const SearchPath& search_path, double mean,
                         double deviation) {
  const auto files = find_published(wanted, search_path);
  // The labels are in the file behind that of the images.
  const auto read = [&](std::size_t images, std::int64_t count) -> Examples {
    const IdxLayout pixels{{count, kMnistSide, kMnistSide}, 0, wanted.files[images].sha256};
    const IdxLayout labels{{count}, kMnistClasses, wanted.files[images + 1].sha256};
    return {read_idx(files[images], pixels).unsqueeze(1),
            read_idx(files[images + 1], labels).to(torch::kInt64),
            {}};
  };
  Dataset dataset;
  dataset.train = read(0, kMnistTrain);
  dataset.test = read(2, kMnistTest);
  dataset.classes = kMnistClasses;
  dataset.mean = {mean};
  dataset.deviation = {deviation};
  return dataset;
}

Dataset load_mnist(const Settings& /*settings*/, const SearchPath& search_path) {
  return read_idx_dataset(mnist_files(), search_path, 0.1307, 0.3081);
}

Dataset load_fashion_mnist(const Settings& /*settings*/, const SearchPath& search_path) {
  return read_idx_dataset(fashion_mnist_files(), search_path, 0.2861, 0.3530);
}

}  // namespace

DatasetSource mnist_source() {
  return {.name = "mnist",
          .summary = "Handwritten digits: 60,000 train and 10,000 test images, 28 x 28 grey, 10 classes.",
          .files = mnist_files(),
          .load = load_mnist};
}

DatasetSource fashion_mnist_source() {
  return {.name = "fashion-mnist",
          .summary = "Pictures of clothing: 60,000 train and 10,000 test images, 28 x 28 grey, 10 classes.",
          .files = fashion_mnist_files(),
          .load = load_fashion_mnist};
}

}  // namespace fedarena
