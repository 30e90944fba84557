#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "results/audit/verify.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"

namespace fedarena::results {

/// Compares the fields of one file with what they should be and writes down what differs.
class Comparison {
 public:
  Comparison(Verification& verification, std::filesystem::path file)
      : verification_(verification), file_(std::move(file)) {}

  void text(const std::string& field, const std::string& recorded, const std::string& recomputed);
  void boolean(const std::string& field, bool recorded, bool recomputed);
  void integer(const std::string& field, std::int64_t recorded, std::int64_t recomputed);
  /// Equal to the last bit, or both nan.
  void number(const std::string& field, std::optional<double> recorded, std::optional<double> recomputed);
  /// Equal but for the rounding of another processor.
  void close(const std::string& field, std::optional<double> recorded, std::optional<double> recomputed);
  /// The same of a deviation among numbers that are about `mean`, whose rounding it has.
  void close_among(double mean, const std::string& field, std::optional<double> recorded,
                   std::optional<double> recomputed);
  void claim(const std::string& field, const std::optional<Claim>& recorded,
             const std::optional<Claim>& recomputed);
  /// Every field of two objects, those that one of them lacks too: numbers to the last bit, or but for the
  /// rounding of another processor. `where` precedes their names.
  void fields(const Json& recorded, const Json& recomputed, bool exact, const std::string& where = {});
  /// Counts a value that was compared otherwise; with a text of what it should be, it is a difference.
  void result(bool equal, const std::string& field, const std::string& recorded,
              const std::string& recomputed);

 private:
  Verification& verification_;
  std::filesystem::path file_;
};

/// Of a run: the ledger against its rounds and its summary, and every epsilon against the ledger. Under the
/// policy "none", that no epsilon is recorded. `rounds`: those that the ledger covers.
void verify_privacy(const class RunDirectory& run, const Summary& summary,
                    std::span<const RoundRecord> rounds, Verification& verification);

/// Of a run whose clients are tested: what the summary says of them against the rounds, and the scores of
/// single clients against their round.
void verify_clients(const class RunDirectory& run, const Summary& summary,
                    std::span<const RoundRecord> rounds, Verification& verification);

/// Of a run that was attacked: what was measured of the attacks against the scores of single examples.
void verify_attacks(const class RunDirectory& run, const Summary& summary, Verification& verification);

/// Of a run with canaries: who was in against the seed, and what the summary says of the audit against the
/// scores and the claim.
void verify_audit(const class RunDirectory& run, const Summary& summary, Verification& verification);

/// Of a run: what summary, card and rounds say of data, partition, model, tests, early ends and the device,
/// against the settings of its experiment. `rounds`: as above.
void verify_settings(const class RunDirectory& run, const Summary& summary,
                     std::span<const RoundRecord> rounds, Verification& verification);

/// Of a run with the card of its partition: the card against the summary, its counts and the ledger.
void verify_partition(const class RunDirectory& run, const Summary& summary, Verification& verification);

}  // namespace fedarena::results
