#include "harness/simulation/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/simulation/state_file.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

Model model_of(std::int64_t features, torch::ScalarType type = torch::kFloat32) {
  return {{.input_shape = {features}, .outputs = 2, .layers = {Linear{features, 2}}}, type};
}

ClientStates::State encoded(const Message& message) { return std::make_shared<const Bytes>(encode(message)); }

Checkpoint sample(const Model& model) {
  const Params params(model.layout(), torch::arange(model.layout()->numel()).to(model.options()));
  return {.round = 12,
          .params = params,
          .server_state = {{kControl, 2 * params}},
          .client_states = {.held = {{0, encoded({{kControl, 3 * params}})},
                                     {41, encoded({{Key<double>{"loss"}, 0.5}})}},
                            .filed = {{7, {.offset = 30, .size = 12, .checksum = 99}}}},
          .clip_norm = 0.75,
          .ledger = "{\"any\": \"text\"}\n",
          .synthetic = {{Key<torch::Tensor>{"inputs"}, torch::arange(6).reshape({2, 3})}},
          .unpublished = "{\"round\": 12}\n"};
}

std::string refusal(std::span<const std::byte> bytes, const Model& model) {
  return message_of([&] { unpack_checkpoint(bytes, model); });
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
    EXPECT_EQ(copy.unpublished, original.unpublished);
    EXPECT_EQ(pack_checkpoint(copy), bytes);
  }
}

TEST(Checkpoint, EveryTruncationIsRefused) {
  const Model model = model_of(3);
  const Bytes bytes = pack_checkpoint(sample(model));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refusal(std::span(bytes).first(size), model), "") << size;
  }
  EXPECT_NO_THROW(unpack_checkpoint(bytes, model));
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_NE(refusal(longer, model), "");
}

