// DENSE: Zhang, Chen, Li, Lyu, Wu, Ding, Shen, Wu, "DENSE: data-free one-shot federated learning", NeurIPS
// 2022 (arXiv:2112.12371), Algorithm 1. Clients train and send their models, once. In each of its epochs the
// server moves a fresh generator so that the clients' mean logits say given classes and its own model
// contradicts them, adds a batch of these images to a pool, and its model learns the mean logits on the pool.
//
// Differs from the paper and the authors' code (github.com/zj-jayzhang/DENSE): the loss on statistics of
// batch normalisation is left out, its weight is 0, because our models normalise each example by itself and
// have no such statistics; the generator normalises each image where theirs normalises batches, its
// convolutions have biases, and weights start as all models do here; images are not augmented, and the pool
// holds them as they are, not in 8 bits, at most `pool_batches` of them, the oldest leaving first, so that
// memory is bounded; what teachers say of an image is computed once. All clients have one architecture. The
// last model is the result, where the published figures are the best of all epochs on test data. What clients
// send is read one by one: an exact access under the policy "client"; under "local" it is noised before.
//
// Defaults are those of the code and its README: clients with rate 0.01, momentum 0.9, batches of 128, 400
// epochs; 200 epochs of the server, 30 steps of Adam with rate 1e-3 and betas 0.5 and 0.999 on generator and
// noise, 256 images a batch; distillation at temperature 20 by SGD with rate 0.005 and momentum 0.9.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <fedarena/adam.hpp>
#include <fedarena/algorithm.hpp>
#include <fedarena/custom_layers.hpp>
#include <fedarena/distillation.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

// Streams of kSynthetic: what generators draw, and the order of the pool.
constexpr std::uint64_t kDraws = 0, kShuffles = 1;

constexpr double kLeak = 0.2;
constexpr Adam::Settings kMoments{.beta1 = 0.5};

// How images are made that teach.
struct Synthesis {
  std::int64_t generator_steps = 30;
  double generator_rate = 1e-3;
  std::int64_t generator_width = 64;
  std::int64_t noise_size = 256;
  std::int64_t synthetic_batch_size = 256;
  double label_weight = 1;
  double adversarial_weight = 1;

  static Schema<Synthesis> schema() {
    const Constraint count = Constraint::between(1, 1'000'000);
    return {
        {"generator_steps", &Synthesis::generator_steps, "steps of a fresh generator for a batch of images",
         count},
        {"generator_rate", &Synthesis::generator_rate, "rate of the generator's Adam",
         Constraint::positive()},
        {"generator_width", &Synthesis::generator_width,
         "channels of the generator's last convolution but one; twice as many before",
         Constraint::between(1, 4096)},
        {"noise_size", &Synthesis::noise_size, "numbers that an image is made of", count},
        {"synthetic_batch_size", &Synthesis::synthetic_batch_size,
         "images in a batch that is made, and in one that the student learns from", count},
        {"label_weight", &Synthesis::label_weight,
         "weight of the cross-entropy of the teachers with the classes that were asked for",
         Constraint::at_least(0)},
        {"adversarial_weight", &Synthesis::adversarial_weight,
         "weight of the divergence of the student from the teachers where they say different classes",
         Constraint::at_least(0)},
    };
  }
};

Architecture network(const Synthesis& config, const Model& model) {
  const std::vector<std::int64_t>& image = model.architecture().input_shape;
  if (image.size() != 3 || image[1] % 4 != 0 || image[2] % 4 != 0) {
    throw Error(Complaint{.found = "dense makes images, but the model takes something else",
                          .allowed = "images whose height and width are multiples of 4"});
  }
  const std::int64_t height = image[1] / 4, width = image[2] / 4, narrow = config.generator_width,
                     wide = 2 * narrow;
  return {.input_shape = {config.noise_size},
          .outputs = image[0] * image[1] * image[2],
          .layers = {Linear{config.noise_size, wide * height * width}, reshape({wide, height, width}),
                     GroupNorm{1, wide}, upsample(2), Conv2d{wide, wide, 3, 1}, GroupNorm{1, wide},
                     leaky_relu(kLeak), upsample(2), Conv2d{wide, narrow, 3, 1}, GroupNorm{1, narrow},
                     leaky_relu(kLeak), Conv2d{narrow, image[0], 3, 1}, sigmoid(), Flatten{}},
          .loss = Loss::kSquaredError};
}

