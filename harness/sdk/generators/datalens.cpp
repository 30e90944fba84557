// DataLens: Wang, Wu, Long, Rimanic, Zhang, Li, "DataLens: scalable privacy preserving training via gradient
// compression and aggregation", CCS 2021 (arXiv:2103.11109). Teachers on disjoint parts of the examples learn
// to tell them from generated images, and vote on how each pixel of an image should move; the generator
// regresses on images moved as the noisy votes say.
//
// Differs from the paper and the authors' code (github.com/AI-secure/DataLens): teachers and generator are
// multilayer perceptrons, where theirs are convolutional; parts are dealt at random, where the code fills
// them class by class; each step of a teacher has a batch of its own, generated images of uniform classes in
// it, where the code repeats a batch and generates images with its labels; noise is normal, where theirs is
// uniform; the last batch has as many images as the budget still pays for. Each image costs what a Gaussian
// mechanism costs, whatever was voted: the code lowers it by a bound that depends on the votes and is about
// the winner of an election, not about a vector that is released.
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
        shape_{scale_.pixels(), client.model.num_classes(), config.teacher_width},
        options_(client.model.options()) {}

  const TeacherShape& shape() const { return shape_; }
  /// Teachers take a step for each batch of generated inputs, numbered from `first`, and vote on the last.
  torch::Tensor vote(const Voters& voters, const std::vector<torch::Tensor>& generated, std::int64_t first,
                     std::int64_t votes) const {
    Teachers teachers = voters.memory.entries().empty() ? fresh(voters) : Teachers(shape_, voters.memory);
    for (std::size_t i = 0; i + 1 < generated.size(); ++i) {
      teachers.learn(real(voters, first + static_cast<std::int64_t>(i)), generated[i],
                     config_.generator_rate);
    }
    voters.memory = teachers.memory();
    const torch::Tensor slopes = teachers.slopes(generated.back());
    const std::int64_t k = std::min(config_.top_k, shape_.pixels);
    std::vector<torch::Tensor> draws;
    for (std::int64_t voter = 0; voter < voters.size(); ++voter) {
      Stream stream = stream_of(streams_, Draw::kSigns, first, voters.first + voter);
      draws.push_back(uniform(stream, {votes, k}, 0, 1));
    }
    return top_signs(slopes.flatten(0, 1), config_.sign_scale, at::cat(draws).to(options_))
        .view(slopes.sizes());
  }

 private:
  Teachers fresh(const Voters& voters) const {
    std::vector<torch::Tensor> weights;
    const double hidden = 1 / std::sqrt(static_cast<double>(shape_.inputs())),
                 output = 1 / std::sqrt(static_cast<double>(shape_.width));
    for (std::int64_t voter = 0; voter < voters.size(); ++voter) {
      Stream stream = stream_of(streams_, Draw::kTeacherWeights, 0, voters.first + voter);
      weights.push_back(at::cat({uniform(stream, {shape_.width * shape_.inputs()}, -hidden, hidden),
                                 uniform(stream, {shape_.width + 1}, -output, output)}));
    }
    return {shape_, at::stack(weights).to(options_)};
  }

  // [voters, n, inputs], different examples of each voter.
  torch::Tensor real(const Voters& voters, std::int64_t lesson) const {
    const std::int64_t examples = voters.examples.inputs.size(1),
                       count = std::min(config_.generator_batch_size, examples);
    std::vector<std::int64_t> drawn;
    for (std::int64_t voter = 0; voter < voters.size(); ++voter) {
      Stream stream = stream_of(streams_, Draw::kTeacherBatches, lesson, voters.first + voter);
      for (const std::int64_t place : stream.sample_without_replacement(examples, count))
        drawn.push_back(voter * examples + place);
    }
    const torch::Tensor places = torch::tensor(drawn, torch::kInt64).to(options_.device());
    const torch::Tensor pixels =
        scale_.to_pixels(voters.examples.inputs.flatten(0, 1).index_select(0, places));
    return with_classes(pixels, voters.examples.targets.flatten().index_select(0, places), shape_.classes)
        .view({voters.size(), count, shape_.inputs()});
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
  throw Error(Complaint{.found =
                            "the generator \"datalens\" would train forever: generator_steps is 0, and no "
                            "budget ends it",
                        .allowed = "generator_steps from 1 on, or a budget",
                        .remedy = "set the algorithm's generator_steps, or budget in [privacy]"});
}

std::int64_t parts_of(const Generators& config, const Client& client) {
  return std::min(config.teachers, client.oracle.size());
}

}  // namespace

std::int64_t teacher_votes(const Generators& config, const Client& client) {
  const std::int64_t parts = parts_of(config, client);
  if (parts == 0) return 0;
  const std::int64_t paid = client.oracle.votes_left({.parts = parts});  // whatever their bound
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
  std::int64_t votes = 0, lessons = 0;
  for (std::int64_t step = 0; config.generator_steps == 0 || step < config.generator_steps; ++step) {
    const std::int64_t count = std::min(config.generator_batch_size, client.oracle.votes_left(query));
    if (count < 1) break;
    query.votes = count;
    torch::Tensor codes, labels;
    std::vector<torch::Tensor> generated;
    const auto make = [&](std::int64_t images) {
      labels = uniform_labels(client, images, stream);
      codes = generator.codes(labels, stream);
      generated.push_back(with_classes(generator.pixels(codes), labels, shape.classes));
    };
    const std::int64_t taught = config.teacher_steps + (step == 0 ? config.teacher_warm_up : 0);
    for (std::int64_t lesson = 0; lesson < taught; ++lesson) make(config.generator_batch_size);
    make(count);
    const torch::Tensor moves = crossings(
        client.oracle.noisy_sum(
            [&](const Voters& voters) { return teachers.vote(voters, generated, lessons, count); }, query),
        query.parts, config.vote_threshold);
    client.observed.add("vote-crossings", moves.abs().mean().item<double>());
    // The derivative of |image + move - G|^2 at G = image, but for a factor that Adam divides out.
    generator.descend(codes, -moves, config.generator_rate);
    votes += count;
    lessons += taught;
    client.compute.stop_if_interrupted();
  }
  return votes;
}

}  // namespace fedarena::generators
