// DataLens: Wang, Wu, Long, Rimanic, Zhang, Li, "DataLens: scalable privacy preserving training via gradient
// compression and aggregation", CCS 2021 (arXiv:2103.11109). Teachers on disjoint parts of the examples learn
// to tell them from generated images, and vote on how each pixel of an image should move; the generator
// regresses on images moved as the noisy votes say.
//
// Differs from the paper and the authors' code (github.com/AI-secure/DataLens):
// - Teachers are logistic regressions, one for each class, by gradient descent with weight decay; theirs are
//   convolutional, by Adam. Parts here have a few examples, which any network learns by heart at once: its
//   slopes then say nothing about the class, and stay what they were when images were grey. The generator is
//   a multilayer perceptron, theirs convolutional.
// - A teacher does not vote on images of a class that its part lacks: parts are dealt at random, theirs are
//   filled class by class, so that none lacks one. Nor does it vote to move a pixel beyond black or white,
//   which would use up its k signs.
// - The generator regresses on moved images by the cross-entropy of pixels, theirs by the squared error,
//   which has no slope where the sigmoid of a pixel has come close to black.
// - Each step of a teacher has a batch of its own, where the code repeats a batch. Noise is normal, where
//   theirs is uniform. The last batch has as many images as the budget still pays for.
// - Each image costs what a Gaussian mechanism costs, whatever was voted: the code lowers it by a bound that
//   depends on the votes and is about the winner of an election, not about a vector that is released.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ATen.h>

#include "harness/sdk/generators/image_generator.hpp"
#include "harness/sdk/generators/teachers.hpp"

namespace fedarena::generators {
namespace {

class TeacherVotes {
 public:
  TeacherVotes(const Generators& config, const Client& client)
      : config_(config),
        streams_(client.streams),
        scale_(client),
        shape_{scale_.pixels(), client.model.num_classes(), config.teacher_rate, config.teacher_decay},
        options_(client.model.options()) {}

  const TeacherShape& shape() const { return shape_; }
  /// Teachers take a step against each of the sets of generated images, numbered from `first`, whose classes
  /// come in turn, and vote on the images `asked`.
  torch::Tensor vote(const Voters& voters, const std::vector<Batch>& lessons, std::int64_t first,
                     const Batch& asked) const {
    Teachers teachers = voters.memory.entries().empty() ? Teachers(shape_, voters.size(), options_)
                                                        : Teachers(shape_, voters.memory);
    for (std::size_t i = 0; i < lessons.size(); ++i)
      learn(teachers, voters, first + static_cast<std::int64_t>(i), lessons[i]);
    voters.memory = teachers.memory();
    const torch::Tensor slopes = within_range(teachers.slopes(asked), asked.inputs);
    const std::int64_t k = std::min(config_.top_k, shape_.pixels);
    std::vector<torch::Tensor> draws;
    for (std::int64_t voter = 0; voter < voters.size(); ++voter) {
      Stream stream = stream_of(streams_, Draw::kSigns, first, voters.first + voter);
      draws.push_back(uniform(stream, {asked.size(), k}, 0, 1));
    }
    const torch::Tensor signs =
        top_signs(slopes.flatten(0, 1), config_.sign_scale, at::cat(draws).to(options_));
    return signs.view(slopes.sizes()) * slopes.ne(0);
  }

 private:
  // On different examples of each voter, against a generated image of the class of each.
  void learn(Teachers& teachers, const Voters& voters, std::int64_t lesson, const Batch& generated) const {
    const std::int64_t examples = voters.examples.inputs.size(1),
                       count = std::min(config_.generator_batch_size, examples),
                       of_class = generated.size() / shape_.classes;
    std::vector<std::int64_t> drawn, turns;
    for (std::int64_t voter = 0; voter < voters.size(); ++voter) {
      Stream stream = stream_of(streams_, Draw::kTeacherBatches, lesson, voters.first + voter);
      for (const std::int64_t place : stream.sample_without_replacement(examples, count)) {
        drawn.push_back(voter * examples + place);
        turns.push_back(static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(of_class))));
      }
    }
    const auto on_device = [&](const std::vector<std::int64_t>& numbers) {
      return torch::tensor(numbers, torch::kInt64).to(options_.device());
    };
    const torch::Tensor places = on_device(drawn);
    const torch::Tensor classes = voters.examples.targets.flatten().index_select(0, places);
    const auto batch_of = [&](const torch::Tensor& pixels) {
      return Batch{pixels.view({voters.size(), count, shape_.pixels}), classes.view({voters.size(), count})};
    };
    teachers.learn(batch_of(scale_.to_pixels(voters.examples.inputs.flatten(0, 1).index_select(0, places))),
                   batch_of(generated.inputs.index_select(0, on_device(turns) * shape_.classes + classes)));
  }

