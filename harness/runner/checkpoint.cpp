#include "harness/runner/checkpoint.hpp"

#include <cstring>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr std::uint32_t kMagic = 0x50434146;  // "FACP"
constexpr std::uint32_t kVersion = 2;
constexpr Key<Params> kParams{"params"};
constexpr Key<double> kClipNorm{"clip_norm"};

struct Header {
  std::uint32_t magic, version;
  std::uint64_t size, checksum;
};

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

void put_number(Bytes& bytes, std::uint64_t value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(value));
}

void put_part(Bytes& bytes, std::span<const std::byte> part) {
  put_number(bytes, part.size());
  bytes.insert(bytes.end(), part.begin(), part.end());
}

// Takes the parts off again; the checksum was right, so that a short read can only be a foreign layout.
class Parts {
 public:
  explicit Parts(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::span<const std::byte> part() { return take(number()); }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > bytes_.size()) throw Error::of("the checkpoint is cut short");
    const std::span<const std::byte> taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  std::span<const std::byte> bytes_;
};

}  // namespace

Bytes pack_checkpoint(const Checkpoint& checkpoint) {
  Bytes body;
  put_number(body, static_cast<std::uint64_t>(checkpoint.round));
  put_part(body, encode({{kParams, checkpoint.params}, {kClipNorm, checkpoint.clip_norm}}));
  put_part(body, encode(checkpoint.server_state));
  put_number(body, checkpoint.client_states.size());
  for (const auto& [client, state] : checkpoint.client_states) {
    put_number(body, static_cast<std::uint64_t>(client));
    put_part(body, encode(state));
  }
  put_part(body, std::as_bytes(std::span(checkpoint.ledger)));

  const Header header{kMagic, kVersion, body.size(), checksum_of(body)};
  Bytes bytes(sizeof(header) + body.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), body.data(), body.size());
  return bytes;
}

Checkpoint unpack_checkpoint(std::span<const std::byte> bytes, const Model& model) {
  Header header{};
  if (bytes.size() < sizeof(header)) throw Error::of("the checkpoint is cut short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> body = bytes.subspan(sizeof(header));
  if (header.magic != kMagic) throw Error::of("this is no checkpoint of fedarena");
  if (header.version != kVersion) {
    throw Error::of("the checkpoint has version {}, this program reads {}", header.version, kVersion);
  }
  if (header.size != body.size() || header.checksum != checksum_of(body)) {
    throw Error::of("the checkpoint is damaged: its checksum does not match");
  }
  const torch::Device device = model.options().device();
  Parts parts(body);
  Checkpoint checkpoint;
  checkpoint.round = static_cast<std::int64_t>(parts.number());
  const Message own = decode(parts.part(), model.layout(), device);
  checkpoint.params = own[kParams];
  checkpoint.clip_norm = own[kClipNorm];
  if (checkpoint.params.flat().dtype() != model.options().dtype()) {
    throw Error::of("the checkpoint's parameters are {}, this run's are {}",
                    torch::toString(checkpoint.params.flat().scalar_type()),
                    torch::toString(torch::typeMetaToScalarType(model.options().dtype())));
  }
  checkpoint.server_state = decode(parts.part(), model.layout(), device);
  const std::uint64_t clients = parts.number();
  for (std::uint64_t index = 0; index < clients; ++index) {
    const auto client = static_cast<std::int64_t>(parts.number());
    checkpoint.client_states[client] = decode(parts.part(), model.layout(), device);
  }
  const std::span<const std::byte> ledger = parts.part();
  checkpoint.ledger.assign(reinterpret_cast<const char*>(ledger.data()), ledger.size());
  return checkpoint;
}

}  // namespace fedarena
