#include "datasets/data_hash.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <c10/core/ScalarType.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/digest/sha256.hpp"

namespace fedarena {
namespace {

// With its length, so that no two lists of parts give the same bytes.
void add(Sha256& digest, std::string_view text) {
  const std::string whole = fmt::format("{}:{}\n", text.size(), text);
  digest.add({reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()});
}

void add(Sha256& digest, const torch::Tensor& tensor) {
  if (!tensor.defined()) return add(digest, "none");
  const torch::Tensor values = tensor.contiguous();
  add(digest, fmt::format("{} [{}]", c10::toString(values.scalar_type()), fmt::join(values.sizes(), ", ")));
  digest.add({static_cast<const std::uint8_t*>(values.data_ptr()), values.nbytes()});
}

}  // namespace

std::string data_hash(const Dataset& dataset, const torch::Tensor& proxy) {
  Sha256 digest;
  add(digest, fmt::format("{} classes", dataset.classes));
  for (const Examples* part : {&dataset.train, &dataset.test, &dataset.validation}) {
    add(digest, part->inputs);
    add(digest, part->targets);
    add(digest, fmt::format("{} users", part->users.size()));
    digest.add({reinterpret_cast<const std::uint8_t*>(part->users.data()),
                part->users.size() * sizeof(std::int64_t)});
  }
  for (const std::string& user : dataset.users) add(digest, user);
  if (const std::vector<double>& scales = dataset.column_scales; !scales.empty())
    add(digest, torch::tensor(scales, torch::kFloat64));
  if (proxy.defined()) add(digest, proxy);
  return digest.text();
}

std::int64_t count_known(const torch::Tensor& inputs, const torch::Tensor& others) {
  if (inputs.scalar_type() != others.scalar_type() || inputs.sizes().slice(1) != others.sizes().slice(1))
    return 0;
  const torch::Tensor rows = inputs.contiguous(), among = others.contiguous();
  const auto row = [](const torch::Tensor& of, std::int64_t index) {
    const std::size_t bytes = of.nbytes() / static_cast<std::size_t>(of.size(0));
    return std::string_view(static_cast<const char*>(of.data_ptr()) + static_cast<std::size_t>(index) * bytes,
                            bytes);
  };
  std::unordered_set<std::string_view> known;
  for (std::int64_t i = 0; i < among.size(0); ++i) known.insert(row(among, i));
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < rows.size(0); ++i) count += known.contains(row(rows, i)) ? 1 : 0;
  return count;
}

}  // namespace fedarena
