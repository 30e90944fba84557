#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fedarena/params.hpp"
#include "fedarena/random.hpp"

#include "datasets/dataset.hpp"

namespace fedarena {

/// Names of kinds, as experiments have them.
inline constexpr const char* kGradientCanaries = "gradient";
inline constexpr const char* kMislabelledCanaries = "mislabelled";
inline constexpr const char* kClientCanaries = "client";

/// How a control's answers are written down: as exact, whatever the sampling would hide.
inline constexpr const char* kAnswersWithoutNoise = "answers without noise";

/// What an audit in one run is given.
struct CanaryPlan {
  std::string kind = {};   ///< one of the names above; empty: no audit
  std::int64_t count = 0;  ///< of the canaries
  bool control = false;    ///< the mechanisms of the run add no noise
};

class ClientCanaries;

/// The canaries of a run: a pure function of plan, seed and federation, from the streams of Purpose::kAudit.
/// Each is in the data with probability 1/2 on its own. Who is in is nothing that an algorithm may see.
class Canaries {
 public:
  /// None.
  Canaries() = default;
  /// `shards`: each client's positions in `train`. `classes`: 0 on regression data. Throws Error where the
  /// model has too few coordinates, or the clients too few examples, and for wrong labels without classes.
  Canaries(CanaryPlan plan, std::uint64_t seed, std::span<const std::vector<std::int64_t>> shards,
           const Examples& train, std::int64_t classes, std::int64_t parameters);

  const CanaryPlan& plan() const { return plan_; }
  std::int64_t size() const { return plan_.kind.empty() ? 0 : plan_.count; }
  const std::vector<bool>& in() const { return in_; }
  /// The client of each; empty for canaries that are clients.
  const std::vector<std::int64_t>& clients() const { return clients_; }
  /// Of each, its position among the examples (mislabelled) or its coordinate (gradient).
  const std::vector<std::int64_t>& places() const { return places_; }

  /// The examples with the wrong labels in them, of those canaries as well that are out; other canaries
  /// change nothing.
  Examples apply(const Examples& train) const;
  /// The numbers of those that this client was dealt, ascending.
  std::vector<std::int64_t> of(std::int64_t client) const;
  /// What the client's oracle needs of its own in one round.
  ClientCanaries of_client(std::int64_t client, const Streams& streams) const;
  /// The clients among the canaries that the sample of a round holds; `streams`: the server's.
  std::vector<std::int64_t> sampled(double rate, const Streams& streams) const;
  /// What a canary that is a client sends, in units of the clip norm: a random direction, of a length just
  /// below 1, in the layout and type of `like`.
  Params direction(std::int64_t canary, const Params& like) const;

 private:
  CanaryPlan plan_;
  std::uint64_t seed_ = 0;
  std::vector<bool> in_;
  std::vector<std::int64_t> clients_, places_, labels_;
  std::map<std::int64_t, std::vector<std::int64_t>> by_client_;
};

/// The canaries of one client in one round.
class ClientCanaries {
 public:
  /// None.
  ClientCanaries() : draws_(StreamName{}) {}
  ClientCanaries(const Canaries& all, const std::vector<std::int64_t>& own, Stream draws);

  bool control() const { return control_; }
  /// Whether any canary that is out was one of the examples.
  bool leave_places_empty() const { return !left_out_.empty(); }
  /// Whether the example at that position is a canary that is out: a sample that holds it has nothing there.
  bool leaves_out(std::int64_t position) const;
  /// Draws the gradient canaries at that rate, as a sample draws examples, and adds the gradients of those
  /// that are in, each of the length of the clip norm, to the sum over the examples.
  void enter(Params& sum, double rate, double clip_norm);
  /// Adds to the scores what came to each gradient canary's coordinate since `enter`, noise included, in
  /// units of the clip norm: an auditor knows all examples but the canaries, and takes their part off.
  void score(const Params& sum, double clip_norm);
  /// Of gradient canaries, in the order of their numbers.
  const std::vector<double>& scores() const { return scores_; }

 private:
  torch::Tensor at_coordinates(const Params& sum) const;

  bool control_ = false;
  torch::Tensor background_;   // float64, of the coordinates: the part of the examples
  torch::Tensor coordinates_;  // int64, of gradient canaries, in or out; undefined without any
  std::vector<bool> in_;       // the same
  std::vector<std::int64_t> left_out_;
  std::vector<double> scores_;
  Stream draws_;
};

}  // namespace fedarena
