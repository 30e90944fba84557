#pragma once

#include <string>

#include "harness/digest/sha256.hpp"
#include "results/record/attack_file.hpp"

namespace fedarena::results {

/// Attacks on two clients of twelve members each, of two classes. `run`: the SHA-256 of whose they are.
inline MembershipAttacks sample_attacks(const std::string& run) {
  MembershipAttacks attacks{
      .run = run,
      .seed = 3,
      .non_members = std::string(kTestExamples),
      .member_examples = {},
      .non_member_examples = {},
      .member_accuracy = 0.875,
      .non_member_accuracy = 0.75,
      .attacks = {{.score = "loss"}, {.score = "rmia", .references = {"fedavg-seed-4"}}}};
  for (std::int64_t i = 0; i < 24; ++i) {
    attacks.member_examples.push_back({.position = 2 * i, .client = i / 12, .label = i / 12});
    attacks.non_member_examples.push_back({.position = i, .client = -1, .label = i % 2});
    attacks.attacks[0].members.push_back(static_cast<double>(i));
    attacks.attacks[0].non_members.push_back(static_cast<double>(i) - 6.5);
    attacks.attacks[1].members.push_back(0.125);
    attacks.attacks[1].non_members.push_back(i % 2 == 0 ? 0.125 : -0.5);
  }
  for (MembershipAttack& attack : attacks.attacks) {
    if (!measure(attack, attacks)) throw Bug("the sample has a score that is nan");
  }
  return attacks;
}

inline MembershipAttacks sample_attacks(const RunDirectory& run) {
  return sample_attacks(sha256_of(std::string_view(run.read_file(kSummaryFile))));
}

}  // namespace fedarena::results
