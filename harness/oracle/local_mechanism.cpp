#include "harness/oracle/local_mechanism.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/oracle/gaussian_mechanism.hpp"
#include "harness/oracle/laplace_mechanism.hpp"
#include "harness/oracle/noise_source.hpp"

namespace fedarena {
namespace {

[[noreturn]] void refuse(const std::string& name, const char* what) {
  throw Error(Complaint{
      .found = fmt::format("a message with \"{}\", {}, under the policy \"local\"", name, what),
      .allowed = "parameters of the model, and the number of the client's examples",
      .remedy =
          "That entry would leave the client without clipping and noise. Choose the policy \"record\" or "
          "\"none\", or an algorithm that sends models alone"});
}

// The numbers that leave: flat views into the parameters of the message.
std::vector<torch::Tensor> parts_of(std::vector<std::pair<std::string, Params>>& vectors, bool by_tensor) {
  std::vector<torch::Tensor> parts;
  for (auto& [name, params] : vectors) {
    if (!by_tensor) {
      parts.push_back(params.flat());
      continue;
    }
    for (std::size_t i = 0; i < params.size(); ++i) parts.push_back(params[i].view({-1}));
  }
  return parts;
}

double length_of(const torch::Tensor& vector) { return vector.to(torch::kFloat64).norm().item<double>(); }

// Rounding of the factor and of the products must not lengthen what is clipped.
double clip_factor(double norm, double clip_norm, torch::ScalarType type) {
  const double margin = type == torch::kFloat64 ? 0x1p-40 : 0x1p-19;
  return (1 - margin) * (clip_norm / norm);
}

void release_part(const torch::Tensor& vector, const LocalPolicy& policy, NoiseSource& source,
                  RoundAccesses& book) {
  double norm = length_of(vector);
  if (!std::isfinite(norm)) {
    vector.zero_();
    norm = 0;
  }
  if (policy.clip_norm > 0 && norm > policy.clip_norm) {
    vector.mul_(clip_factor(norm, policy.clip_norm, vector.scalar_type()));
    norm = policy.clip_norm;
  }
  const double z = policy.noise_multiplier;
  const std::int64_t dimension = vector.numel();
  if (policy.mechanism == kLocalGaussian) {
    GaussianRelease(Gaussian{z, Adjacency::kReplaceOne}, policy.clip_norm, book).noise(vector, source);
  } else if (policy.mechanism == kLocalRelative) {
    LaplaceRelease::relative(dimension, z, norm, book).noise(vector, source);
  } else if (policy.clip_norm > 0) {
    LaplaceRelease::bounded(dimension, z * policy.clip_norm, 2 * policy.clip_norm, book)
        .noise(vector, source);
  } else {
    LaplaceRelease::metric(dimension, z, book).noise(vector, source);
  }
}

}  // namespace

void randomise(Message& message, const LocalPolicy& policy, std::int64_t examples, const Streams& streams,
               RoundAccesses& book) {
  std::vector<std::pair<std::string, Params>> vectors;
  for (const Message::Entry& entry : message.entries()) {
    if (const auto* params = std::get_if<Params>(&entry.content)) {
      vectors.emplace_back(entry.name, *params);
    } else if (std::holds_alternative<torch::Tensor>(entry.content)) {
      refuse(entry.name, "a tensor");
    } else if (std::holds_alternative<double>(entry.content)) {
      refuse(entry.name, "a number");
    } else if (std::get<std::int64_t>(entry.content) != examples) {
      refuse(entry.name, "an integer that is not the number of the client's examples");
    }
  }
  if (vectors.empty()) return;
  const auto source = make_noise_source(policy.noise_source, streams);
  const std::vector<torch::Tensor> parts = parts_of(vectors, policy.by_tensor);
  if (policy.by_tensor || parts.size() == 1) {
    for (const torch::Tensor& part : parts) release_part(part, policy, *source, book);
  } else {
    const torch::Tensor whole = torch::cat(parts);
    release_part(whole, policy, *source, book);
    std::int64_t begin = 0;
    for (const torch::Tensor& part : parts) {
      part.copy_(whole.narrow(0, begin, part.numel()));
      begin += part.numel();
    }
  }
  for (auto& [name, params] : vectors) message.put_entry({name, std::move(params)});
}

}  // namespace fedarena
