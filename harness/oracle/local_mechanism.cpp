#include "harness/oracle/local_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/oracle/cache_pieces.hpp"
#include "harness/oracle/gaussian_mechanism.hpp"
#include "harness/oracle/laplace_mechanism.hpp"
#include "harness/oracle/random_source.hpp"
#include "harness/sdk/plugin_visit.hpp"
#include "harness/sdk/sendable.hpp"

namespace fedarena {
namespace {

// Flat views into parameters, as they are clipped: all of them, or each tensor by itself.
std::vector<torch::Tensor> parts_of(const Params& params, bool by_tensor) {
  if (!by_tensor) return {params.flat()};
  std::vector<torch::Tensor> parts;
  for (std::size_t i = 0; i < params.size(); ++i) parts.push_back(params[i].view({-1}));
  return parts;
}

double length_of(const torch::Tensor& vector) {
  // Pieces are for a processor's cache; a GPU would wait after each.
  if (!vector.is_cpu()) return std::sqrt(vector.to(torch::kFloat64).square().sum().item<double>());
  double squares = 0;
  for_each_piece(vector, [&](const torch::Tensor& piece, std::int64_t) {
    squares += piece.to(torch::kFloat64).square().sum().item<double>();
  });
  return std::sqrt(squares);
}

double distance(const torch::Tensor& left, const torch::Tensor& right) { return length_of(left - right); }

using Release = std::variant<GaussianRelease, LaplaceRelease>;

// Of so many numbers, taken from their centre; `spread`: how far centres may lie apart.
Release release_of(std::int64_t dimension, double spread, const LocalPolicy& policy, RoundAccesses& book) {
  const double clip_norm = policy.clip_norm, z = policy.noise_multiplier.number();
  const double distance = 2 * clip_norm + spread;
  if (policy.mechanism == kLocalGaussian) {
    // The deviation z C, said in units of a norm to which all could be clipped around one point.
    const double multiplier = spread > 0 ? z * 2 * clip_norm / distance : z;
    return GaussianRelease(Gaussian{multiplier, Adjacency::kReplaceOne}, clip_norm + spread / 2, book);
  }
  if (policy.mechanism == kLocalRelative) return LaplaceRelease::relative(dimension, z, book);
  if (clip_norm > 0) return LaplaceRelease::bounded(dimension, z * clip_norm, distance, book);
  return LaplaceRelease::metric(dimension, z, book);
}

// Of vectors of those layouts: one for each of their parts, or one for all of them.
std::vector<Release> releases_of(const std::vector<Params>& vectors, const LocalPolicy& policy,
                                 const Centres& centres, RoundAccesses& book) {
  std::vector<Release> releases;
  std::int64_t dimension = 0;
  double squares = 0;
  for (const Params& vector : vectors) {
    const std::vector<torch::Tensor> parts = parts_of(vector, policy.by_tensor);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double spread = centres.spread(i);
      if (policy.by_tensor) releases.push_back(release_of(parts[i].numel(), spread, policy, book));
      dimension += parts[i].numel();
      squares += spread * spread;
    }
  }
  if (dimension > 0 && !policy.by_tensor)
    releases.push_back(release_of(dimension, std::sqrt(squares), policy, book));
  if (!centres.vary()) book.leave_unmade({});  // what was declared is a plan
  return releases;
}

void clip_and_noise(const torch::Tensor& vector, const Release& release, double clip_norm,
                    RandomSource& source) {
  double norm = length_of(vector);
  if (!std::isfinite(norm)) {
    vector.zero_();
    norm = 0;
  }
  if (clip_norm > 0 && norm > clip_norm) {
    clip(vector, norm, clip_norm);
    norm = clip_norm;
  }
  if (const auto* gaussian = std::get_if<GaussianRelease>(&release)) {
    gaussian->noise(vector, source);
  } else {
    std::get<LaplaceRelease>(release).noise(vector, source, norm);
  }
}

}  // namespace

