// The synthetic population of Galli, Biswas, Jung, Cucinotta, Palamidessi, "Group privacy for personalized
// federated learning", 2022 (arXiv:2206.03396), Section 5.1: y = <theta, x> + u with u uniform on [0, 1),
// where theta is (5, 6) for one half of the users and (4, -4.5) for the other.
//
// Differs from the paper: it does not state how x is distributed, hence the setting `inputs`.
#include <string>

#include "fedarena/base/stream.hpp"

#include "datasets/source.hpp"

namespace fedarena {
namespace {

// Part of every result on this data: never change it, nor the order of the draws.
constexpr std::uint64_t kMixtureSeed = 0x6d69787475726501;
constexpr double kOptima[2][2] = {{5, 6}, {4, -4.5}};

struct MixtureConfig {
  std::int64_t users = 100, samples = 10, test_samples = 10;
  std::string inputs = "uniform";

  static Schema<MixtureConfig> schema() {
    return {
        {"users", &MixtureConfig::users,
         "How many people there are, of the two populations in turn; first-0, second-0, first-1, ...",
         Constraint::between(2, 1'000'000)},
        {"samples", &MixtureConfig::samples, "Training examples of each user.",
         Constraint::between(1, 100'000)},
        {"test_samples", &MixtureConfig::test_samples, "Test examples of each user.",
         Constraint::between(1, 100'000)},
        {"inputs", &MixtureConfig::inputs,
         "How each of the two inputs is distributed: uniform on (-1, 1), standard normal, or unit, which is "
         "uniform on (0, 1).",
         Constraint::one_of({"uniform", "normal", "unit"})},
    };
  }
};

double draw_input(const std::string& inputs, Stream& stream) {
  if (inputs == "normal") return stream.normal();
  const double unit = stream.uniform();
  return inputs == "unit" ? unit : 2 * unit - 1;
}

// `part` 0 is for training, 1 for testing; an example is a function of (part, user, position) alone.
Examples draw_mixture(const MixtureConfig& config, std::int64_t part, std::int64_t samples) {
  const std::int64_t count = config.users * samples;
  Examples examples{torch::empty({count, 2}, torch::kFloat32), torch::empty({count, 1}, torch::kFloat32)};
  auto* x = examples.inputs.data_ptr<float>();
  auto* y = examples.targets.data_ptr<float>();
  for (std::int64_t user = 0; user < config.users; ++user) {
    Stream stream({.seed = kMixtureSeed, .round = part, .client = user, .purpose = Purpose::kDataset});
    const auto& theta = kOptima[user % 2];
    for (std::int64_t i = 0; i < samples; ++i) {
      const double first = draw_input(config.inputs, stream);
      const double second = draw_input(config.inputs, stream);
      *x++ = static_cast<float>(first);
      *x++ = static_cast<float>(second);
      *y++ = static_cast<float>(theta[0] * first + theta[1] * second + stream.uniform());
      examples.users.push_back(user);
    }
  }
  return examples;
}

Dataset load_mixture(const Settings& settings, const SearchPath& /*search_path*/) {
  const MixtureConfig config = MixtureConfig::schema().read(settings);
  Dataset mixture;
  mixture.train = draw_mixture(config, 0, config.samples);
  mixture.test = draw_mixture(config, 1, config.test_samples);
  for (std::int64_t user = 0; user < config.users; ++user)
    mixture.users.push_back((user % 2 == 0 ? "first-" : "second-") + std::to_string(user / 2));
  mixture.note = "linear-mixture is synthetic: two populations of linear regressions drawn by the program.";
  return mixture;
}

}  // namespace

DatasetSource linear_mixture_source() {
  return {
      .name = "linear-mixture",
      .summary =
          "Synthetic regressions of users from two populations, no files needed: y = <theta, x> + u, where "
          "theta is (5, 6) or (4, -4.5) and u is uniform on [0, 1).",
      .fields = MixtureConfig::schema().fields(),
      .origin = DatasetOrigin::kDrawn,
      .load = load_mixture};
}

}  // namespace fedarena
