#include "fedarena/generators.hpp"

#include <vector>

#include "fedarena/private_set.hpp"

#include "harness/sdk/generators/image_generator.hpp"

namespace fedarena {
namespace {

using generators::Draw;
using generators::labels_of_set;
using generators::stream_of;

Batch noise(const Client& client, std::int64_t examples) {
  Stream stream = stream_of(client.streams, Draw::kImages);
  return {normal(stream, client.model.input_shape(examples)).to(client.model.options()),
          labels_of_set(client, examples)};
}

// `count` of 0 .. size-1, each as often as any other, give or take one.
torch::Tensor rounds_of(std::int64_t size, std::int64_t count, Stream& stream) {
  std::vector<std::int64_t> positions;
  while (static_cast<std::int64_t>(positions.size()) < count) {
    const std::vector<std::int64_t> order = stream.permutation(size);
    positions.insert(positions.end(), order.begin(), order.end());
  }
  return torch::tensor(positions, torch::kInt64).narrow(0, 0, count);
}

Batch real(Client& client, std::int64_t examples) {
  Batch own = client.oracle.exact_batch();
  if (own.size() == 0) return own;
  Stream stream = stream_of(client.streams, Draw::kOrder);
  return own.select(rounds_of(own.size(), examples, stream).to(own.inputs.device()));
}

PrivateSet condensation_of(const Generators& config) {
  PrivateSet how;
  how.images_per_class = config.psg_images_per_class;
  how.initialisations = config.psg_models;
  how.outer_steps = config.psg_points;
  how.model_epochs = config.psg_epochs;
  how.real_batches = config.psg_gradients;
  how.batch_size = config.psg_batch_size;
  return how;
}

Batch condensed(const Generators& config, Client& client, std::int64_t examples) {
  const PrivateSet how = condensation_of(config);
  const Batch set = private_set(how, client);
  // Classes lie one after another.
  Stream stream = stream_of(client.streams, Draw::kOrder);
  const torch::Tensor labels = labels_of_set(client, examples).cpu();
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < examples; ++i) {
    const auto images = static_cast<std::uint64_t>(how.images_per_class);
    places.push_back(labels[i].item<std::int64_t>() * how.images_per_class +
                     static_cast<std::int64_t>(stream.below(images)));
  }
  return set.select(torch::tensor(places, torch::kInt64).to(set.inputs.device()));
}

Batch generated(const Generators& config, Client& client, std::int64_t examples) {
  generators::ImageGenerator generator(config, client);
  const std::int64_t votes = config.generator == "datalens"
                                 ? generators::train_by_teachers(config, client, generator)
                                 : generators::train_on_embedding(config, client, generator);
  client.observed.add("votes", static_cast<double>(votes));
  Stream stream = stream_of(client.streams, Draw::kImages);
  const torch::Tensor labels = labels_of_set(client, examples);
  const torch::Tensor pixels = generator.pixels(generator.codes(labels, stream));
  return {generators::PixelScale(client).to_inputs(pixels).view(client.model.input_shape(examples)), labels};
}

}  // namespace

