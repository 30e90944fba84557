#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "sample.hpp"

namespace fedarena {
namespace {

// Damages texts as a careless editor would: always the same way for the same seed.
class Damage {
 public:
  explicit Damage(std::uint64_t seed) : engine_(seed) {}

  std::string apply(std::string text) {
    for (std::uint64_t count = 1 + below(2); count > 0; --count) text = once(std::move(text));
    return text;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }

  std::string once(std::string text) {
    // clang-format off
    static const std::vector<std::string> kPieces = {
        "[", "]", "[[", "]]", "{", "}", "\"", "'", "\"\"\"", "'''", "=", ".", "#", "\n", "\r", ",", "-", "1e9", "inf", "nan",
        "0x", "\\u", "\\", "\xff", "\xc3", "\xef\xbb\xbf", "é", "1979-05-27T07:32:00Z", "07:32:00", "99999999999999999999",
        "true", "epsilon = 1\n", "[algorithms]\n", "[[data]]\n", "[algorithms.privacy]\n", "privacy.policy = \"record\"\n",
        "a.b.c = 1\n", std::string(1, '\0')};
    // clang-format on
    const std::size_t at = below(text.size() + 1);
    const std::size_t size = below(std::min<std::uint64_t>(text.size() - at, 12) + 1);
    switch (below(6)) {
      case 0:
        return text.insert(at, kPieces[below(kPieces.size())]);
      case 1:
        return text.erase(at, size);
      case 2:
        return text.substr(0, at);
      case 3:
        return text.insert(below(text.size() + 1), text.substr(at, size));
      case 4:
        return text.replace(at, size, kPieces[below(kPieces.size())]);
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        return text;
    }
  }

  std::mt19937_64 engine_;
};

// Anything but success or Error fails the test.
template <typename Read>
void expect_success_or_error(const Read& read, const std::string& text) {
  try {
    read();
  } catch (const Error& error) {
    ASSERT_FALSE(error.complaint().found.empty()) << text;
  } catch (const std::exception& failure) {
    FAIL() << failure.what() << " for:\n" << text;
  }
}

TEST(ConfigFuzz, DamagedFilesAreReadOrRefused) {
  const Catalog catalog = sample_catalog();
  int accepted = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    const bool profiled = seed % 4 == 2;
    const std::string text = Damage(seed).apply(profiled        ? kProfiled
                                                : seed % 8 == 0 ? kSwept
                                                : seed % 2 == 0 ? kSample
                                                                : private_sample());
    const auto read = [&] {
      const std::vector<GridPoint> points =
          read_grid(parsed(text), {}, catalog, profiled ? std::optional<std::string>("quick") : std::nullopt);
      ++accepted;
      for (const GridPoint& point : points) {
        const Experiment& experiment = point.experiment;
        ASSERT_EQ(read_experiment(config::parse_document(to_toml(experiment), "again.toml"), {}, catalog),
                  experiment)
            << text;
      }
    };
    expect_success_or_error(read, text);
    if (HasFatalFailure()) return;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(2));
  // Both outcomes occur often, so that the damage is neither too small nor too great.
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 18'000);
}

TEST(ConfigFuzz, DamagedOverridesAreReadOrRefused) {
  const Catalog catalog = sample_catalog();
  const std::vector<std::string> paths = {
      "experiment.rounds=5",        "training.rate=0.1",    "model.layers=[1, 2]",
      "algorithms.FedAvg.rate=0.2", "experiment.name=x",    "algorithms.fedprox.privacy.clip_norm=3",
      "sweep.model.width=[8, 9]",   "privacy.policy=client"};
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    const std::string sample = seed % 2 == 0 ? kSample : private_sample();
    const std::string text = Damage(seed).apply(paths[seed % paths.size()]);
    expect_success_or_error([&] { read_grid(config::parse_document(sample, "e.toml"), {text}, catalog); },
                            text);
    if (HasFatalFailure()) return;
  }
}

TEST(ConfigFuzz, LargeFilesTakeBoundedTime) {
  std::string seeds = "seeds = [0";
  for (int seed = 1; seed < 200'000; ++seed) seeds += fmt::format(", {}", seed);
  std::string sections, keys, algorithms;
  for (int index = 0; index < 20'000; ++index) {
    sections += fmt::format("[section{}]\n", index);
    keys += fmt::format("key{} = 1\n", index);
    algorithms += fmt::format("[[algorithms]]\nname = \"fedavg\"\nlabel = \"a{}\"\n", index);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal(with("seeds = [1, 2, 3", seeds)), "accepted");
  EXPECT_NE(refusal(kSample + sections), "accepted");
  EXPECT_NE(refusal(kSample + keys), "accepted");
  EXPECT_EQ(refusal(kSample + algorithms), "accepted");
  EXPECT_NE(refusal(kSample + std::string(1'000'000, '[')), "accepted");
  EXPECT_NE(refusal(kSample + "x = " + std::string(1'000'000, '{')), "accepted");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

}  // namespace
}  // namespace fedarena
