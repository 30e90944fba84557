#include "harness/oracle/local_mechanism.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "harness/oracle/cache_pieces.hpp"
#include "harness/oracle/gaussian_mechanism.hpp"
#include "harness/oracle/laplace_mechanism.hpp"
#include "harness/oracle/random_source.hpp"

namespace fedarena {
namespace {

// As refusals call it.
std::string kind_of(const Message::Entry& entry) {
  static constexpr std::array kKinds{"parameters", "a tensor", "a number", "an integer"};
  return fmt::format("\"{}\", {}", entry.name, kKinds.at(entry.content.index()));
}

const char* declared_kind(const UplinkEntry& entry) {
  return entry.counts_examples ? "the number of its examples" : "parameters";
}

// What is wrong with a message, as what its client does; empty when it is as declared.
std::string fault_of(const Message& message, const DeclaredUplink& declared) {
  const std::vector<Message::Entry>& sent = message.entries();
  const std::vector<UplinkEntry>& entries = declared.entries;
  for (std::size_t place = 0; place < std::max(sent.size(), entries.size()); ++place) {
    if (place < sent.size() &&
        std::ranges::find(entries, sent[place].name, &UplinkEntry::name) == entries.end())
      return fmt::format("sends {}, which its algorithm does not declare,", kind_of(sent[place]));
    if (place < entries.size() && !message.contains(entries[place].name))
      return fmt::format("sends no \"{}\", which its algorithm declares,", entries[place].name);
    if (place >= sent.size() || place >= entries.size() || sent[place].name != entries[place].name)
      return "sends its entries in another order than its algorithm declares";
    const Message::Content& content = sent[place].content;
    const auto* count = std::get_if<std::int64_t>(&content);
    if (entries[place].counts_examples ? count == nullptr : !std::holds_alternative<Params>(content))
      return fmt::format("sends {}, declared as {},", kind_of(sent[place]), declared_kind(entries[place]));
    if (count != nullptr && *count != declared.examples)
      return fmt::format("sends {} that is not the number of its examples", kind_of(sent[place]));
  }
  return {};
}

void check_declared(const Message& message, const DeclaredUplink& declared) {
  const std::string fault = fault_of(message, declared);
  if (fault.empty()) return;
  std::vector<std::string> entries;
  for (const UplinkEntry& entry : declared.entries)
    entries.push_back(fmt::format("\"{}\", {}", entry.name, declared_kind(entry)));
  throw Error(Complaint{
      .found = fmt::format("{} {} under the policy \"local\"", declared.sender, fault),
      .allowed = entries.empty() ? "nothing, as the algorithm declares"
                                 : fmt::format("what the algorithm declares, in that order: {}",
                                               fmt::join(entries, "; ")),
      .remedy =
          "That would leave the client without clipping and noise. Choose the policy \"record\" or \"none\", "
          "or an algorithm that sends parameters alone; one of your own declares them by uplink_entries()"});
}

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

// A vector that leaves, and the centre around which it is clipped.
struct Part {
  torch::Tensor vector, centre;
  double spread = 0;
};

double distance(const torch::Tensor& left, const torch::Tensor& right) { return length_of(left - right); }

// Of a vector that is taken from its centre; `spread`: how far centres may lie apart.
void release(const torch::Tensor& vector, double spread, const LocalPolicy& policy, RandomSource& source,
             RoundAccesses& book) {
  double norm = length_of(vector);
  if (!std::isfinite(norm)) {
    vector.zero_();
    norm = 0;
  }
  const double clip_norm = policy.clip_norm, z = policy.noise_multiplier.number();
  if (clip_norm > 0 && norm > clip_norm) {
    clip(vector, norm, clip_norm);
    norm = clip_norm;
  }
  const std::int64_t dimension = vector.numel();
  const double distance = 2 * clip_norm + spread;
  if (policy.mechanism == kLocalGaussian) {
    // The deviation z C, said in units of a norm to which all could be clipped around one point.
    const double multiplier = spread > 0 ? z * 2 * clip_norm / distance : z;
    GaussianRelease(Gaussian{multiplier, Adjacency::kReplaceOne}, clip_norm + spread / 2, book)
        .noise(vector, source);
  } else if (policy.mechanism == kLocalRelative) {
    LaplaceRelease::relative(dimension, z, norm, book).noise(vector, source);
  } else if (clip_norm > 0) {
    LaplaceRelease::bounded(dimension, z * clip_norm, distance, book).noise(vector, source);
  } else {
    LaplaceRelease::metric(dimension, z, book).noise(vector, source);
  }
}

}  // namespace

Centres::Centres(const std::vector<Params>& points, const Params& params, bool by_tensor) {
  for (const Params& point : points) {
    if (point.empty() || point.layout()->fingerprint() != params.layout()->fingerprint() ||
        point.flat().scalar_type() != params.flat().scalar_type()) {
      throw Error(
          Complaint{.found = "the algorithm names a centre that is not of the model's layout and type",
                    .allowed = "parameters such as it sends to clients"});
    }
    if (!std::isfinite(length_of(point.flat()))) {
      parts_.clear();
      return;
    }
    std::vector<torch::Tensor> parts = parts_of(point, by_tensor);
    parts_.resize(parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part) parts_[part].push_back(std::move(parts[part]));
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
  std::vector<std::pair<std::string, Params>> vectors;
  for (const Message::Entry& entry : message.entries()) {
    if (const auto* params = std::get_if<Params>(&entry.content)) vectors.emplace_back(entry.name, *params);
  }
  if (vectors.empty()) return;
  const auto source = make_noise_source(policy.noise_source, streams);
  std::vector<Part> parts;
  double squares = 0;
  for (auto& [name, params] : vectors) {
    const std::vector<torch::Tensor> of_vector = parts_of(params, policy.by_tensor);
    for (std::size_t i = 0; i < of_vector.size(); ++i) {
      parts.push_back({of_vector[i], centres.nearest(of_vector[i], i), centres.spread(i)});
      if (parts.back().centre.defined()) of_vector[i].sub_(parts.back().centre);
      squares += centres.spread(i) * centres.spread(i);
    }
  }
  if (policy.by_tensor || parts.size() == 1) {
    for (const Part& part : parts) release(part.vector, part.spread, policy, *source, book);
  } else {
    std::vector<torch::Tensor> all;
    for (const Part& part : parts) all.push_back(part.vector);
    const torch::Tensor whole = torch::cat(all);
    release(whole, std::sqrt(squares), policy, *source, book);
    std::int64_t begin = 0;
    for (const Part& part : parts) {
      part.vector.copy_(whole.narrow(0, begin, part.vector.numel()));
      begin += part.vector.numel();
    }
  }
  for (const Part& part : parts) {
    if (part.centre.defined()) part.vector.add_(part.centre);
  }
  for (auto& [name, params] : vectors) message.put_entry({name, std::move(params)});
}

}  // namespace fedarena
