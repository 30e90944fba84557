#pragma once

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "harness/oracle/private_uplink.hpp"

namespace fedarena {

inline constexpr Key<Params> kFirst{"first"};
inline constexpr Key<Params> kSecond{"second"};
inline constexpr Key<std::int64_t> kWeight{"weight"};

/// A vector of parameters, in double precision.
inline Params vector_of(const std::vector<double>& values) {
  Layout layout;
  layout.add("tensor", {static_cast<std::int64_t>(values.size())});
  return {std::make_shared<const Layout>(layout), torch::tensor(values, torch::kFloat64)};
}

inline std::vector<double> numbers_of(const Params& params) {
  const torch::Tensor flat = params.flat().to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

inline Message message_of(const std::vector<double>& first, const std::vector<double>& second) {
  return {{kFirst, vector_of(first)}, {kSecond, vector_of(second)}, {kWeight, std::int64_t{7}}};
}

inline ClientPolicy client_policy(double clip_norm, double noise_multiplier) {
  ClientPolicy policy;
  policy.clip_norm = clip_norm;
  policy.noise_multiplier = noise_multiplier;
  return policy;
}

/// A cohort under a policy: 4 clients expected of 40, vectors of `dimension` numbers.
struct Server40 {
  ClientPolicy policy;
  std::int64_t dimension = 2;
  Streams streams = Streams(1, 1, kServer);
  std::int64_t expected_cohort = 4;

  PrivateUplink receive(std::vector<Message> messages) const {
    return {{.policy = policy,
             .clip_norm = policy.clip_norm,
             .expected_cohort = expected_cohort,
             .population = 10 * expected_cohort,
             .streams = streams,
             .zeros = vector_of(std::vector<double>(static_cast<std::size_t>(dimension)))},
            std::move(messages)};
  }
};

}  // namespace fedarena
