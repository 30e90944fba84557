// Who has how many examples: the card of a partition against its summary, itself, the ledger and the
// settings; without a card, the ledger against the settings.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/expected_inputs.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

void compare_identity(const RecordedPartition& card, const Summary& summary, Comparison& compare) {
  compare.text("id", card.id, summary.partition_id);
  compare.text("index_hash", card.index_hash, summary.partition_hash);
  compare.text("dataset", card.dataset, summary.dataset);
  compare.same("seed", card.seed, summary.seed);
  compare.same("clients", std::ssize(card.sizes), summary.clients);
}

// Sums of any whole numbers, which an edited file may hold: unsigned ones wrap, signed ones must not.
std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  std::uint64_t sum = 0;
  for (const std::int64_t count : counts) sum += static_cast<std::uint64_t>(count);
  return static_cast<std::int64_t>(sum);
}

void compare_counts(const RecordedPartition& card, Comparison& compare) {
  for (std::size_t client = 0; client < card.class_counts.size(); ++client) {
    const auto& counts = card.class_counts[client];
    compare.same(fmt::format("client {} sum of class_counts", client), sum_of(counts), card.sizes[client]);
    compare.close(fmt::format("client {} label_entropy", client), card.label_entropy[client],
                  label_entropy(counts));
  }
}

void compare_with_ledger(const RecordedPartition& card, const Ledger& ledger, Comparison& compare) {
  for (const auto& [client, record] : ledger.clients()) {
    if (client < 0 || client >= std::ssize(card.sizes)) continue;  // another number of clients: told
    compare.same(fmt::format("client {} size", client), card.sizes[static_cast<std::size_t>(client)],
                 record.examples);
  }
}

// Whether a partition leaves no example out, before shares are cut.
bool deals_all(const ResolvedSettings& settings) {
  constexpr std::array<std::string_view, 8> kDealAll = {"iid",
                                                        "quantity",
                                                        "shards",
                                                        "shared-classes",
                                                        "dirichlet",
                                                        "dirichlet-niid-bench",
                                                        "dirichlet-flower",
                                                        "dirichlet-pfllib"};
  const std::string kind = settings.of("partition.kind");
  const bool all_classes = kind == "classes" && settings.of("partition.class_order") == "[]" &&
                           settings.of("partition.equal_sizes") == "false";
  return all_classes || contains(kDealAll, kind);
}

// How many examples clients have: "iid" cuts equal shares, of which each client then keeps its part.
void compare_equal_shares(const std::vector<std::int64_t>& sizes, std::int64_t examples, double kept,
                          const Comparison& compare) {
  Kinds kinds(compare);
  const auto clients = std::ssize(sizes);
  for (std::int64_t client = 0; client < clients; ++client) {
    std::int64_t due = (client + 1) * examples / clients - client * examples / clients;
    if (kept < 1) due = std::max<std::int64_t>(1, std::llround(kept * static_cast<double>(due)));
    const std::int64_t size = sizes[static_cast<std::size_t>(client)];
    kinds.result(size == due, "size", client_text(client), size, due);
  }
  kinds.conclude();
}

// The same of any other partition, all clients together: parts are rounded, and nobody is left without.
void compare_total(const std::vector<std::int64_t>& sizes, std::int64_t examples, double kept, bool of_all,
                   Comparison& compare) {
  double total = 0;  // of which an edited file may hold any
  for (const std::int64_t size : sizes) total += static_cast<double>(size);
  const double whole = kept * static_cast<double>(examples);
  const double slack = kept < 1 ? static_cast<double>(sizes.size()) : 0;
  const double most = std::floor(std::min(whole + slack, static_cast<double>(examples)));
  const double least = of_all ? std::ceil(whole - slack) : 0;
  const bool fits = least <= total && total <= most;
  compare.result(fits, "examples of all clients", fmt::format("{:.0f}", total),
                 least == most ? fmt::format("{:.0f}", most)
                               : fmt::format("from {:.0f} to {:.0f}", std::max(least, 0.0), most));
}

// Of the card, or the ledger of a run without one.
void compare_sizes(const std::vector<std::int64_t>& sizes, const ResolvedSettings& settings,
                   Comparison& compare) {
  constexpr std::ptrdiff_t kMostClients = 1'000'000;
  const std::optional<std::int64_t> examples = expected_examples(settings);
  if (!examples) return;
  const double kept = std::clamp(settings.number<double>("partition.train_fraction", 1), 0.0, 1.0);
  if (settings.of("partition.kind") == "iid" && std::ssize(sizes) <= kMostClients)
    return compare_equal_shares(sizes, *examples, kept, compare);
  compare_total(sizes, *examples, kept, deals_all(settings), compare);
}

// Of a list in brackets.
std::vector<std::int64_t> numbers_in(std::string_view list) {
  std::vector<std::int64_t> numbers;
  if (list.size() < 2) return numbers;
  for (const std::string_view part : split_at_commas(list.substr(1, list.size() - 2))) {
    if (const auto number = parse_number<std::int64_t>(part)) numbers.push_back(*number);
  }
  return numbers;
}

// What clients see of their inputs: the last one the most noise, and turned by the list in turn.
void compare_features(const RecordedPartition& card, const ResolvedSettings& settings,
                      const Comparison& compare) {
  const auto noise = settings.number<double>("partition.noise", 0);
  const std::vector<std::int64_t> degrees = numbers_in(settings.of("partition.rotations"));
  const bool any = noise > 0 || std::ranges::any_of(degrees, [](std::int64_t turned) { return turned != 0; });
  Kinds kinds(compare);
  kinds.result(card.noise.empty() != any, "noise", "", card.noise.empty() ? "empty" : "some",
               any ? "some" : "empty");
  for (std::size_t client = 0; any && client < card.noise.size(); ++client) {
    const double due =
        noise > 0 ? noise * static_cast<double>(client) / static_cast<double>(card.noise.size() - 1) : 0;
    const std::int64_t turned = degrees.empty() ? 0 : degrees[client % degrees.size()];
    const std::string whose = client_text(static_cast<std::int64_t>(client));
    kinds.result(card.noise[client] == due, "noise", whose, card.noise[client], due);
    kinds.result(card.rotations[client] == turned, "rotations", whose, card.rotations[client], turned);
  }
  kinds.conclude();
}

void compare_card(const RecordedPartition& card, const ResolvedSettings& settings, Comparison& compare) {
  compare.text("kind", card.kind, settings.of("partition.kind", kMissing));
  compare_features(card, settings, compare);
  compare_sizes(card.sizes, settings, compare);
  const std::optional<std::int64_t> classes = expected_classes(settings);
  if (!classes || card.class_counts.empty()) return;  // a card may keep them to itself
  compare.same("classes", std::ssize(card.class_counts.front()), *classes);
}

}  // namespace

void verify_partition(const AuditedRun& run, Verification& verification) {
  Comparison compare(verification, run.file(kPartitionFile));
  if (run.card) {
    compare_identity(*run.card, run.summary, compare);
    compare_counts(*run.card, compare);
    if (run.ledger) compare_with_ledger(*run.card, *run.ledger, compare);
    compare_card(*run.card, run.settings, compare);
    return;
  }
  compare.result(false, "the card", kMissing, "that of " + run.summary.partition_id);
  if (!run.ledger) return;
  std::vector<std::int64_t> sizes;
  for (const auto& [client, record] : run.ledger->clients()) sizes.push_back(record.examples);
  Comparison compare_ledger(verification, run.file(kLedgerFile));
  compare_sizes(sizes, run.settings, compare_ledger);
}

}  // namespace fedarena::results
