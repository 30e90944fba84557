#include "harness/wire/wire.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

std::shared_ptr<const Layout> small_layout() {
  Layout layout;
  layout.add({2, 3});
  layout.add({2});
  return std::make_shared<const Layout>(layout);
}

// A tensor of every type that the wire carries, with numbers that any mistake in width or order would
// change.
std::vector<torch::Tensor> tensors_of_every_type() {
  std::vector<torch::Tensor> tensors;
  for (const auto type :
       {torch::kFloat32, torch::kFloat64, torch::kInt64, torch::kInt32, torch::kUInt8, torch::kBool}) {
    const torch::Tensor numbers = torch::tensor({0.0, 1.0, 200.0, 3.0, 0.0, 255.0}, torch::kFloat64);
    tensors.push_back(numbers.to(type).view({2, 3}));
  }
  return tensors;
}

// A message with every kind of entry.
Message rich_message(const std::shared_ptr<const Layout>& layout) {
  Message message{{Key<Params>{"model"}, Params(layout, torch::arange(8, torch::kFloat32))},
                  {Key<double>{"radius"}, 0.1},
                  {Key<std::int64_t>{"examples"}, std::int64_t{-5}},
                  {Key<torch::Tensor>{"scalar"}, torch::tensor(2.5, torch::kFloat64)},
                  {Key<torch::Tensor>{"empty"}, torch::empty({0, 3}, torch::kInt32)}};
  for (const torch::Tensor& tensor : tensors_of_every_type()) {
    message.put_entry({std::string("tensor ") + torch::toString(tensor.scalar_type()), tensor});
  }
  return message;
}

const std::shared_ptr<const Layout> kLayout = small_layout();

Message round_trip(const Message& message) { return decode(encode(message), kLayout); }

std::size_t size_of(const Message& message) { return encode(message).size(); }

void expect_same(const torch::Tensor& left, const torch::Tensor& right) {
  EXPECT_EQ(left.scalar_type(), right.scalar_type());
  EXPECT_EQ(left.sizes(), right.sizes());
  ASSERT_EQ(left.nbytes(), right.nbytes());
  const torch::Tensor a = left.resolve_neg().contiguous(), b = right.resolve_neg().contiguous();
  if (a.nbytes() == 0) return;
  EXPECT_EQ(std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()), 0);
}

TEST(Wire, CarriesEveryKindOfEntryInOrder) {
  const Message message = rich_message(kLayout), copy = round_trip(message);
  ASSERT_EQ(copy.entries().size(), message.entries().size());
  for (std::size_t i = 0; i < copy.entries().size(); ++i) {
    const Message::Entry &sent = message.entries()[i], &received = copy.entries()[i];
    EXPECT_EQ(received.name, sent.name);
    ASSERT_EQ(received.content.index(), sent.content.index());
    if (const auto* tensor = std::get_if<torch::Tensor>(&sent.content)) {
      expect_same(std::get<torch::Tensor>(received.content), *tensor);
    }
  }
  EXPECT_EQ(copy[Key<double>{"radius"}], 0.1);
  EXPECT_EQ(copy[Key<std::int64_t>{"examples"}], -5);
  expect_same(copy[Key<Params>{"model"}].flat(), message[Key<Params>{"model"}].flat());
  EXPECT_EQ(encode(copy), encode(message));
}

TEST(Wire, CarriesParamsOfBothTypes) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const Params params(kLayout, torch::arange(8, type).div(3));
    const Message copy = round_trip({{Key<Params>{"p"}, params}});
    expect_same(copy[Key<Params>{"p"}].flat(), params.flat());
    EXPECT_EQ(*copy[Key<Params>{"p"}].layout(), *kLayout);
  }
}

TEST(Wire, CarriesSpecialNumbers) {
  for (const double value : {0.0, -0.0, kInfinity, std::nan(""), std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::lowest()}) {
    const double copy = round_trip({{Key<double>{"d"}, value}})[Key<double>{"d"}];
    EXPECT_EQ(std::memcmp(&copy, &value, sizeof(value)), 0) << value;
  }
  for (const std::int64_t value :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(round_trip({{Key<std::int64_t>{"i"}, value}})[Key<std::int64_t>{"i"}], value);
  }
}

TEST(Wire, CarriesTensorsOfEveryShape) {
  const Key<torch::Tensor> key{"t"};
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {}, {0}, {1}, {5, 0}, {0, 5}, {3, 0, 2}, {1, 1, 1, 1, 1, 1, 1, 7}, {2, 3, 4}}) {
    for (const auto type : {torch::kFloat64, torch::kUInt8}) {
      const torch::Tensor tensor = torch::ones(shape, type);
      expect_same(round_trip({{key, tensor}})[key], tensor);
      // Not at the end of the message, either.
      expect_same(round_trip({{key, tensor}, {Key<double>{"d"}, 1.0}})[key], tensor);
    }
  }
}

