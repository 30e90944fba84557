#pragma once

#include <optional>
#include <span>

#include "results/audit/verify.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {

// What verify_run() is made of.

/// Of a run: the ledger against its rounds and its summary, and every epsilon against the ledger. Under the
/// policy "none", that no epsilon is recorded. `rounds`: those that the ledger covers.
void verify_privacy(const RunDirectory& run, const Summary& summary, std::span<const RoundRecord> rounds,
                    Verification& verification);

/// Of a run whose clients are tested: what the summary says of them against the rounds, and the scores of
/// single clients against their round.
void verify_clients(const RunDirectory& run, const Summary& summary, std::span<const RoundRecord> rounds,
                    Verification& verification);

/// Of a run whose clients took one of several models: who took which, against who took part and how many
/// models there are. `rounds`: as above.
void verify_choices(const RunDirectory& run, const Summary& summary, std::span<const RoundRecord> rounds,
                    Verification& verification);

/// Of a run that was attacked: what was measured of the attacks against the scores of single examples.
void verify_attacks(const RunDirectory& run, const Summary& summary, Verification& verification);

/// Of a run with canaries: who was in against the seed, and what the summary says of the audit against the
/// scores and the claim. `settings`: of its experiment, here as below.
void verify_audit(const RunDirectory& run, const Summary& summary, const ResolvedSettings& settings,
                  Verification& verification);

/// Of a run: what the summary says of data, partition, model and settings against the experiment.
void verify_settings(const RunDirectory& run, const Summary& summary, const ResolvedSettings& settings,
                     Verification& verification);

/// Of a run: whether settings and environment are such as the program can read and meet with.
void verify_domains(const RunDirectory& run, const Summary& summary, const ResolvedSettings& settings,
                    Verification& verification);

/// Of a run: which tests, of how many classes, its rounds tell of, and its early end, against the experiment.
/// `rounds`: as above. `card`: of its partition, where it has one.
void verify_tests(const RunDirectory& run, const Summary& summary, std::span<const RoundRecord> rounds,
                  const ResolvedSettings& settings, const std::optional<RecordedPartition>& card,
                  Verification& verification);

/// Of a run: the card of its partition against the summary, its counts, the ledger and the experiment;
/// without a card, the ledger's numbers of examples against the experiment.
void verify_partition(const RunDirectory& run, const Summary& summary, const ResolvedSettings& settings,
                      const std::optional<RecordedPartition>& card, Verification& verification);

}  // namespace fedarena::results