Schema<Generators> Generators::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return {
      {"generator", &Generators::generator,
       "what draws a client's images: teachers that vote (datalens), a noisy mean embedding (dp-merf), "
       "condensation by private gradients (psg), or a control: noise alone, or the client's own examples "
       "(real, an exact access)",
       Constraint::one_of({"datalens", "dp-merf", "psg", "noise", "real"})},
      {"noise_size", &Generators::noise_size, "datalens, dp-merf: numbers that an image is made of", count},
      {"generator_width", &Generators::generator_width,
       "datalens, dp-merf: units in each of the generator's two hidden layers", count},
      {"generator_steps", &Generators::generator_steps,
       "datalens: batches of images that are voted on; 0: as many as the client's budget pays for",
       Constraint::between(0, 1'000'000)},
      {"generator_batch_size", &Generators::generator_batch_size,
       "datalens: images in a batch, each of which costs a vote, and at most so many examples of a teacher",
       Constraint::between(1, 10'000)},
      {"generator_rate", &Generators::generator_rate, "datalens: rate of the generator's Adam",
       Constraint::positive()},
      {"move_size", &Generators::move_size,
       "datalens: how far votes move a pixel, which ranges from 0 to 1; the generator regresses on that",
       Constraint::between(0, 1)},
      {"teachers", &Generators::teachers,
       "datalens: parts of a client's examples, each of which trains a discriminator; a client with fewer "
       "examples has one for each",
       count},
      {"teacher_rate", &Generators::teacher_rate, "datalens: rate of the teachers' gradient descent",
       Constraint::positive()},
      {"teacher_decay", &Generators::teacher_decay,
       "datalens: weight decay of the teachers, which makes them forget what the generator drew before",
       Constraint::at_least(0)},
      {"teacher_steps", &Generators::teacher_steps, "datalens: steps of each teacher before a vote", count},
      {"teacher_warm_up", &Generators::teacher_warm_up,
       "datalens: steps of each teacher before the first vote", Constraint::between(0, 1'000'000)},
      {"top_k", &Generators::top_k, "datalens: pixels of an image that a teacher votes on, of largest slope",
       count},
      {"sign_scale", &Generators::sign_scale,
       "datalens: a sign of slope g is positive with probability 1/2 + g / 2b, where b is the largest slope, "
       "at most this",
       Constraint::positive()},
      {"vote_threshold", &Generators::vote_threshold,
       "datalens: share of all teachers by which a pixel's votes must lean to count",
       Constraint::between(0, 1)},
      {"merf_frequencies", &Generators::merf_frequencies,
       "dp-merf: random frequencies, two features of an image each", count},
      {"merf_length_scale", &Generators::merf_length_scale,
       "dp-merf: length scale of the Gaussian kernel, where pixels range from 0 to 1",
       Constraint::positive()},
      {"merf_steps", &Generators::merf_steps, "dp-merf: steps of the generator, which cost no privacy",
       count},
      {"merf_batch_size", &Generators::merf_batch_size,
       "dp-merf: images in a step, at least one of each class", count},
      {"merf_rate", &Generators::merf_rate,
       "dp-merf: rate of the generator's Adam; each fifth of the steps at 0.9 times that before",
       Constraint::positive()},
      {"psg_images_per_class", &Generators::psg_images_per_class,
       "psg: images of each class that are made, and drawn from with repetition", count},
      {"psg_models", &Generators::psg_models, "psg: random models that the images are matched on", count},
      {"psg_points", &Generators::psg_points, "psg: points on the way of each model", count},
      {"psg_epochs", &Generators::psg_epochs, "psg: passes of the model over the images from point to point",
       Constraint::between(0, 1'000'000)},
      {"psg_gradients", &Generators::psg_gradients, "psg: private gradients at each point", count},
      {"psg_batch_size", &Generators::psg_batch_size, "psg: examples in a real batch; 0: the whole shard",
       Constraint::between(0, 10'000'000)},
  };
}

void check_draws_classes(const Model& model) {
  if (model.architecture().loss == Loss::kSquaredError)
    throw Error(Complaint{
        .found = "generators draw images of classes, and the loss of this model is the squared error",
        .allowed = "a model whose loss is the cross-entropy of classes",
        .remedy = "\"linear\" has the squared error on any data, and every model has it on a regression"});
}

Batch generate(const Generators& config, Client& client, std::int64_t examples) {
  check_draws_classes(client.model);
  if (config.generator == "noise") return noise(client, examples);
  if (config.generator == "real") return real(client, examples);
  if (config.generator == "psg") return condensed(config, client, examples);
  return generated(config, client, examples);
}

AccessPlan generation_plan(const Generators& config, const Client& client) {
  if (config.generator == "psg") return private_set_plan(condensation_of(config), client);
  if (config.generator == "datalens") return {.part_votes = generators::teacher_votes(config, client)};
  if (config.generator == "dp-merf") return {.votes = generators::embedding_votes(config, client)};
  return {};
}

}  // namespace fedarena