  const Generators& config_;
  Streams streams_;
  PixelScale scale_;
  TeacherShape shape_;
  torch::TensorOptions options_;
};

torch::Tensor uniform_labels(const Client& client, std::int64_t count, Stream& stream) {
  return uniform(stream, {count}, 0, static_cast<double>(client.model.num_classes()))
      .to(torch::kInt64)
      .to(client.model.options().device());
}

void check_end(const Generators& config, std::int64_t votes_left) {
  if (config.generator_steps > 0 || votes_left < std::numeric_limits<std::int64_t>::max()) return;
  throw Error(
      Complaint{.found = "the generator \"datalens\" would train forever: generator_steps is 0, and no "
                         "budget ends it",
                .allowed = "generator_steps from 1 on, or a budget of the policy \"record\"",
                .remedy = "set the algorithm's generator_steps, or budget in [privacy] under the policy "
                          "\"record\""});
}

// As many of each class.
std::int64_t images_of_lesson(const Generators& config, std::int64_t classes) {
  return (config.generator_batch_size + classes - 1) / classes * classes;
}

std::int64_t parts_of(const Generators& config, const Client& client) {
  return std::min(config.teachers, client.oracle.size());
}

}  // namespace

std::int64_t teacher_votes(const Generators& config, const Client& client) {
  const std::int64_t parts = parts_of(config, client);
  if (parts == 0) return 0;
  const std::int64_t paid = client.oracle.votes_left({.parts = parts});  // whatever their bound
  check_end(config, paid);
  return config.generator_steps == 0 ? paid
                                     : std::min(paid, config.generator_steps * config.generator_batch_size);
}

std::int64_t train_by_teachers(const Generators& config, Client& client, ImageGenerator& generator) {
  const TeacherVotes teachers(config, client);
  const TeacherShape& shape = teachers.shape();
  VoteQuery query{.parts = parts_of(config, client),
                  .numbers = shape.pixels,
                  .bound = std::sqrt(static_cast<double>(std::min(config.top_k, shape.pixels)))};
  if (query.parts == 0) return 0;
  check_end(config, client.oracle.votes_left(query));
  Stream stream = stream_of(client.streams, Draw::kLatents);
  const torch::Tensor in_turn = labels_in_turn(client, images_of_lesson(config, shape.classes));
  std::int64_t votes = 0, taught = 0;
  for (std::int64_t step = 0; config.generator_steps == 0 || step < config.generator_steps; ++step) {
    query.votes = std::min(config.generator_batch_size, client.oracle.votes_left(query));
    if (query.votes < 1) break;
    std::vector<Batch> lessons;
    const std::int64_t due = config.teacher_steps + (step == 0 ? config.teacher_warm_up : 0);
    while (static_cast<std::int64_t>(lessons.size()) < due)
      lessons.push_back({generator.pixels(generator.codes(in_turn, stream)), in_turn});
    const torch::Tensor labels = uniform_labels(client, query.votes, stream);
    const torch::Tensor codes = generator.codes(labels, stream);
    const Batch asked{generator.pixels(codes), labels};
    const torch::Tensor moves = crossings(
        client.oracle.noisy_sum(
            [&](const Voters& voters) { return teachers.vote(voters, lessons, taught, asked); }, query),
        query.parts, config.vote_threshold);
    client.observed.add("vote-crossings", moves.abs().mean().item<double>());
    generator.approach(codes, asked.inputs, (asked.inputs + config.move_size * moves).clamp(0, 1),
                       config.generator_rate);
    votes += query.votes;
    taught += due;
    client.compute.stop_if_interrupted();
  }
  return votes;
}

}  // namespace fedarena::generators
