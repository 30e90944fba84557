// Bytes that are no message: each is refused with Error, or happens to be a message again; nothing else is
// ever thrown and nothing large is allocated.
#include <cstring>
#include <string>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "tests/harness/wire/samples.hpp"

namespace fedarena {
namespace {

const std::shared_ptr<const Layout> kDamageLayout = small_layout();

std::string refusal(const Bytes& bytes) {
  try {
    decode(bytes, kDamageLayout);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Bytes bytes_of(const std::vector<int>& values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// A message of one tensor of that type and shape, without its elements.
Bytes hollow_tensor(int type, const std::vector<std::int64_t>& shape) {
  Bytes bytes = bytes_of({'F', 'A', 'M', '1', 1, 0, 0, 0, 1, 't', 1, type, static_cast<int>(shape.size())});
  for (const std::int64_t extent : shape) {
    const auto* raw = reinterpret_cast<const std::byte*>(&extent);
    bytes.insert(bytes.end(), raw, raw + sizeof(extent));
  }
  return bytes;
}

TEST(Damage, EveryTruncationIsRefused) {
  const Bytes bytes = encode(rich_message(kDamageLayout));
  ASSERT_EQ(refusal(bytes), "");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(refusal(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))),
                ::testing::HasSubstr("cannot decode a message: it is cut short inside"))
        << size;
  }
}

TEST(Damage, BytesToSpareAreRefused) {
  Bytes bytes = encode(rich_message(kDamageLayout));
  bytes.push_back(std::byte{0});
  EXPECT_EQ(refusal(bytes), "cannot decode a message: 1 bytes follow its last entry");
}

TEST(Damage, IsNamed) {
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '2', 0, 0, 0, 0})),
              ::testing::HasSubstr("does not begin with FAM1"));
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '1', 1, 0, 0, 0, 1, 'x', 9})),
              ::testing::HasSubstr("an entry has the unknown kind 9"));
  EXPECT_THAT(refusal(hollow_tensor(6, {1})),
              ::testing::HasSubstr("a tensor has the unknown element type 6"));
  Bytes boolean = hollow_tensor(5, {1});
  boolean.push_back(std::byte{2});
  EXPECT_THAT(refusal(boolean), ::testing::HasSubstr("a boolean is neither 0 nor 1"));
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '1', 2, 0, 0, 0,           //
                                1,   'x', 3,   0,   0, 0, 0, 0, 0, 0, 0,  //
                                1,   'x', 3,   0,   0, 0, 0, 0, 0, 0, 0})),
              ::testing::HasSubstr("the name \"x\" appears twice"));
}

TEST(Damage, IntegersAreNoParams) {
  Bytes bytes = encode({{Key<Params>{"p"}, Params::zeros(kDamageLayout, torch::kFloat64)}});
  bytes[8 + 2 + 1] = std::byte{2};  // the element type: int64, of the same width
  EXPECT_THAT(refusal(bytes), ::testing::HasSubstr("its parameters are not floating"));
}

TEST(Damage, HugeShapesAreRefusedBeforeAnythingIsAllocated) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{kHuge},
                                              {1'000'000'000'000},
                                              {kHuge, 4},
                                              {kHuge, kHuge},
                                              {1 << 20, 1 << 20, 1 << 20},
                                              {0, kHuge, kHuge},
                                              {kHuge, kHuge, 0},
                                              {3, kHuge, 0, kHuge},
                                              {-1},
                                              {-kHuge, -4}}) {
    for (const int type : {0, 1, 4})
      EXPECT_THAT(refusal(hollow_tensor(type, shape)), ::testing::HasSubstr("tensor"));
  }
  EXPECT_EQ(refusal(hollow_tensor(0, {0, 1'000'000})), "");
  EXPECT_EQ(refusal(hollow_tensor(0, std::vector<std::int64_t>(255, 0))), "");
}

TEST(Damage, HugeCountsAreRefused) {
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '1', 255, 255, 255, 255})), ::testing::HasSubstr("cut short"));
}

TEST(Damage, RandomMutationsAreRefusedOrAreMessages) {
  const Bytes original = encode(rich_message(kDamageLayout));
  Stream stream({.seed = 1});
  int refused = 0;
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    Bytes bytes = original;
    for (std::uint64_t change = 0, changes = 1 + stream.below(4); change < changes; ++change) {
      const std::size_t place = stream.below(bytes.size());
      // Small and extreme values reach further into the parser than uniform ones.
      const std::uint64_t value = stream.below(2) == 0 ? stream.below(256) : stream.below(6) - 1;
      bytes[place] = static_cast<std::byte>(value);
    }
    if (stream.below(4) == 0) bytes.resize(stream.below(bytes.size() + 40));
    try {
      const Message message = decode(bytes, kDamageLayout);
      EXPECT_EQ(decode(encode(message), kDamageLayout).entries().size(), message.entries().size());
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5'000);
  EXPECT_LT(refused, 20'000);
}

TEST(Damage, RandomBytesAreRefused) {
  Stream stream({.seed = 2});
  for (int repeat = 0; repeat < 5'000; ++repeat) {
    Bytes bytes(stream.below(200));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(stream.below(256));
    const Bytes header = bytes_of({'F', 'A', 'M', '1', 2, 0, 0, 0});
    std::copy_n(header.begin(), std::min(header.size(), bytes.size()), bytes.begin());
    EXPECT_NE(refusal(bytes), "");  // well-formed by chance: less than 10^-6 each
  }
}

}  // namespace
}  // namespace fedarena
