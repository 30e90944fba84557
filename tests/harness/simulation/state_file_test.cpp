#include "harness/simulation/state_file.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "tests/scratch.hpp"

namespace fedarena {
namespace {

using testing::HasSubstr;

Bytes random_bytes(Stream& stream, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(stream.below(256));
  return bytes;
}

class StateFileTest : public ::testing::Test {
 protected:
  std::string refusal(const std::function<void()>& action) const {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      return error.what();
    }
    return "none";
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
  EXPECT_EQ(file.size(), 0U + 1 + 7 + 8 + 9 + 4096 + 100'000);
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
  EXPECT_EQ(file.size(), 61U);
}

TEST_F(StateFileTest, ShrinksWhenItsLastPiecesGo) {
  StateFile file = StateFile::create(path);
  std::vector<Extent> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(file.write(random_bytes(stream, 10)));
  file.release(pieces[2]);
  EXPECT_EQ(file.size(), 40U);
  file.release(pieces[3]);
  EXPECT_EQ(file.size(), 20U);
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
    ASSERT_GE(file.size(), sum);
    if (step % 50 != 0) continue;
    for (const auto& [extent, bytes] : live) ASSERT_EQ(file.read(extent), bytes);
    // Opened anew from the extents alone, it is the same file.
    std::vector<Extent> kept;
    for (const auto& [extent, bytes] : live) kept.push_back(extent);
    file = StateFile::open(path, kept);
    for (const auto& [extent, bytes] : live) ASSERT_EQ(file.read(extent), bytes);
  }
  EXPECT_LE(file.size(), 3 * most);
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
  EXPECT_NE(refusal([&] { (void)file.read(extent); }), "none");
}

TEST_F(StateFileTest, SaysWhatIsMissing) {
  EXPECT_THAT(refusal([&] { (void)StateFile::open(path, {{0, 10, 0}}); }), HasSubstr("is missing"));
  scratch.write("states.bin", "0123456789");
  EXPECT_THAT(refusal([&] {
                (void)StateFile::open(path, {{4, 7, 0}});
              }),
              HasSubstr("is cut short: it has 10 bytes of 11 that the checkpoint needs"));
  EXPECT_THAT(refusal([&] { (void)StateFile::open(path, {{0, 5, 0}, {4, 2, 0}}); }), HasSubstr("is wrong"));
  EXPECT_THAT(refusal([&] {
                (void)StateFile::open(path, {{1, ~std::uint64_t{0}, 0}});
              }),
              HasSubstr("is wrong"));
  EXPECT_EQ(refusal([&] { (void)StateFile::open(path, {{4, 6, 0}}); }), "none");
}

TEST_F(StateFileTest, CannotBeMadeWhereThereIsNoFolder) {
  const std::filesystem::path nowhere = scratch / "no/states.bin";
  EXPECT_THROW((void)StateFile::create(nowhere), Error);
}

}  // namespace
}  // namespace fedarena
