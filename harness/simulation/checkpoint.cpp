#include "harness/simulation/checkpoint.hpp"

#include <cstring>

#include "fedarena/base/error.hpp"

#include "harness/simulation/checksum.hpp"

namespace fedarena {
namespace {

constexpr std::uint32_t kMagic = 0x50434146;  // "FACP"
constexpr std::uint32_t kVersion = 4;
constexpr Key<Params> kParams{"params"};
constexpr Key<double> kClipNorm{"clip_norm"};
constexpr Key<torch::Tensor> kCanaryScores{"canary_scores"};

struct Header {
  std::uint32_t magic, version;
  std::uint64_t size, checksum;
};

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
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::span<const std::byte> part() { return take(number()); }
  std::string text() {
    const std::span<const std::byte> bytes = part();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void finish() const {
    if (!bytes_.empty()) throw Error::of("the checkpoint has {} bytes to spare", bytes_.size());
  }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > bytes_.size()) throw Error::of("the checkpoint is cut short");
    const std::span<const std::byte> taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  std::span<const std::byte> bytes_;
};

ClientStates::Content client_states_from(Parts& parts) {
  ClientStates::Content content;
  for (std::uint64_t left = parts.number(); left > 0; --left) {
    const auto client = static_cast<std::int64_t>(parts.number());
    const std::span<const std::byte> state = parts.part();
    content.held[client] = std::make_shared<const Bytes>(state.begin(), state.end());
  }
  for (std::uint64_t left = parts.number(); left > 0; --left) {
    const auto client = static_cast<std::int64_t>(parts.number());
    Extent& extent = content.filed[client];
    extent.offset = parts.number();
    extent.size = parts.number();
    extent.checksum = parts.number();
  }
  return content;
}

}  // namespace

Bytes pack_checkpoint(const Checkpoint& checkpoint) {
  const auto& [held, filed] = checkpoint.client_states;
  std::size_t size = sizeof(Header) + checkpoint.ledger.size() + checkpoint.unpublished.size() +
                     5 * filed.size() * sizeof(std::uint64_t);
  for (const auto& [client, state] : held) size += 2 * sizeof(std::uint64_t) + state->size();
  Bytes bytes;
  bytes.reserve(size + 4 * checkpoint.params.flat().nbytes());  // states may be large: no copies of copies
  bytes.resize(sizeof(Header));
  put_number(bytes, static_cast<std::uint64_t>(checkpoint.round));
  Message own{{kParams, checkpoint.params}, {kClipNorm, checkpoint.clip_norm}};
  if (!checkpoint.canary_scores.empty())
    own.put(kCanaryScores, torch::tensor(checkpoint.canary_scores, torch::kFloat64));
  put_part(bytes, encode(own));
  put_part(bytes, encode(checkpoint.server_state));
  put_number(bytes, held.size());
  for (const auto& [client, state] : held) {
    put_number(bytes, static_cast<std::uint64_t>(client));
    put_part(bytes, *state);
  }
  put_number(bytes, filed.size());
  for (const auto& [client, extent] : filed) {
    put_number(bytes, static_cast<std::uint64_t>(client));
    for (const std::uint64_t number : {extent.offset, extent.size, extent.checksum})
      put_number(bytes, number);
  }
  put_part(bytes, std::as_bytes(std::span(checkpoint.ledger)));
  put_part(bytes, encode(checkpoint.synthetic));
  put_part(bytes, std::as_bytes(std::span(checkpoint.unpublished)));

  const auto body = std::span<const std::byte>(bytes).subspan(sizeof(Header));
  const Header header{kMagic, kVersion, body.size(), checksum_of(body)};
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

Checkpoint unpack_checkpoint(std::span<const std::byte> bytes, const Model& model) {
  Header header{};
  if (bytes.size() < sizeof(header)) throw Error::of("the checkpoint is cut short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> body = bytes.subspan(sizeof(header));
  if (header.magic != kMagic) throw Error::of("this is not a checkpoint of fedarena");
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
  try {
    checkpoint.params = own[kParams];
    checkpoint.clip_norm = own[kClipNorm];
    if (own.contains(kCanaryScores.name)) {
      const torch::Tensor scores = own[kCanaryScores].to(torch::kCPU, torch::kFloat64).flatten().contiguous();
      checkpoint.canary_scores.assign(scores.data_ptr<double>(), scores.data_ptr<double>() + scores.numel());
    }
  } catch (const Bug& missing) {  // a checksum says nothing of who wrote it
    throw Error::of("this is not a checkpoint of fedarena: {}", missing.what());
  }
  if (checkpoint.params.flat().dtype() != model.options().dtype()) {
    throw Error::of("the checkpoint's parameters are {}, this run's are {}",
                    torch::toString(checkpoint.params.flat().scalar_type()),
                    torch::toString(torch::typeMetaToScalarType(model.options().dtype())));
  }
  checkpoint.server_state = decode(parts.part(), model.layout(), device);
  checkpoint.client_states = client_states_from(parts);
  checkpoint.ledger = parts.text();
  checkpoint.synthetic = decode(parts.part(), model.layout(), torch::kCPU);
  checkpoint.unpublished = parts.text();
  parts.finish();
  return checkpoint;
}

}  // namespace fedarena
