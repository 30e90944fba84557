#include "fedarena/message.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr Key<double> kRadius{"radius"};
constexpr Key<std::int64_t> kCount{"count"};
constexpr Key<torch::Tensor> kImages{"images"};
constexpr Key<Params> kWeights{"weights"};

Params some_params() {
  Layout layout;
  layout.add("tensor", {2});
  return {std::make_shared<const Layout>(layout), torch::ones({2})};
}

template <typename Call>
std::string bug_of(Call call) {
  try {
    call();
  } catch (const Bug& bug) {
    return bug.what();
  }
  return "no bug";
}

TEST(Message, HoldsOneValueOfEachKind) {
  const Message message{
      {kRadius, 0.5}, {kCount, std::int64_t{7}}, {kImages, torch::ones({2, 2})}, {kWeights, some_params()}};
  EXPECT_EQ(message[kRadius], 0.5);
  EXPECT_EQ(message[kCount], 7);
  EXPECT_EQ(message[kImages].numel(), 4);
  EXPECT_EQ(message[kWeights].flat().numel(), 2);
}

TEST(Message, KeepsTheOrderOfItsEntries) {
  Message message{{kRadius, 0.5}};
  message.put(kCount, std::int64_t{1});
  message.put(kImages, torch::ones({1}));
  message.put(kRadius, 2.5);
  ASSERT_EQ(message.entries().size(), 3U);
  EXPECT_EQ(message.entries()[0].name, "radius");
  EXPECT_EQ(message.entries()[1].name, "count");
  EXPECT_EQ(message.entries()[2].name, "images");
  EXPECT_EQ(message[kRadius], 2.5);
}

TEST(Message, NamesWhatItHasWhenAKeyIsMissing) {
  const Message message{{kRadius, 0.5}, {kCount, std::int64_t{7}}};
  EXPECT_EQ(bug_of([&] { (void)message[kWeights]; }),
            "a message has no \"weights\" of type Params; it has: \"radius\" (double), \"count\" (int64)");
  EXPECT_EQ(bug_of([&] { (void)Message()[kImages]; }),
            "a message has no \"images\" of type Tensor; it has: nothing");
}

TEST(Message, NamesTheTypeWhenAKeyHasAnother) {
  const Message message{{kRadius, 0.5}};
  const Key<std::int64_t> mistaken{"radius"};
  EXPECT_EQ(bug_of([&] { (void)message[mistaken]; }),
            "a message has no \"radius\" of type int64; it has: \"radius\" (double)");
  EXPECT_THROW(message.get_or(mistaken, std::int64_t{3}), Bug);
}

TEST(Message, FallsBackWhereAKeyIsMissing) {
  Message message;
  EXPECT_EQ(message.get_or(kRadius, 4.0), 4.0);
  message.put(kRadius, 5.0);
  EXPECT_EQ(message.get_or(kRadius, 4.0), 5.0);
  EXPECT_TRUE(message.contains("radius"));
  EXPECT_FALSE(message.contains("radius "));
}

TEST(Message, SharesNoParamsWithItsCopies) {
  Message original{{kWeights, some_params()}};
  Message copy = original;
  Params doubled = 2 * copy[kWeights];
  copy.put(kWeights, doubled);
  doubled *= 10;
  EXPECT_EQ(original[kWeights].flat()[0].item<double>(), 1);
  EXPECT_EQ(copy[kWeights].flat()[0].item<double>(), 2);
}

TEST(Message, CanChangeTheTypeOfAnEntry) {
  Message message{{kRadius, 0.5}};
  message.put(Key<std::int64_t>{"radius"}, std::int64_t{2});
  EXPECT_EQ(message.entries().size(), 1U);
  EXPECT_EQ(message[Key<std::int64_t>{"radius"}], 2);
}

}  // namespace
}  // namespace fedarena
