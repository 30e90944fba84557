#include "datasets/hold_out.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {
namespace {

// Of the dataset's streams; the embedded generator has the ones from 0.
constexpr std::uint64_t kHoldOutStream = std::uint64_t{1} << 63;

std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& all, const std::vector<std::int64_t>& at) {
  std::vector<std::int64_t> part;
  for (const std::int64_t position : at) part.push_back(all[static_cast<std::size_t>(position)]);
  return part;
}

}  // namespace

Examples chosen(const Examples& all, const std::vector<std::int64_t>& at) {
  const torch::Tensor index = torch::tensor(at, torch::kInt64);
  return {.inputs = all.inputs.index_select(0, index),
          .targets = all.targets.index_select(0, index),
          .users = all.users.empty() ? all.users : chosen(all.users, at),
          .positions = all.positions.empty() ? at : chosen(all.positions, at)};
}

void hold_out(Dataset& dataset, double fraction) {
  FEDARENA_CHECK(fraction, >, 0);
  FEDARENA_CHECK(fraction, <, 1);
  const std::int64_t size = dataset.train.size();
  const std::int64_t held = std::llround(fraction * static_cast<double>(size));
  if (held == 0 || held == size) {
    throw Error(
        Complaint{.found = fmt::format("a validation fraction of {} holds out {} of {} training examples",
                                       fraction, held, size),
                  .allowed = "a fraction that leaves examples on both sides"});
  }
  Stream stream({.purpose = Purpose::kDataset, .index = kHoldOutStream});
  const std::vector<std::int64_t> validation = stream.sample_without_replacement(size, held);
  std::vector<std::int64_t> all(static_cast<std::size_t>(size)), train;
  std::iota(all.begin(), all.end(), std::int64_t{0});
  std::ranges::set_difference(all, validation, std::back_inserter(train));
  dataset.validation = chosen(dataset.train, validation);
  dataset.train = chosen(dataset.train, train);
}

}  // namespace fedarena
