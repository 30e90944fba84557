#include "harness/wire/wire.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/sdk/sendable.hpp"

namespace fedarena {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

constexpr std::array kMagic{'F', 'A', 'M', '1'};
constexpr std::size_t kLargest = std::numeric_limits<std::int64_t>::max();
enum class Kind : std::uint8_t { kParams = 0, kTensor = 1, kDouble = 2, kInteger = 3 };

// On the wire an element type is its place here: the number is ours, so that it does not change with
// LibTorch's.
constexpr const auto& kTypes = kSendableTypes;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T number(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what), sizeof(T));
    return value;
  }
  std::string text(const char* what) {
    const auto size = number<std::uint8_t>(what);
    return {reinterpret_cast<const char*>(take(size, what)), size};
  }
  torch::ScalarType type(const char* what) {
    const auto index = number<std::uint8_t>(what);
    if (index >= kTypes.size()) fail(fmt::format("{} has the unknown element type {}", what, index));
    return kTypes[index];
  }
  torch::Tensor elements(const std::vector<std::int64_t>& shape, torch::ScalarType type) {
    // The size is checked against what is left before anything is allocated. `span` counts empty dimensions
    // as 1, because LibTorch computes strides from it.
    std::size_t size = torch::elementSize(type);
    std::size_t span = size;
    for (const std::int64_t extent : shape) {
      const auto factor = static_cast<std::size_t>(extent);
      if (extent < 0 || __builtin_mul_overflow(span, std::max<std::size_t>(factor, 1), &span) ||
          span > kLargest) {
        fail("a tensor has an impossible shape");
      }
      size *= factor;
    }
    const std::byte* data = take(size, "a tensor");
    const auto odd = [](std::byte byte) { return byte > std::byte{1}; };
    if (type == torch::kBool && std::any_of(data, data + size, odd)) fail("a boolean is neither 0 nor 1");
    torch::Tensor tensor = torch::empty(shape, type);
    if (size > 0) std::memcpy(tensor.data_ptr(), data, size);
    return tensor;
  }
  std::size_t left() const { return bytes_.size(); }

  [[noreturn]] static void fail(const std::string& why) {
    throw Error::of("cannot decode a message: {}", why);
  }

 private:
  const std::byte* take(std::size_t size, const char* what) {
    if (size > bytes_.size()) fail(fmt::format("it is cut short inside {}", what));
    const std::byte* data = bytes_.data();
    bytes_ = bytes_.subspan(size);
    return data;
  }

  std::span<const std::byte> bytes_;
};

// Hands what a message is encoded as to `put`, piece by piece: std::span<const std::byte>.
template <typename Put>
class Writer {
 public:
  explicit Writer(Put put) : put_(std::move(put)) {}

  void message(const Message& message) {
    value(kMagic);
    value(static_cast<std::uint32_t>(message.entries().size()));
    for (const Message::Entry& entry : message.entries()) {
      check(entry);
      FEDARENA_CHECK(entry.name.size(), <, 256U);
      value(static_cast<std::uint8_t>(entry.name.size()));
      put_(std::as_bytes(std::span(entry.name)));
      std::visit(*this, entry.content);
    }
  }
  void operator()(const Params& params) {
    value(Kind::kParams);
    type(params.flat());
    value(params.flat().numel());
    value(params.layout()->fingerprint());
    elements(params.flat());
  }
  void operator()(const torch::Tensor& tensor) {
    value(Kind::kTensor);
    type(tensor);
    value(static_cast<std::uint8_t>(tensor.dim()));
    for (const std::int64_t extent : tensor.sizes()) value(extent);
    elements(tensor);
  }
  void operator()(double number) {
    value(Kind::kDouble);
    value(number);
  }
  void operator()(std::int64_t number) {
    value(Kind::kInteger);
    value(number);
  }