// Its mean over images, and the derivatives of that in both outputs.
struct Objective {
  double value;
  torch::Tensor teacher_slopes, student_slopes;
};

// Cross-entropy of the teachers with the classes, less the divergence of the student where it contradicts.
Objective objective(const Synthesis& config, const torch::Tensor& teachers, const torch::Tensor& student,
                    const torch::Tensor& classes) {
  const torch::Tensor log_p = at::log_softmax(teachers, 1), log_q = at::log_softmax(student, 1);
  const torch::Tensor p = log_p.exp(), q = log_q.exp(), ratio = log_p - log_q;
  const torch::Tensor divergence = (p * ratio).sum(1, /*keepdim=*/true);
  const torch::Tensor contradicts =
      config.adversarial_weight *
      teachers.argmax(1, /*keepdim=*/true).ne(student.argmax(1, /*keepdim=*/true)).to(p.scalar_type());
  const torch::Tensor wanted = at::one_hot(classes, teachers.size(1)).to(p.scalar_type());
  const auto count = static_cast<double>(teachers.size(0));
  const torch::Tensor value =
      -config.label_weight * (wanted * log_p).sum() - (contradicts * divergence).sum();
  return {
      .value = value.item<double>() / count,
      .teacher_slopes = (config.label_weight * (p - wanted) - contradicts * p * (ratio - divergence)) / count,
      .student_slopes = contradicts * (p - q) / count};
}

// Images, the classes that the generator was asked for, and what the objective came to.
struct Synthetic {
  Batch images;
  double objective = 0;
};

// A network that makes images of noise, of the shape of the model's inputs.
class Generator {
 public:
  // Error when the model's inputs are not images whose sides are multiples of 4. Both must outlive it.
  Generator(const Synthesis& config, const Server& server)
      : config_(config),
        server_(server),
        network_(network(config, server.model), server.model.options()),
        compute_(server.compute.on(network_)) {
    torch::Tensor range = server.pixel_range;
    if (!range.defined()) range = torch::tensor({{0.0}, {1.0}}, torch::kFloat64).to(server.model.options());
    black_ = range[0].view({1, -1, 1, 1});
    contrast_ = (range[1] - range[0]).view({1, -1, 1, 1});
  }

  // Draws fresh weights, noise and classes and moves weights and noise together, so that the teachers say the
  // classes and the student contradicts them: the images of the step with the least objective.
  Synthetic synthesise(const Distillation& teachers, const Params& student, Stream& draws) const {
    const std::int64_t count = config_.synthetic_batch_size, classes = server_.model.num_classes();
    Params weights = network_.initial(draws);
    const torch::Tensor noise = normal(draws, {count, config_.noise_size}).to(network_.options());
    torch::Tensor labels = torch::empty({count}, torch::kInt64);
    for (std::int64_t i = 0; i < count; ++i)
      labels[i] = static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(classes)));
    labels = labels.to(network_.options().device());

    const Compute& models = server_.compute;
    const auto share = 1 / static_cast<double>(teachers.teachers().size());
    Adam of_weights(kMoments), of_noise(kMoments);
    Synthetic best{{}, std::numeric_limits<double>::infinity()};
    for (std::int64_t step = 0; step < config_.generator_steps; ++step) {
      const torch::Tensor made = images(compute_->outputs(weights, noise));
      const Objective now =
          objective(config_, teachers.mean_outputs(made), models.outputs(student, made), labels);
      if (step == 0 || now.value < best.objective) best = {{made, labels}, now.value};
      torch::Tensor slopes = models.output_gradient(student, made, now.student_slopes).inputs;
      for (const Params& teacher : teachers.teachers())
        slopes += models.output_gradient(teacher, made, now.teacher_slopes * share).inputs;
      const auto moves = compute_->output_gradient(weights, noise, (slopes * contrast_).flatten(1));
      of_weights.step(weights, moves.parameters, config_.generator_rate);
      of_noise.step(noise, moves.inputs, config_.generator_rate);
    }
    return best;
  }

 private:
  torch::Tensor images(const torch::Tensor& outputs) const {
    return outputs.view(server_.model.input_shape(outputs.size(0))) * contrast_ + black_;
  }

  const Synthesis& config_;
  const Server& server_;
  Model network_;
  std::unique_ptr<Compute> compute_;
  torch::Tensor black_, contrast_;  // what is added to, and multiplied with, pixels from 0 to 1
};

