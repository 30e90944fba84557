#include "harness/simulation/checkpoint.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/simulation/checksum.hpp"

namespace fedarena {
namespace {

constexpr Key<Params> kControl{"control"};

Model model_of(std::int64_t features, torch::ScalarType type = torch::kFloat32) {
  return {{.input_shape = {features}, .outputs = 2, .layers = {Linear{features, 2}}}, type};
}

ClientStates::State state(const Message& message) { return std::make_shared<const Bytes>(encode(message)); }

Checkpoint sample(const Model& model) {
  const Params params(model.layout(), torch::arange(model.layout()->numel()).to(model.options()));
  return {.round = 12,
          .params = params,
          .server_state = {{kControl, 2 * params}},
          .client_states = {.held = {{0, state({{kControl, 3 * params}})},
                                     {41, state({{Key<double>{"loss"}, 0.5}})}},
                            .filed = {{7, {.offset = 30, .size = 12, .checksum = 99}}}},
          .clip_norm = 0.75,
          .ledger = "{\"any\": \"text\"}\n"};
}

std::string refusal(std::span<const std::byte> bytes, const Model& model) {
  try {
    unpack_checkpoint(bytes, model);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Checkpoint, ReadsBackWhatItHeld) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const Model model = model_of(3, type);
    const Checkpoint original = sample(model);
    const Bytes bytes = pack_checkpoint(original);
    const Checkpoint copy = unpack_checkpoint(bytes, model);
    EXPECT_EQ(copy.round, 12);
    EXPECT_TRUE(torch::equal(copy.params.flat(), original.params.flat()));
    EXPECT_TRUE(torch::equal(copy.server_state[kControl].flat(), original.server_state[kControl].flat()));
    EXPECT_EQ(copy.client_states.held.size(), 2U);
    EXPECT_EQ(*copy.client_states.held.at(41), *original.client_states.held.at(41));
    EXPECT_EQ(copy.client_states.filed, original.client_states.filed);
    EXPECT_EQ(copy.clip_norm, 0.75);
    EXPECT_EQ(copy.ledger, original.ledger);
    EXPECT_EQ(pack_checkpoint(copy), bytes);
  }
}

TEST(Checkpoint, EveryTruncationIsRefused) {
  const Model model = model_of(3);
  const Bytes bytes = pack_checkpoint(sample(model));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refusal(std::span(bytes).first(size), model), "none") << size;
  }
  EXPECT_EQ(refusal(bytes, model), "none");
}

TEST(Checkpoint, EveryFlippedBitIsNoticed) {
  const Model model = model_of(3);
  Bytes bytes = pack_checkpoint(sample(model));
  for (std::byte& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_NE(refusal(bytes, model), "none");
      byte ^= std::byte{1} << bit;
    }
  }
}

TEST(Checkpoint, RandomMutationsAreNoticed) {
  const Model model = model_of(3);
  const Bytes original = pack_checkpoint(sample(model));
  Stream stream({.seed = 8});
  for (int repeat = 0; repeat < 5'000; ++repeat) {
    Bytes bytes = original;
    for (std::uint64_t change = 0, changes = 1 + stream.below(20); change < changes; ++change) {
      bytes[stream.below(bytes.size())] = static_cast<std::byte>(stream.below(256));
    }
    if (stream.below(5) == 0) bytes.resize(stream.below(2 * bytes.size()));
    if (bytes == original) continue;
    EXPECT_NE(refusal(bytes, model), "none");  // missed by chance: 2^-64
  }
}

// Damage behind a right checksum: what a program of another version might leave.
TEST(Checkpoint, ForeignContentIsRefused) {
  const Model model = model_of(3);
  const Bytes original = pack_checkpoint(sample(model));
  constexpr std::size_t kHeader = 24, kChecksumAt = 16;
  Stream stream({.seed = 9});
  for (int repeat = 0; repeat < 5'000; ++repeat) {
    Bytes bytes = original;
    bytes[kHeader + stream.below(bytes.size() - kHeader)] = static_cast<std::byte>(stream.below(256));
    const std::uint64_t checksum = checksum_of(std::span<const std::byte>(bytes).subspan(kHeader));
    std::memcpy(bytes.data() + kChecksumAt, &checksum, sizeof(checksum));
    try {
      (void)unpack_checkpoint(bytes, model);
    } catch (const Error&) {
    } catch (const Bug&) {  // the entry "params" has another name
    }
  }
}

TEST(Checkpoint, SaysWhatIsWrong) {
  const Model model = model_of(3);
  Bytes bytes = pack_checkpoint(sample(model));
  EXPECT_EQ(refusal(std::span(bytes).first(10), model), "the checkpoint is cut short");
  Bytes damaged = bytes;
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(refusal(damaged, model), "the checkpoint is damaged: its checksum does not match");
  Bytes later = bytes;
  later[4] = std::byte{9};
  EXPECT_EQ(refusal(later, model), "the checkpoint has version 9, this program reads 2 and 3");
  bytes[0] = std::byte{'Z'};
  EXPECT_EQ(refusal(bytes, model), "this is no checkpoint of fedarena");
}

// Version 2 ended the states where version 3 goes on with those in a file.
TEST(Checkpoint, OfTheVersionBeforeIsRead) {
  const Model model = model_of(3);
  Checkpoint original = sample(model);
  original.client_states.filed.clear();
  Bytes bytes = pack_checkpoint(original);
  constexpr std::size_t kHeader = 24, kNumber = 8;
  const auto ledger = static_cast<std::ptrdiff_t>(kNumber + original.ledger.size());
  bytes.erase(bytes.end() - ledger - static_cast<std::ptrdiff_t>(kNumber), bytes.end() - ledger);
  const auto body = std::span<const std::byte>(bytes).subspan(kHeader);
  bytes[4] = std::byte{2};
  const std::array<std::uint64_t, 2> ends{body.size(), checksum_of(body)};
  std::memcpy(bytes.data() + kNumber, ends.data(), sizeof(ends));
  const Checkpoint copy = unpack_checkpoint(bytes, model);
  EXPECT_EQ(*copy.client_states.held.at(41), *original.client_states.held.at(41));
  EXPECT_EQ(copy.ledger, original.ledger);
  EXPECT_EQ(pack_checkpoint(copy), pack_checkpoint(original));
}

TEST(Checkpoint, OfAnotherModelIsRefused) {
  const Bytes bytes = pack_checkpoint(sample(model_of(3)));
  EXPECT_THAT(refusal(bytes, model_of(4)), ::testing::HasSubstr("parameters of another model (8 numbers"));
  EXPECT_EQ(refusal(bytes, model_of(3, torch::kFloat64)),
            "the checkpoint's parameters are Float, this run's are Double");
}

}  // namespace
}  // namespace fedarena