 private:
  static void check(const Message::Entry& entry) {
    const auto* params = std::get_if<Params>(&entry.content);
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (params && params->empty())
      throw Error::of("the entry \"{}\" of a message was never assigned", entry.name);
    if (const std::string why = params   ? unsendable(params->flat())
                                : tensor ? unsendable(*tensor)
                                         : "";
        !why.empty())
      throw Error::of("the entry \"{}\" of a message {}", entry.name, why);
  }
  template <typename Value>
  void value(const Value& value) {
    put_(std::as_bytes(std::span(&value, 1)));
  }
  void type(const torch::Tensor& tensor) {
    value(static_cast<std::uint8_t>(std::ranges::find(kTypes, tensor.scalar_type()) - kTypes.begin()));
  }
  void elements(const torch::Tensor& tensor) {
    const torch::Tensor plain = tensor.detach().resolve_neg().to(torch::kCPU).contiguous();
    put_(std::span(static_cast<const std::byte*>(plain.data_ptr()), plain.nbytes()));
  }

  Put put_;
};

Params read_params(Reader& reader, const std::shared_ptr<const Layout>& layout, torch::Device device) {
  const torch::ScalarType type = reader.type("parameters");
  const auto numel = reader.number<std::int64_t>("parameters");
  const auto fingerprint = reader.number<std::uint64_t>("parameters");
  if (!torch::isFloatingType(type)) Reader::fail("its parameters are not floating");
  if (numel != layout->numel() || fingerprint != layout->fingerprint()) {
    Reader::fail(fmt::format("it holds parameters of another model ({} numbers, this model has {})", numel,
                             layout->numel()));
  }
  return {layout, reader.elements({numel}, type).to(device)};
}

torch::Tensor read_tensor(Reader& reader) {
  const torch::ScalarType type = reader.type("a tensor");
  std::vector<std::int64_t> shape(reader.number<std::uint8_t>("a tensor"));
  for (std::int64_t& extent : shape) extent = reader.number<std::int64_t>("a tensor's shape");
  return reader.elements(shape, type);
}

Message::Content read_content(Reader& reader, const std::shared_ptr<const Layout>& layout,
                              torch::Device device) {
  const auto kind = reader.number<Kind>("an entry");
  switch (kind) {
    case Kind::kParams:
      return read_params(reader, layout, device);
    case Kind::kTensor:
      return read_tensor(reader);
    case Kind::kDouble:
      return reader.number<double>("a number");
    case Kind::kInteger:
      return reader.number<std::int64_t>("a number");
  }
  Reader::fail(fmt::format("an entry has the unknown kind {}", static_cast<int>(kind)));
}

}  // namespace

Bytes encode(const Message& message) {
  std::size_t size = 64;
  for (const Message::Entry& entry : message.entries()) {
    const auto* params = std::get_if<Params>(&entry.content);
    if (params != nullptr && !params->empty()) size += params->flat().nbytes() + 64;
  }
  Bytes bytes;
  bytes.reserve(size);
  Writer([&](std::span<const std::byte> piece) { put_bytes(bytes, piece); }).message(message);
  return bytes;
}

bool encodes_to(const Message& message, std::span<const std::byte> bytes) {
  bool same = true;
  Writer([&](std::span<const std::byte> piece) {
    same = same && piece.size() <= bytes.size() &&
           (piece.empty() || std::memcmp(piece.data(), bytes.data(), piece.size()) == 0);
    if (same) bytes = bytes.subspan(piece.size());
  }).message(message);
  return same && bytes.empty();
}

Message decode(std::span<const std::byte> bytes, const std::shared_ptr<const Layout>& layout,
               torch::Device device) {
  Reader reader(bytes);
  for (const char letter : kMagic) {
    if (reader.number<char>("the header") != letter) Reader::fail("it does not begin with FAM1");
  }
  const auto count = reader.number<std::uint32_t>("the header");
  Message message;
  for (std::uint32_t index = 0; index < count; ++index) {
    std::string name = reader.text("a name");
    if (message.contains(name)) Reader::fail(fmt::format("the name \"{}\" appears twice", name));
    message.put_entry({std::move(name), read_content(reader, layout, device)});
  }
  if (reader.left() != 0) Reader::fail(fmt::format("{} bytes follow its last entry", reader.left()));
  return message;
}

}  // namespace fedarena
