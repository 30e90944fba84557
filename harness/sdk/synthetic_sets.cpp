#include "fedarena/synthetic_sets.hpp"

#include <algorithm>

namespace fedarena {
namespace {

// Of images as uint8: a pixel is kLow + kStep * its byte.
constexpr Key<double> kLow{"low"};
constexpr Key<double> kStep{"step"};
constexpr double kSteps = 255;  // of 8 bits

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
    const torch::Tensor chosen = own.index_select(0, torch::tensor(drawn, torch::kInt64).to(own.device()));
    images.index_copy_(0, places.narrow(0, 0, count), examples.inputs.index_select(0, chosen));
  }
  return images;
}

}  // namespace

Schema<SyntheticSets> SyntheticSets::schema() {
  return {
      {"images_per_class", &SyntheticSets::images_per_class, "synthetic images of each class on a client",
       Constraint::between(1, 1'000'000)},
      {"classes", &SyntheticSets::classes,
       "classes of a client's synthetic images: those that it holds (asking for them is an exact access "
       "unless the privacy policy has public_classes) or all, where images of others stay as they start",
       Constraint::one_of({"held", "all"})},
      {"image_init", &SyntheticSets::image_init,
       "what synthetic images start as: a client's own examples (an exact access), with noise where it has "
       "fewer of a class, or standard normal noise",
       Constraint::one_of({"real", "noise"})},
      {"image_encoding", &SyntheticSets::image_encoding,
       "pixels on the wire; float32: in the dtype of the model; uint8: the range of a client's images in 255 "
       "steps",
       Constraint::one_of({"float32", "uint8"})},
  };
}

torch::Tensor balanced_labels(const SyntheticSets& config, Client& client) {
  const torch::Tensor classes = config.classes == "held"
                                    ? client.oracle.held_classes()
                                    : torch::arange(client.model.num_classes(), torch::kInt64);
  return classes.repeat_interleave(config.images_per_class).to(client.model.options().device());
}

Batch initial_set(const SyntheticSets& config, Client& client) {
  const torch::Tensor labels = balanced_labels(config, client);
  Stream stream = client.streams(Purpose::kSynthetic);
  return {config.image_init == "real" ? real_images(client, labels, stream)
                                      : noise(client, labels.size(0), stream),
          labels};
}

Message encode_set(const SyntheticSets& config, const Client& client, const Batch& set) {
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

std::vector<Batch> decode_sets(const Uplink& uplink, const torch::TensorOptions& options) {
  std::vector<Batch> sets;
  for (const Message& message : uplink.each()) {
    if (message[kLabels].size(0) > 0) sets.push_back(decode_set(message, options));
  }
  return sets;
}

Batch union_of(const std::vector<Batch>& sets) {
  std::vector<torch::Tensor> inputs, targets;
  for (const Batch& set : sets) {
    inputs.push_back(set.inputs);
    targets.push_back(set.targets);
  }
  return {torch::cat(inputs), torch::cat(targets)};
}

}  // namespace fedarena
