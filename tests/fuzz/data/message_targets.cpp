// What clients send, and what a run continues from.
#include <cstring>
#include <memory>

#include "harness/simulation/checkpoint.hpp"
#include "tests/fuzz/data/data_targets.hpp"

namespace fedarena::fuzz {
namespace {

const Model& model() {
  static const Model kModel({.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}}, torch::kFloat32);
  return kModel;
}

Params params() { return {model().layout(), torch::arange(model().layout()->numel()).to(model().options())}; }

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void read_message(std::string_view bytes) {
  const Message message = decode(bytes_of(bytes), model().layout());
  const Bytes written = encode(message);
  require(encode(decode(written, model().layout())) == written, "the message changes when it is written");
}

// With the length and the checksum of what it holds: else everything would be refused for them.
void read_checkpoint(std::string_view bytes) {
  constexpr std::size_t kSizeAt = 8, kHeader = 24;
  Bytes sealed(bytes_of(bytes).begin(), bytes_of(bytes).end());
  if (sealed.size() >= kHeader) {
    const auto body = std::span<const std::byte>(sealed).subspan(kHeader);
    const std::array<std::uint64_t, 2> seal = {body.size(), checksum_of(body)};
    std::memcpy(sealed.data() + kSizeAt, seal.data(), sizeof(seal));
  }
  const Checkpoint checkpoint = unpack_checkpoint(sealed, model());
  unpack_checkpoint(pack_checkpoint(checkpoint), model());
}

Message message() {
  Message message{{Key<Params>{"model"}, params()},
                  {Key<double>{"radius"}, 0.1},
                  {Key<std::int64_t>{"examples"}, std::int64_t{-5}},
                  {Key<torch::Tensor>{"scalar"}, torch::tensor(2.5, torch::kFloat64)},
                  {Key<torch::Tensor>{"empty"}, torch::empty({0, 3}, torch::kInt32)}};
  for (const auto type :
       {torch::kFloat32, torch::kFloat64, torch::kInt64, torch::kInt32, torch::kUInt8, torch::kBool}) {
    message.put_entry({std::string("tensor ") + torch::toString(type), torch::ones({2, 3}, type)});
  }
  return message;
}

std::string checkpoint() {
  return text_of(
      pack_checkpoint({.round = 12,
                       .params = params(),
                       .server_state = {{Key<Params>{"control"}, params()}},
                       .client_states = {.held = {{0, std::make_shared<const Bytes>(encode(message()))}},
                                         .filed = {{7, {.offset = 30, .size = 12, .checksum = 99}}}},
                       .clip_norm = 0.75,
                       .ledger = "{}\n"}));
}

}  // namespace

std::vector<Target> message_targets() {
  return {{.name = "wire", .read = read_message, .seeds = {text_of(encode(message())), text_of(encode({}))}},
          {.name = "checkpoint", .read = read_checkpoint, .seeds = {checkpoint()}}};
}

}  // namespace fedarena::fuzz
