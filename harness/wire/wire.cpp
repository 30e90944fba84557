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

void put_name(Bytes& bytes, const std::string& name) {
  FEDARENA_CHECK(name.size(), <, 256U);
  put_value(bytes, static_cast<std::uint8_t>(name.size()));
  put_bytes(bytes, std::as_bytes(std::span(name)));
}

void put_type(Bytes& bytes, torch::ScalarType type) {
  put_value(bytes, static_cast<std::uint8_t>(std::ranges::find(kTypes, type) - kTypes.begin()));
}

void put_elements(Bytes& bytes, const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().to(torch::kCPU).contiguous();
  put_bytes(bytes, {static_cast<const std::byte*>(plain.data_ptr()), plain.nbytes()});
}

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
  Bytes& bytes;

  void operator()(const Params& params) const {
    put_value(bytes, Kind::kParams);
    put_type(bytes, params.flat().scalar_type());
    put_value(bytes, params.flat().numel());
    put_value(bytes, params.layout()->fingerprint());
    put_elements(bytes, params.flat());
  }
  void operator()(const torch::Tensor& tensor) const {
    put_value(bytes, Kind::kTensor);
    put_type(bytes, tensor.scalar_type());
    put_value(bytes, static_cast<std::uint8_t>(tensor.dim()));
    for (const std::int64_t extent : tensor.sizes()) put_value(bytes, extent);
    put_elements(bytes, tensor);
  }
  void operator()(double value) const {
    put_value(bytes, Kind::kDouble);
    put_value(bytes, value);
  }
  void operator()(std::int64_t value) const {
    put_value(bytes, Kind::kInteger);
    put_value(bytes, value);
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
  Bytes bytes;
  bytes.reserve(size);
  put_value(bytes, kMagic);
  put_value(bytes, static_cast<std::uint32_t>(message.entries().size()));
  for (const Message::Entry& entry : message.entries()) {
    put_name(bytes, entry.name);
    std::visit(ContentWriter{bytes}, entry.content);
  }
  return bytes;
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