Centres::Centres(const std::vector<Params>& points, const Params& params, bool by_tensor) {
  for (const Params& point : points) {
    if (point.empty() || point.layout()->fingerprint() != params.layout()->fingerprint() ||
        point.flat().scalar_type() != params.flat().scalar_type() ||
        !unlike_parameters(point.flat(), params.layout()->numel()).empty()) {
      throw Error(
          Complaint{.found = "the algorithm names a centre that is not of the model's layout and type",
                    .allowed = "parameters such as it sends to clients"});
    }
    const bool finite = std::isfinite(length_of(point.flat()));
    const std::vector<torch::Tensor> parts = parts_of(point, by_tensor);
    parts_.resize(parts.size());
    // Copies: an algorithm may have made the point of memory that it still writes to.
    for (std::size_t part = 0; part < parts.size(); ++part)
      parts_[part].push_back(finite ? parts[part].clone() : torch::zeros_like(parts[part]));
  }
  for (const std::vector<torch::Tensor>& centres : parts_) {
    double& spread = spreads_.emplace_back(0);
    for (std::size_t i = 0; i < centres.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) spread = std::max(spread, distance(centres[i], centres[j]));
    }
  }
}

torch::Tensor Centres::nearest(const torch::Tensor& vector, std::size_t part) const {
  if (spreads_.empty()) return {};
  const std::vector<torch::Tensor>& centres = parts_[part];
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; centres.size() > 1 && i < centres.size(); ++i) {
    const double away = distance(vector, centres[i]);
    if (away < least) {
      least = away;
      nearest = i;
    }
  }
  return centres[nearest];
}

void randomise(Message& message, const DeclaredUplink& declared, const LocalPolicy& policy,
               const Centres& centres, const Streams& streams, RoundAccesses& book) {
  check_declared(message, declared);
  const FreshTorchState while_private;
  std::vector<std::string> names;
  std::vector<Params> vectors;
  for (const Message::Entry& entry : message.entries()) {
    if (const auto* params = std::get_if<Params>(&entry.content)) {
      names.push_back(entry.name);
      vectors.push_back(*params);
    }
  }
  const std::vector<Release> releases = releases_of(vectors, policy, centres, book);
  if (releases.empty()) return;
  const auto source = make_noise_source(policy.noise_source, streams);
  std::vector<torch::Tensor> parts, nearest;
  for (const Params& vector : vectors) {
    const std::vector<torch::Tensor> of_vector = parts_of(vector, policy.by_tensor);
    for (std::size_t i = 0; i < of_vector.size(); ++i) {
      parts.push_back(of_vector[i]);
      nearest.push_back(centres.nearest(of_vector[i], i));
      if (nearest.back().defined()) of_vector[i].sub_(nearest.back());
    }
  }
  if (releases.size() == parts.size()) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      clip_and_noise(parts[i], releases[i], policy.clip_norm, *source);
  } else {
    const torch::Tensor whole = torch::cat(parts);
    clip_and_noise(whole, releases.front(), policy.clip_norm, *source);
    std::int64_t begin = 0;
    for (const torch::Tensor& part : parts) {
      part.copy_(whole.narrow(0, begin, part.numel()));
      begin += part.numel();
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (nearest[i].defined()) parts[i].add_(nearest[i]);
  }
  for (std::size_t i = 0; i < vectors.size(); ++i) message.put_entry({names[i], std::move(vectors[i])});
}

RoundAccesses charges_of(const std::vector<UplinkEntry>& entries, const Params& params,
                         const LocalPolicy& policy, const Centres& centres) {
  const auto vectors = std::ranges::count(entries, false, &UplinkEntry::counts_examples);
  RoundAccesses book;
  releases_of(std::vector<Params>(static_cast<std::size_t>(vectors), params), policy, centres, book);
  return book;
}

}  // namespace fedarena