TEST(Wire, CarriesViewsAndTensorsWithAGraph) {
  const Key<torch::Tensor> key{"t"};
  const torch::Tensor base = torch::arange(12, torch::kFloat32).view({3, 4});
  for (const torch::Tensor& tensor :
       {base.t(), base.slice(1, 0, 4, 2), base.select(0, 1), base.expand({2, 3, 4}), base._neg_view()}) {
    expect_same(round_trip({{key, tensor}})[key], tensor);
  }
  const torch::Tensor leaf = torch::ones({2}).requires_grad_();
  const torch::Tensor copy = round_trip({{key, leaf * 2}})[key];
  EXPECT_FALSE(copy.requires_grad());
  expect_same(copy, torch::full({2}, 2.0F));
}

TEST(Wire, TellsWhatAMessageEncodesTo) {
  const Message message = rich_message(kLayout);
  const Bytes bytes = encode(message);
  EXPECT_TRUE(encodes_to(message, bytes));
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    Bytes other = bytes;
    other[place] ^= std::byte{0x80};
    EXPECT_FALSE(encodes_to(message, other)) << place;
    EXPECT_FALSE(encodes_to(message, std::span(bytes).first(place)));
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(encodes_to(message, longer));
}

TEST(Wire, CarriesNothing) {
  EXPECT_TRUE(round_trip({}).entries().empty());
  EXPECT_EQ(size_of({}), 8U);
  EXPECT_TRUE(round_trip({{Key<double>{""}, 1.0}}).contains(""));
}

TEST(Wire, CopiesWhatItCarries) {
  const Key<torch::Tensor> key{"t"};
  const torch::Tensor tensor = torch::zeros({2});
  Bytes bytes = encode({{key, tensor}});
  const Message message = decode(bytes, kLayout);
  std::fill(bytes.begin(), bytes.end(), std::byte{255});
  tensor.fill_(9);
  EXPECT_EQ(message[key].sum().item<float>(), 0);
}

TEST(Sizes, AreThoseOfTheFormat) {
  const std::size_t header = 8, name = 1 + 4 + 1;  // a name of four letters, with its length and the kind
  EXPECT_EQ(size_of({{Key<double>{"four"}, 1.0}}), header + name + 8);
  EXPECT_EQ(size_of({{Key<std::int64_t>{"four"}, std::int64_t{1}}}), header + name + 8);
  EXPECT_EQ(size_of({{Key<Params>{"four"}, Params::zeros(kLayout, torch::kFloat32)}}),
            header + name + 17 + 8 * 4);
  EXPECT_EQ(size_of({{Key<Params>{"four"}, Params::zeros(kLayout, torch::kFloat64)}}),
            header + name + 17 + 8 * 8);
  const std::vector<std::size_t> widths{4, 8, 8, 4, 1, 1};
  const std::vector<torch::Tensor> tensors = tensors_of_every_type();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(size_of({{Key<torch::Tensor>{"four"}, tensors[i]}}),
              header + name + 1 + 1 + 2 * 8 + 6 * widths[i]);
  }
  EXPECT_EQ(size_of({{Key<torch::Tensor>{"four"}, torch::tensor(1.0F)}}), header + name + 2 + 4);
  EXPECT_EQ(size_of({{Key<double>{"four"}, 1.0}, {Key<double>{"also"}, 1.0}}), header + 2 * (name + 8));
}

// The bytes themselves: what is written today must be read by every later version.
TEST(Format, IsLittleEndianAndFixed) {
  const Bytes bytes =
      encode({{Key<std::int64_t>{"ab"}, std::int64_t{0x0102030405060708}}, {Key<double>{"c"}, 1.0}});
  const std::vector<int> expected{'F', 'A', 'M', '1', 2, 0,   0, 0, 2, 'a', 'b', 3, 8, 7,    6,   5,
                                  4,   3,   2,   1,   1, 'c', 2, 0, 0, 0,   0,   0, 0, 0xF0, 0x3F};
  std::vector<int> found;
  for (const std::byte byte : bytes) found.push_back(static_cast<int>(byte));
  EXPECT_EQ(found, expected);
}

std::string refusal(const Message& message) {
  return message_of([&] { encode(message); });
}

