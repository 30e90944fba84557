#include "harness/attack/uplink_inversion.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/local_training.hpp"

namespace fedarena {
namespace {

[[noreturn]] void refuse_inversion(std::string found, std::string remedy) {
  throw Error(Complaint{.found = std::move(found), .remedy = std::move(remedy)});
}

void check_images(const Model& model) {
  if (model.architecture().loss == Loss::kCrossEntropy && model.architecture().input_shape.size() == 3)
    return;
  refuse_inversion("gradients are inverted to images with classes, but the run has other examples",
                   "attack a run on images");
}

// What the rates of a client's steps sum to, which the server can know.
double rate_of(const UplinkInversion& attack, std::int64_t gradients) {
  Settings known;
  const Schema<RateSchedule> schema = RateSchedule::schema();
  for (const auto& setting : attack.hyper_parameters) {
    if (find_field(schema.fields(), setting.first) != nullptr) known.push_back(setting);
  }
  const double rate = schema.read(known).rate_in(attack.simulation.rounds_done() + 1, attack.setup.rounds);
  if (rate == 0)
    refuse_inversion("the rate of the round is 0, so that messages tell nothing of gradients",
                     "attack an earlier round, or raise minimum_rate");
  return rate * static_cast<double>(std::max<std::int64_t>(gradients, 1));
}

// In double precision, in the layout of `model`.
Params widened(const Model& model, const Params& params) {
  return {model.layout(), params.flat().to(model.options())};
}

class Inverter {
 public:
  explicit Inverter(const UplinkInversion& attack)
      : attack_(attack),
        model_(attack.setup.model.architecture(), attack.setup.model.options().dtype(torch::kFloat64)),
        at_(widened(model_, attack.simulation.params())),
        reader_(attack.setup.dataset, attack.setup.model.options()) {}

  InvertedUplink invert(std::int64_t client, const SeenUplink& seen) const {
    if (!seen.examples.inputs.defined() || seen.examples.size() == 0) {
      refuse_inversion(fmt::format("client {} took no gradient of any example", client),
                       "attack another client");
    }
    const double rate = rate_of(attack_, seen.gradients);
    check_gradient(client, seen, rate);
    const Params gradient = widened(model_, gradient_in(seen.message, rate));
    const std::int64_t count = seen.examples.size();
    const Stream stream({.seed = attack_.setup.seed,
                         .round = attack_.simulation.rounds_done() + 1,
                         .client = client,
                         .purpose = Purpose::kAttack});
    const Reconstruction found = fedarena::invert({model_, at_, gradient, count}, attack_.method,
                                                  attack_.effort, stream, attack_.setup.stop);
    InvertedUplink result{
        .client = client, .gradients = seen.gradients, .distance = found.distance, .examples = {}};
    compare(seen.examples, found, result.examples);
    return result;
  }

 private:
  // What the client made of its gradients tells nothing of their images where it is not their mean: a failure
  // would look like safety.
  void check_gradient(std::int64_t client, const SeenUplink& seen, double rate) const {
    const Params& global = attack_.simulation.params();
    const auto steps = static_cast<double>(seen.gradients);
    const Params sent = gradient_in(seen.unnoised, rate);
    // Each step is rounded to the precision of the parameters.
    const double rounding =
        4 * steps * std::numeric_limits<float>::epsilon() * (norm(sent) + norm(global) / rate);
    if (torch::equal(seen.asked_at.flat(), global.flat()) && norm(sent - 1 / steps * seen.sum) <= rounding)
      return;
    refuse_inversion(
        fmt::format("what client {} sends is not the mean of its gradients from the global model on", client),
        "attack a run of fedsgd, or one of fedavg without momentum and weight decay");
  }

  void compare(const Batch& truth, const Reconstruction& found,
               std::vector<InvertedExample>& examples) const {
    const torch::Tensor originals = reader_.pixels(truth.inputs), images = reader_.pixels(found.inputs);
    const auto count = static_cast<std::size_t>(truth.size());
    std::vector<std::vector<double>> mse(count, std::vector<double>(count));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        mse[i][j] =
            mean_squared_error(images[static_cast<std::int64_t>(j)], originals[static_cast<std::int64_t>(i)]);
      }
    }
    const std::vector<std::int64_t> match = best_assignment(mse);
    for (std::int64_t i = 0; i < truth.size(); ++i) {
      const std::int64_t j = match[static_cast<std::size_t>(i)];
      examples.push_back({.label = truth.targets[i].item<std::int64_t>(),
                          .guess = found.labels[j].item<std::int64_t>(),
                          .quality = image_quality(images[j], originals[i]),
                          .original = originals[i],
                          .reconstruction = images[j]});
    }
  }

  const UplinkInversion& attack_;
  Model model_;
  Params at_;
  ExampleReader reader_;
};

}  // namespace

Params gradient_in(const Message& message, double rate) {
  const auto params = [&](const char* name) { return message[Key<Params>{name}]; };
  if (message.contains("gradient")) return params("gradient");
  for (const char* update : {"update", "model_update"}) {
    if (message.contains(update)) return (-1 / rate) * params(update);
  }
  throw Error(
      Complaint{.found = fmt::format("no gradient can be derived from what a client sends: {}",
                                     fmt::join(names_of(message.entries(), &Message::Entry::name), ", ")),
                .allowed = "a gradient or the update of a model",
                .remedy = "attack a run of fedsgd or fedavg"});
}

std::vector<InvertedUplink> invert_uplinks(const UplinkInversion& attack,
                                           const std::vector<std::int64_t>& clients) {
  check_images(attack.setup.model);
  const Inverter inverter(attack);
  std::vector<InvertedUplink> inverted(clients.size());
  std::mutex telling;
  std::size_t done = 0;
  attack.setup.pool.for_each(clients.size(), [&](std::size_t index) {
    inverted[index] = inverter.invert(clients[index], attack.simulation.next_uplink(clients[index]));
    const std::lock_guard lock(telling);
    if (attack.tell) attack.tell(++done);
  });
  return inverted;
}

results::LabelledImages side_by_side(const std::vector<InvertedUplink>& inverted) {
  results::LabelledImages images;
  std::int64_t row = 0;
  for (const InvertedUplink& uplink : inverted) {
    for (const InvertedExample& example : uplink.examples) {
      images.channels = example.original.size(0);
      images.height = example.original.size(1);
      images.width = example.original.size(2);
      for (const torch::Tensor& shown : {example.original, example.reconstruction}) {
        const torch::Tensor pixels = shown.contiguous();
        images.pixels.insert(images.pixels.end(), pixels.data_ptr<float>(),
                             pixels.data_ptr<float>() + pixels.numel());
        images.labels.push_back(row);
      }
      ++row;
    }
  }
  return images;
}

double success_share(const std::vector<InvertedUplink>& inverted) {
  double examples = 0, recognised = 0;
  for (const InvertedUplink& uplink : inverted) {
    for (const InvertedExample& example : uplink.examples) {
      ++examples;
      if (example.quality.mse < kRecognisable) ++recognised;
    }
  }
  return examples == 0 ? 0 : recognised / examples;
}

}  // namespace fedarena
