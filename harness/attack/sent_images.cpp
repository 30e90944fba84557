#include "harness/attack/sent_images.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/images/synthetic_folder.hpp"

namespace fedarena {
namespace {

std::vector<std::int64_t> sent_rounds(const FinishedRun& run) {
  std::vector<std::int64_t> rounds = results::SyntheticFolder(run.path()).rounds();
  if (!rounds.empty()) return rounds;
  throw Error::in(
      run.path(), fmt::format("holds no synthetic images: its algorithm is \"{}\"", run.summary().algorithm),
      {.remedy = "Algorithms whose server has synthetic images leave them, such as fedlap, psg and sda-fl."});
}

}  // namespace

torch::Tensor sent_images(const FinishedRun& run, std::int64_t round) {
  const results::SyntheticFolder folder(run.path());
  const std::string place = folder.folder_of(round).string();
  results::LabelledImages set = results::as_images(folder.read(round), place);
  const std::vector<std::int64_t> own{set.channels, set.height, set.width};
  const std::vector<std::int64_t> shape = run.dataset().train.inputs.sizes().slice(1).vec();
  if (own != shape) {
    throw Error::in(place, fmt::format("images of shape [{}]", fmt::join(own, ", ")),
                    {.allowed = fmt::format("[{}], as the data have them", fmt::join(shape, ", "))});
  }
  torch::Tensor images = torch::from_blob(set.pixels.data(), {static_cast<std::int64_t>(set.size()),
                                                              set.channels, set.height, set.width})
                             .clone();
  if (!images.isfinite().all().item<bool>()) {
    throw Error::in(place, "images with pixels that are not numbers",
                    {.remedy = "The run diverged, or the file is damaged (`fedarena verify` tells)."});
  }
  return images;
}

torch::Tensor sent_images(const FinishedRun& run) {
  std::vector<torch::Tensor> sets;
  for (const std::int64_t round : sent_rounds(run)) sets.push_back(sent_images(run, round));
  return torch::cat(sets);
}

std::int64_t last_sent_round(const FinishedRun& run) { return sent_rounds(run).back(); }

}  // namespace fedarena
