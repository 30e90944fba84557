#include "synthetic_set.hpp"

namespace fedlap {

using fedarena::Batch;
using fedarena::Client;
using fedarena::Message;
using fedarena::Purpose;
using fedarena::Stream;

namespace {

constexpr double kSteps = 255;  // of 8 bits

torch::Tensor balanced_labels(const Config& config, Client& client) {
  const torch::Tensor classes = config.classes == "held"
                                    ? client.oracle.held_classes()
                                    : torch::arange(client.model.num_classes(), torch::kInt64);
  return classes.repeat_interleave(config.images_per_class);
}

torch::Tensor noise(Client& client, std::int64_t count, Stream& stream) {
  return normal(stream, client.model.input_shape(count)).to(client.model.options());
}

// For each label an example of that class, drawn anew for each class without replacement; noise where a
// client holds too few.
torch::Tensor real_images(Client& client, const torch::Tensor& labels, Stream& stream) {
  const Batch examples = client.oracle.exact_batch();
  torch::Tensor images = noise(client, labels.size(0), stream);
  for (std::int64_t label = 0; label < client.model.num_classes(); ++label) {
    const torch::Tensor places = labels.eq(label).nonzero().flatten();
    const torch::Tensor own = examples.targets.eq(label).nonzero().flatten();
    const std::int64_t count = std::min(places.size(0), own.size(0));
    const std::vector<std::int64_t> drawn = stream.sample_without_replacement(own.size(0), count);
    const torch::Tensor chosen = own.index_select(0, torch::tensor(drawn, torch::kInt64));
    images.index_copy_(0, places.narrow(0, 0, count), examples.inputs.index_select(0, chosen));
  }
  return images;
}

}  // namespace

Batch initial_set(const Config& config, Client& client) {
  const torch::Tensor labels = balanced_labels(config, client);
  if (config.carry_images && client.state.contains(kImages.name)) return {client.state[kImages], labels};
  Stream stream = client.streams(Purpose::kSynthetic);
  return {config.image_init == "real" ? real_images(client, labels, stream)
                                      : noise(client, labels.size(0), stream),
          labels};
}

Message encode_set(const Config& config, const Client& client, const Batch& set) {
  Message message{{kLabels, set.targets}, {kExamples, client.oracle.size()}};
  if (config.image_encoding == "float32") {
    message.put(kImages, set.inputs);
    return message;
  }
  const double low = set.inputs.numel() == 0 ? 0 : set.inputs.min().item<double>();
  const double high = set.inputs.numel() == 0 ? 0 : set.inputs.max().item<double>();
  const double step = high > low ? (high - low) / kSteps : 1;
  message.put(kImages, ((set.inputs - low) / step).round().clamp(0, kSteps).to(torch::kUInt8));
  message.put(kLow, low);
  message.put(kStep, step);
  return message;
}

Batch decode_set(const Message& message, const torch::TensorOptions& options) {
  torch::Tensor images = message[kImages].to(options);
  if (message.contains(kStep.name)) images = images * message[kStep] + message[kLow];
  return {images, message[kLabels].to(options.device())};
}

}  // namespace fedlap
