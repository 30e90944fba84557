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

class Writer {
 public:
  template <typename T>
  void number(T value) {
    raw(&value, sizeof(value));
  }
  void raw(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  void text(const std::string& value) {
    FEDARENA_CHECK(value.size(), <, 256U);
    number(static_cast<std::uint8_t>(value.size()));
    raw(value.data(), value.size());
  }
  void type(torch::ScalarType value) {
    number(static_cast<std::uint8_t>(std::ranges::find(kTypes, value) - kTypes.begin()));
  }
  void elements(const torch::Tensor& tensor) {
    const torch::Tensor plain = tensor.detach().to(torch::kCPU).contiguous();
    raw(plain.data_ptr(), plain.nbytes());
  }
  Bytes take() { return std::move(bytes_); }
  void reserve(std::size_t size) { bytes_.reserve(size); }

 private:
  Bytes bytes_;
};

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

struct ContentWriter {
  Writer& writer;

  void operator()(const Params& params) const {
    writer.number(Kind::kParams);
    writer.type(params.flat().scalar_type());
    writer.number(params.flat().numel());
    writer.number(params.layout()->fingerprint());
    writer.elements(params.flat());
  }
  void operator()(const torch::Tensor& tensor) const {
    writer.number(Kind::kTensor);
    writer.type(tensor.scalar_type());
    writer.number(static_cast<std::uint8_t>(tensor.dim()));
    for (const std::int64_t extent : tensor.sizes()) writer.number(extent);
    writer.elements(tensor);
  }
  void operator()(double value) const {
    writer.number(Kind::kDouble);
    writer.number(value);
  }
  void operator()(std::int64_t value) const {
    writer.number(Kind::kInteger);
    writer.number(value);
  }
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

}  // namespace

Bytes encode(const Message& message) {
  Writer writer;
  std::size_t size = 64;
  for (const Message::Entry& entry : message.entries()) {
    const auto* params = std::get_if<Params>(&entry.content);
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (params && params->empty())
      throw Error::of("the entry \"{}\" of a message was never assigned", entry.name);
    if (const std::string why = params   ? unsendable(params->flat())
                                : tensor ? unsendable(*tensor)
                                         : "";
        !why.empty())
      throw Error::of("the entry \"{}\" of a message {}", entry.name, why);
    if (params) size += params->flat().nbytes() + 64;
  }
  writer.reserve(size);
  writer.raw(kMagic.data(), kMagic.size());
  writer.number(static_cast<std::uint32_t>(message.entries().size()));
  for (const Message::Entry& entry : message.entries()) {
    writer.text(entry.name);
    std::visit(ContentWriter{writer}, entry.content);
  }
  return writer.take();
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
    const auto kind = reader.number<Kind>("an entry");
    switch (kind) {
      case Kind::kParams:
        message.put_entry({std::move(name), read_params(reader, layout, device)});
        break;
      case Kind::kTensor:
        message.put_entry({std::move(name), read_tensor(reader)});
        break;
      case Kind::kDouble:
        message.put_entry({std::move(name), reader.number<double>("a number")});
        break;
      case Kind::kInteger:
        message.put_entry({std::move(name), reader.number<std::int64_t>("a number")});
        break;
      default:
        Reader::fail(fmt::format("an entry has the unknown kind {}", static_cast<int>(kind)));
    }
  }
  if (reader.left() != 0) Reader::fail(fmt::format("{} bytes follow its last entry", reader.left()));
  return message;
}

}  // namespace fedarena