TEST(Wire, RefusesTypesThatItDoesNotKnow) {
  EXPECT_EQ(
      refusal({{Key<torch::Tensor>{"t"}, torch::zeros({1}, torch::kFloat16)}}),
      "the entry \"t\" of a message is of type Half; allowed: float32, float64, int64, int32, uint8, bool");
}

TEST(Wire, RefusesWhatWasNeverAssigned) {
  EXPECT_EQ(refusal({{Key<torch::Tensor>{"t"}, torch::Tensor()}}),
            "the entry \"t\" of a message is an undefined tensor; allowed: a tensor, which may be empty");
  EXPECT_EQ(refusal({{Key<Params>{"p"}, Params()}}), "the entry \"p\" of a message was never assigned");
}

TEST(Wire, RefusesNamesThatAreTooLong) {
  Message message;
  message.put_entry({std::string(255, 'x'), 1.0});
  EXPECT_TRUE(round_trip(message).contains(std::string(255, 'x')));
  message.put_entry({std::string(256, 'x'), 1.0});
  EXPECT_THROW(encode(message), Bug);
}

TEST(Wire, RefusesParamsOfAnotherModel) {
  Layout turned;
  turned.add({3, 2});
  turned.add({2});
  Layout larger;
  larger.add({9});
  const Bytes bytes = encode({{Key<Params>{"p"}, Params::zeros(kLayout, torch::kFloat32)}});
  for (const Layout& other : {turned, larger}) {
    expect_refused("parameters of another model (8 numbers, this model has",
                   [&] { decode(bytes, std::make_shared<const Layout>(other)); });
  }
}

// Bytes that are not a message: each is refused with Error, or happens to be a message again; nothing else is
// ever thrown and nothing large is allocated.

std::string refusal(const Bytes& bytes) {
  return message_of([&] { decode(bytes, kLayout); });
}

Bytes bytes_of(const std::vector<int>& values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// A message of one tensor of that type and shape, without its elements.
Bytes hollow_tensor(int type, const std::vector<std::int64_t>& shape) {
  Bytes bytes = bytes_of({'F', 'A', 'M', '1', 1, 0, 0, 0, 1, 't', 1, type, static_cast<int>(shape.size())});
  for (const std::int64_t extent : shape) put_value(bytes, extent);
  return bytes;
}

TEST(Damage, EveryTruncationIsRefused) {
  const Bytes bytes = encode(rich_message(kLayout));
  ASSERT_NO_THROW(decode(bytes, kLayout));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(refusal(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))),
                HasSubstr("cannot decode a message: it is cut short inside"))
        << size;
  }
}

TEST(Damage, BytesToSpareAreRefused) {
  Bytes bytes = encode(rich_message(kLayout));
  bytes.push_back(std::byte{0});
  EXPECT_EQ(refusal(bytes), "cannot decode a message: 1 bytes follow its last entry");
}

TEST(Damage, IsNamed) {
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '2', 0, 0, 0, 0})), HasSubstr("does not begin with FAM1"));
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '1', 1, 0, 0, 0, 1, 'x', 9})),
              HasSubstr("an entry has the unknown kind 9"));
  EXPECT_THAT(refusal(hollow_tensor(6, {1})), HasSubstr("a tensor has the unknown element type 6"));
  Bytes boolean = hollow_tensor(5, {1});
  boolean.push_back(std::byte{2});
  EXPECT_THAT(refusal(boolean), HasSubstr("a boolean is neither 0 nor 1"));
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '1', 2, 0, 0, 0,           //
                                1,   'x', 3,   0,   0, 0, 0, 0, 0, 0, 0,  //
                                1,   'x', 3,   0,   0, 0, 0, 0, 0, 0, 0})),
              HasSubstr("the name \"x\" appears twice"));
}

TEST(Damage, IntegersAreNoParams) {
  Bytes bytes = encode({{Key<Params>{"p"}, Params::zeros(kLayout, torch::kFloat64)}});
  bytes[8 + 2 + 1] = std::byte{2};  // the element type: int64, of the same width
  EXPECT_THAT(refusal(bytes), HasSubstr("its parameters are not floating"));
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
    for (const int type : {0, 1, 4}) EXPECT_THAT(refusal(hollow_tensor(type, shape)), HasSubstr("tensor"));
  }
  EXPECT_NO_THROW(decode(hollow_tensor(0, {0, 1'000'000}), kLayout));
  EXPECT_NO_THROW(decode(hollow_tensor(0, std::vector<std::int64_t>(255, 0)), kLayout));
}

TEST(Damage, HugeCountsAreRefused) {
  EXPECT_THAT(refusal(bytes_of({'F', 'A', 'M', '1', 255, 255, 255, 255})), HasSubstr("cut short"));
}

}  // namespace
}  // namespace fedarena
