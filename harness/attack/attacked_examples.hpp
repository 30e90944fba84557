#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/finished_run.hpp"

namespace fedarena {

/// Examples of one part of a data set, each as some client sees it.
struct SeenExamples {
  const Examples* part = nullptr;
  std::int64_t first = 0;  ///< how many examples are numbered before those of the part: see input_skew
  std::vector<std::int64_t> positions = {};
  std::vector<std::int64_t> clients = {};  ///< whose skew each is seen with; of a member, who holds it

  std::int64_t size() const { return static_cast<std::int64_t>(positions.size()); }
};

/// Which examples an attack scores: as many members as non-members in each half.
struct AttackedExamples {
  SeenExamples members, non_members;              ///< the audit half: what is measured
  SeenExamples known_members, known_non_members;  ///< the attack half: what an attack may learn from
  SeenExamples population;                        ///< test examples that are not measured
  std::string_view non_members_are;               ///< results::kTestExamples or kLeftOutExamples
};

/// Whether an attack can score the training example at a position; empty: all of them.
using Eligible = std::function<bool(std::int64_t position)>;

/// Draws them for a run, by its seed. Members are the examples that it was trained on, without canaries of an
/// audit that have wrong labels. Non-members are the training examples that no client holds, not even a
/// held-out one, where the partition left enough out, which are like members in all else; otherwise the test
/// examples. Either half has as many non-members of a label as members. Of each half as many as there are,
/// `most` at most (0: no limit). Where inputs are skewed, each non-member is seen as a member of its label
/// is, so that the skew tells nobody apart. Error where a half would have fewer than 10 examples.
AttackedExamples draw_attacked_examples(const FinishedRun& run, std::int64_t most,
                                        const Eligible& eligible = {});

/// Hands out examples as a run's clients see them.
BatchSource source_of(const SeenExamples& examples, const FinishedRun& run, const ExampleReader& reader);

/// All training examples of clients that took part in a round, canaries of an audit included, which these saw
/// with wrong labels or not at all. With two stages of labels, of clients that trained in the first alone the
/// half that they held then.
SeenExamples touched_examples(const FinishedRun& run);

}  // namespace fedarena
