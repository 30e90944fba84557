#include "datasets/known_inputs.hpp"

#include <string_view>
#include <unordered_set>

namespace fedarena {

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
