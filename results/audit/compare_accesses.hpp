#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/accounting/odometer.hpp"

#include "results/audit/comparison.hpp"
#include "results/audit/expected_ledger.hpp"

namespace fedarena::results {

/// Under the policy "record": what a client's examples went through in each of its rounds.
void compare_records(std::int64_t client, const Ledger::ClientRecord& record, std::int64_t ended_after,
                     const ExpectedLedger& expected, Kinds& kinds);

/// Under the policy "local": each of a client's rounds is one message, or one for each tensor, and noises all
/// numbers of a model with so many `parameters`. The spread of centres is of models that no file holds, so of
/// what is clipped around several there is only known that it may not be charged less than around one, and
/// that a round charges all clients the same.
void compare_messages(std::int64_t client, const Ledger::ClientRecord& record, const ExpectedLedger& expected,
                      std::int64_t parameters, Kinds& kinds);

/// What was charged for a message of each round under each noise multiplier, and to whom.
using ChargedRounds =
    std::map<std::pair<std::int64_t, double>, std::pair<const std::vector<Access>*, std::int64_t>>;

/// Centres are public: a round that was made charges all clients of one noise multiplier alike. `rounds`: the
/// client's.
void compare_centred(std::int64_t client, double noise, const Ledger::Segment& segment,
                     std::span<const std::int64_t> rounds, ChargedRounds& charged, Kinds& kinds);

/// Under the policy "client": each round is one answer about all so many clients, beside messages that are
/// read one by one, or such messages alone; and one for the population that rescaled noise stands for, where
/// that is simulated.
void compare_population(const Ledger& ledger, const ExpectedLedger& experiment, std::int64_t clients,
                        Kinds& kinds);

/// Under the policy "label": each label is released once, to everybody, before the first round; what is made
/// of the answers later is not an access. Where a crash lost them, they were drawn again, and are charged
/// again. `classes`: 0 where nobody knows how many there are.
void compare_labels(const Ledger& ledger, const ExpectedLedger& expected, std::int64_t classes, Kinds& kinds);

/// Under the policy "record": whether a client's rounds hold what the algorithm asks for outside of the
/// mechanisms. `ended_after`: the ledger's.
void compare_exact_accesses(std::int64_t client, const Ledger::ClientRecord& record, std::int64_t ended_after,
                            const ExpectedLedger& expected, Kinds& kinds);

/// Under the policy "record": whether a client's rounds hold as many noised answers as the making of its
/// synthetic examples takes. `ended_after`: the ledger's.
void compare_generation(std::int64_t client, const Ledger::ClientRecord& record, std::int64_t ended_after,
                        const ExpectedLedger& expected, const Odometer& odometer, Kinds& kinds);

/// Under the policy "client": whether the messages that the server reads one by one are in the ledger.
void compare_reading(const Ledger& ledger, const ExpectedLedger& expected, Kinds& kinds);

/// Of a classification with rounds: whether the label counts that tests of clients tell are in the ledger.
void compare_label_counts(const Ledger& ledger, const ExpectedLedger& expected, Kinds& kinds);

/// Under the others: what all clients were charged for at once, which no mechanism made.
void compare_unprotected(const Ledger& ledger, const ExpectedLedger& expected, Kinds& kinds);

}  // namespace fedarena::results
