#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"
#include "results/statistics/separation.hpp"

namespace fedarena::results {

inline constexpr const char* kAttackFile = "attack.json";

/// Where the examples come from that nobody trained on, as `MembershipAttacks::non_members` names it.
inline constexpr std::string_view kTestExamples = "test examples";
inline constexpr std::string_view kLeftOutExamples = "training examples left out";

/// What attacks can score examples by.
inline constexpr std::array<std::string_view, 6> kMembershipScores = {
    "loss", "gradient-norm", "learned", "rmia", "lira", "image-distance"};

/// How many models of other seeds an attack by this score asks at least; 0: none at all.
constexpr std::size_t least_references(std::string_view score) {
  return score == "lira" ? 8 : score == "rmia" ? 1 : 0;
}

/// An example that attacks scored.
struct ScoredExample {
  std::int64_t position = 0;  ///< in its part of the data set
  std::int64_t client = -1;   ///< who trained on it, or whose skew a non-member is seen with; -1: nobody
  std::optional<std::int64_t> label = {};  ///< none on regression data

  bool operator==(const ScoredExample&) const = default;
};

/// How well a client's own examples are told from others of its classes, as it sees them.
struct ClientSeparation {
  std::int64_t client = 0;
  std::int64_t members = 0;  ///< scored examples of this client
  double auc = 0.5;

  bool operator==(const ClientSeparation&) const = default;
};

/// One attack: a score for each example, higher for those that it takes for members.
struct MembershipAttack {
  std::string score;                         ///< "loss", "gradient-norm", ...
  std::vector<std::string> references = {};  ///< the other runs that it asked, by folder
  Separation separation = {};
  std::vector<ClientSeparation> clients = {};  ///< ascending; those with at least kLeastOfClient members
  std::vector<double> members = {}, non_members = {};  ///< scores; may be infinite

  bool operator==(const MembershipAttack&) const = default;
};

/// Attacks on the membership of a finished run's training examples: `attack.json`. It is written after the
/// run and is not part of its seal.
struct MembershipAttacks {
  std::string run;          ///< SHA-256 of the run's summary.json
  std::int64_t seed = 0;    ///< of the run; names the bootstrap's random stream
  std::string non_members;  ///< one of the two above
  std::vector<ScoredExample> member_examples, non_member_examples;
  /// Of the model on these; a fraction, none on regression data.
  std::optional<double> member_accuracy = {}, non_member_accuracy = {};
  std::vector<MembershipAttack> attacks;  ///< at least one, each with another score

  bool operator==(const MembershipAttacks&) const = default;
};

/// What they were on: "120 members, as many non-members (test examples)".
std::string attacked_text(const MembershipAttacks& attacks);

/// Below so many scored examples a client has no AUC of its own.
inline constexpr std::size_t kLeastOfClient = 10;

/// Fills in `separation` and `clients` from the scores: what is known of each attack that is written down.
/// False where a score is nan. A client's members stand against the non-members of its members' labels, where
/// inputs are skewed those that are seen as it sees its own.
[[nodiscard]] bool measure(MembershipAttack& attack, const MembershipAttacks& of);

/// What was measured of one attack, as the file has it, without scores of single examples.
Json measures_json(const MembershipAttack& attack);

/// The JSON text, which holds a digest of itself. What could not be read back is a Bug.
std::string to_json_text(const MembershipAttacks& attacks);

/// Reads such a text. Any other is an Error that names `file` and the field.
MembershipAttacks parse_attacks(std::string_view text, const std::string& file);

/// Those of a run directory, of which nothing else is read but the bytes of its summary; none where nobody
/// attacked the run. An Error where the file is not about this run.
std::optional<MembershipAttacks> read_attacks(const std::filesystem::path& run);

/// Replaces them, all or nothing.
void write_attacks(const RunDirectory& run, const MembershipAttacks& attacks);

}  // namespace fedarena::results
