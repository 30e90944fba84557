#include "harness/simulation/checkpoint.hpp"

#include <cstring>

#include "fedarena/base/error.hpp"
#include "fedarena/base/fnv.hpp"

#include "harness/wire/parts.hpp"

namespace fedarena {
namespace {

constexpr std::uint32_t kMagic = 0x50434146;  // "FACP"
constexpr std::uint32_t kVersion = 5;
constexpr Key<Params> kParams{"params"};
constexpr Key<double> kClipNorm{"clip_norm"};
constexpr Key<torch::Tensor> kCanaryScores{"canary_scores"};
constexpr Key<torch::Tensor> kRandomisedLabels{"labels"};

struct Header {
  std::uint32_t magic, version;
  std::uint64_t size, checksum;
};

ClientStates::Content client_states_from(Parts& parts) {
  ClientStates::Content content;
  for (auto left = parts.next<std::uint64_t>(); left > 0; --left) {
    const auto client = parts.next<std::int64_t>();
    content.held[client] = std::make_shared<const Bytes>(parts.next<Bytes>());
  }
  for (auto left = parts.next<std::uint64_t>(); left > 0; --left) {
    Extent& extent = content.filed[parts.next<std::int64_t>()];
    parts(extent.offset, extent.size, extent.checksum);
  }
  return content;
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  Fnv1a hash;
  for (const std::byte byte : bytes) hash.add(static_cast<std::uint64_t>(byte));
  return hash.value();
}

Bytes pack_checkpoint(const Checkpoint& checkpoint) {
  const auto& [held, filed] = checkpoint.client_states;
  std::size_t size = sizeof(Header) + checkpoint.ledger.size() + checkpoint.unpublished.size() +
                     5 * filed.size() * sizeof(std::uint64_t);
  for (const auto& [client, state] : held) size += 2 * sizeof(std::uint64_t) + state->size();
  Bytes bytes;
  bytes.reserve(size + 4 * checkpoint.params.flat().nbytes());  // states may be large: no copies of copies
  bytes.resize(sizeof(Header));
  Message own{{kParams, checkpoint.params}, {kClipNorm, checkpoint.clip_norm}};
  if (!checkpoint.canary_scores.empty())
    own.put(kCanaryScores, torch::tensor(checkpoint.canary_scores, torch::kFloat64));
  if (checkpoint.labels.defined()) own.put(kRandomisedLabels, checkpoint.labels.to(torch::kInt32));
  put(bytes, checkpoint.round, encode(own), encode(checkpoint.server_state), held.size());
  for (const auto& [client, state] : held) put(bytes, client, *state);
  put(bytes, filed.size());
  for (const auto& [client, extent] : filed) put(bytes, client, extent.offset, extent.size, extent.checksum);
  put(bytes, checkpoint.ledger, encode(checkpoint.synthetic), checkpoint.unpublished);

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
  Parts parts(body, "checkpoint");
  Checkpoint checkpoint;
  parts(checkpoint.round);
  const Message own = decode(parts.part(), model.layout(), device);
  try {
    checkpoint.params = own[kParams];
    checkpoint.clip_norm = own[kClipNorm];
    if (own.contains(kCanaryScores.name)) {
      const torch::Tensor scores = own[kCanaryScores].to(torch::kCPU, torch::kFloat64).flatten().contiguous();
      checkpoint.canary_scores.assign(scores.data_ptr<double>(), scores.data_ptr<double>() + scores.numel());
    }
    if (own.contains(kRandomisedLabels.name))
      checkpoint.labels = own[kRandomisedLabels].to(torch::kCPU, torch::kInt64).flatten().contiguous();
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
  parts(checkpoint.ledger);
  checkpoint.synthetic = decode(parts.part(), model.layout(), torch::kCPU);
  parts(checkpoint.unpublished);
  parts.finish();
  return checkpoint;
}

}  // namespace fedarena