struct Config : Synthesis, LocalTraining {
  Config() {
    rate = 0.01;
    momentum = 0.9;
    batch_size = 128;
    local_epochs = 400;
  }

  std::int64_t server_epochs = 200;
  std::int64_t pool_batches = 200;
  double temperature = 20;
  double student_rate = 0.005;
  double student_momentum = 0.9;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"server_epochs", &Config::server_epochs,
         "batches of images, each followed by one pass over the pool", Constraint::between(0, 1'000'000)},
        {"pool_batches", &Config::pool_batches,
         "batches of images that the server keeps in memory, the newest", Constraint::between(1, 1'000'000)},
        {"temperature", &Config::temperature, "what logits are divided by in the distillation",
         Constraint::positive()},
        {"student_rate", &Config::student_rate, "learning rate of the server's model",
         Constraint::positive()},
        {"student_momentum", &Config::student_momentum, "momentum of the server's model",
         Constraint::between(0, 1)},
    }
        .extends<Synthesis, LocalTraining>();
  }
};

// The newest `most` examples of both.
Batch joined(const Batch& pool, const Batch& more, std::int64_t most) {
  if (!pool.inputs.defined()) return more;
  const auto newest = [&](const torch::Tensor& left, const torch::Tensor& right) {
    const std::int64_t kept = std::min(left.size(0), std::max<std::int64_t>(0, most - right.size(0)));
    return torch::cat({left.narrow(0, left.size(0) - kept, kept), right});
  };
  return {newest(pool.inputs, more.inputs), newest(pool.targets, more.targets)};
}

class Dense final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override {
    const Generator checked(config_, server);  // before anybody has worked for nothing
  }

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    return update_message(client, start, train_locally(client, start, config_));
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return training_plan(client, config_);
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    std::vector<Params> teachers = decode_models(uplink, server.params);
    if (teachers.empty()) return;
    const Distillation distillation(server.model, server.compute, std::move(teachers), config_.temperature);
    const Generator generator(config_, server);
    Stream draws = server.streams(Purpose::kSynthetic, kDraws),
           shuffles = server.streams(Purpose::kSynthetic, kShuffles);
    Batch pool;  // targets are what the teachers say
    Params velocity = zeros_like(server.params);
    for (std::int64_t epoch = 0; epoch < config_.server_epochs; ++epoch) {
      const auto [images, objective] = generator.synthesise(distillation, server.params, draws);
      server.observed.add("generator-loss", objective);
      server.synthetic = images;
      pool = joined(pool, {images.inputs, distillation.mean_outputs(images.inputs)},
                    config_.pool_batches * config_.synthetic_batch_size);
      learn(server.params, velocity, distillation, pool, shuffles);
    }
  }

 private:
  // One pass over the pool.
  void learn(Params& student, Params& velocity, const Distillation& distillation, const Batch& pool,
             Stream& shuffles) const {
    const torch::Tensor order =
        torch::tensor(shuffles.permutation(pool.size()), torch::kInt64).to(pool.inputs.device());
    for (const torch::Tensor& positions : order.split(config_.synthetic_batch_size)) {
      velocity *= config_.student_momentum;
      velocity += distillation.gradient(student, pool.select(positions));
      student.add_scaled(-config_.student_rate, velocity);
    }
  }
};

}  // namespace

FEDARENA_PLUGIN("dense", "1.0.0") {
  registry.add<Dense>(
      "dense", {.summary = "Clients send their models, once; the server teaches its own by generated images.",
                .citation = "Zhang et al., NeurIPS 2022, arXiv:2112.12371",
                .downlink = "model",
                .uplink = "model update, number of examples",
                .one_round = true});
}