TEST(Checkpoint, EveryFlippedBitIsNoticed) {
  const Model model = model_of(3);
  Bytes bytes = pack_checkpoint(sample(model));
  for (std::byte& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_NE(refusal(bytes, model), "");
      byte ^= std::byte{1} << bit;
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
  EXPECT_EQ(refusal(later, model), "the checkpoint has version 9, this program reads 5");
  bytes[0] = std::byte{'Z'};
  EXPECT_EQ(refusal(bytes, model), "this is not a checkpoint of fedarena");
}

TEST(Checkpoint, OfAnotherModelIsRefused) {
  const Bytes bytes = pack_checkpoint(sample(model_of(3)));
  EXPECT_THAT(refusal(bytes, model_of(4)), HasSubstr("parameters of another model (8 numbers"));
  EXPECT_EQ(refusal(bytes, model_of(3, torch::kFloat64)),
            "the checkpoint's parameters are Float, this run's are Double");
}

Bytes random_bytes(Stream& stream, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(stream.below(256));
  return bytes;
}

class StateFileTest : public ::testing::Test {
 protected:
  std::string refusal(const std::function<void()>& action) const {
    std::string message = message_of(action);
    EXPECT_THAT(message, HasSubstr(path.string()));
    return message;
  }

  test::Scratch scratch;
  const std::filesystem::path path = scratch / "states.bin";
  Stream stream{{.seed = 3}};
};

TEST_F(StateFileTest, ReadsBackWhatWasWritten) {
  StateFile file = StateFile::create(path);
  std::vector<std::pair<Extent, Bytes>> written;
  for (const std::size_t size : {0, 1, 7, 8, 9, 4096, 100'000}) {
    const Bytes bytes = random_bytes(stream, size);
    written.emplace_back(file.write(bytes), bytes);
  }
  for (const auto& [extent, bytes] : written) EXPECT_EQ(file.read(extent), bytes);
  EXPECT_EQ(std::filesystem::file_size(path), 0U + 1 + 7 + 8 + 9 + 4096 + 100'000);
}

TEST_F(StateFileTest, FillsGapsBeforeItGrows) {
  StateFile file = StateFile::create(path);
  std::vector<Extent> pieces;
  for (int i = 0; i < 5; ++i) pieces.push_back(file.write(random_bytes(stream, 10)));
  file.release(pieces[1]);
  file.release(pieces[3]);
  EXPECT_EQ(file.write(random_bytes(stream, 11)).offset, 50U);  // neither gap is large enough
  file.release(pieces[2]);                                      // and now they are one
  EXPECT_EQ(file.write(random_bytes(stream, 25)).offset, 10U);
  EXPECT_EQ(file.write(random_bytes(stream, 5)).offset, 35U);
  EXPECT_EQ(std::filesystem::file_size(path), 61U);
}

TEST_F(StateFileTest, ShrinksWhenItsLastPiecesGo) {
  StateFile file = StateFile::create(path);
  std::vector<Extent> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(file.write(random_bytes(stream, 10)));
  file.release(pieces[2]);
  file.release(pieces[3]);
  EXPECT_EQ(file.write(random_bytes(stream, 100)).offset, 20U);
}

// Whatever is written and given back in between, all pieces that count read as they were written, and none
// takes more than its share.
TEST_F(StateFileTest, KeepsEveryPieceWhateverComesAndGoes) {
  StateFile file = StateFile::create(path);
  std::vector<std::pair<Extent, Bytes>> live;
  std::uint64_t most = 0;
  for (int step = 0; step < 5'000; ++step) {
    if (live.size() > 20 && stream.below(2) == 0) {
      const std::size_t index = stream.below(live.size());
      file.release(live[index].first);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (live.size() < 60) {
      const Bytes bytes = random_bytes(stream, stream.below(100));
      live.emplace_back(file.write(bytes), bytes);
    }
    std::uint64_t sum = 0;
    for (const auto& [extent, bytes] : live) sum += extent.size;
    most = std::max(most, sum);
    if (step % 50 != 0) continue;
    for (const auto& [extent, bytes] : live) ASSERT_EQ(file.read(extent), bytes);
    // Opened anew from the extents alone, it is the same file.
    std::vector<Extent> kept;
    for (const auto& [extent, bytes] : live) kept.push_back(extent);
    file = StateFile::open(path, kept);
    for (const auto& [extent, bytes] : live) ASSERT_EQ(file.read(extent), bytes);
  }
  EXPECT_LE(std::filesystem::file_size(path), 3 * most);
}

TEST_F(StateFileTest, EveryFlippedBitIsNoticed) {
  StateFile file = StateFile::create(path);
  const Extent extent = file.write(random_bytes(stream, 29));
  std::string content = test::content_of(path);
  for (char& byte : content) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      scratch.write("states.bin", content);
      EXPECT_THAT(refusal([&] { (void)file.read(extent); }),
                  HasSubstr("is damaged: the checksum of its 29 bytes from 0 on does not match"));
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
  // Two sign bits, which a product of odd numbers alone would let cancel.
  content[7] = static_cast<char>(content[7] ^ 0x80);
  content[15] = static_cast<char>(content[15] ^ 0x80);
  scratch.write("states.bin", content);
  EXPECT_NE(refusal([&] { (void)file.read(extent); }), "");
}

TEST_F(StateFileTest, SaysWhatIsMissing) {
  const auto refused = [&](const std::vector<Extent>& extents) {
    return refusal([&] { (void)StateFile::open(path, extents); });
  };
  EXPECT_THAT(refused({{0, 10, 0}}), HasSubstr("is missing"));
  scratch.write("states.bin", "0123456789");
  EXPECT_THAT(refused({{4, 7, 0}}),
              HasSubstr("is cut short: it has 10 bytes of 11 that the checkpoint needs"));
  EXPECT_THAT(refused({{0, 5, 0}, {4, 2, 0}}), HasSubstr("is wrong"));
  EXPECT_THAT(refused({{1, ~std::uint64_t{0}, 0}}), HasSubstr("is wrong"));
  EXPECT_NO_THROW((void)StateFile::open(path, {{4, 6, 0}}));
}

TEST_F(StateFileTest, CannotBeMadeWhereThereIsNoFolder) {
  const std::filesystem::path nowhere = scratch / "no/states.bin";
  EXPECT_THROW((void)StateFile::create(nowhere), Error);
}

}  // namespace
}  // namespace fedarena
