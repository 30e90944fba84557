#pragma once

#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace sdafl {

/// What says whose a client's message is.
inline constexpr fedarena::Key<std::int64_t> kClient{"client"};

/// The images that clients uploaded so far (kImages of their messages), with labels; in the server's state.
class Pool {
 public:
  explicit Pool(fedarena::Message& state) : state_(state) {}

  /// Takes up the message's images, without labels; false where it has none.
  bool add(const fedarena::Message& message, const torch::TensorOptions& options);
  /// Labels the images of the message's client by its model, and is sure of those whose probability is at
  /// least `confidence`.
  void label(const fedarena::Message& message, const fedarena::Server& server, double confidence);

  /// All, sure or not; undefined tensors where there are none, here and below.
  fedarena::Batch all() const;
  /// Those with a sure label.
  fedarena::Batch labelled() const;

 private:
  fedarena::Message& state_;
};

}  // namespace sdafl
