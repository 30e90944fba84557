// A card for each partition.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/audit/ledger_findings.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "results/report/sections.hpp"
#include "results/table/notes.hpp"
#include "results/text/markup.hpp"
#include "results/text/natural_order.hpp"

namespace fedarena::results {
namespace {

struct Card {
  const FoundRun* first = nullptr;   // whose ledger tells the sizes
  const FoundRun* mapped = nullptr;  // whose card tells the classes; older runs have none
  IndexHashes hashes;
  std::size_t runs = 0;
  bool hides_labels = false;  // in one of them at least
};

using Cards = std::map<std::pair<std::string, std::string>, Card, NaturalOrder>;

Cards cards_of(std::span<const FoundRun> runs) {
  Cards cards;
  for (const FoundRun& run : runs) {
    if (!run.summary) continue;
    const std::string id = brief_partition_id(*run.summary);
    Card& card = cards[{run.summary->dataset, id}];
    if (card.first == nullptr) card.first = &run;
    std::error_code failure;
    if (card.mapped == nullptr && std::filesystem::exists(run.path / kPartitionFile, failure))
      card.mapped = &run;
    card.hashes[run.summary->seed].insert(run.summary->partition_hash);
    ++card.runs;
    card.hides_labels = card.hides_labels || hides_label_counts(*run.summary);
  }
  return cards;
}

// Examples of each client, the smallest first; empty where the run recorded none.
std::vector<std::int64_t> sizes_of(const FoundRun& run, Problems& problems) {
  std::vector<std::int64_t> sizes;
  std::error_code failure;
  if (!std::filesystem::exists(run.path / kLedgerFile, failure)) return sizes;
  try {
    const Ledger ledger = read_ledger(run.path);
    for (const auto& [client, record] : ledger.clients()) sizes.push_back(record.examples);
  } catch (const Error& error) {
    problems.push_back({run.path, problem_line(error)});
  }
  std::ranges::sort(sizes);
  return sizes;
}

// Who holds which classes; empty where no run tells it, or a run keeps it private.
std::string map_of(const Card& card, Problems& problems) {
  if (card.mapped == nullptr || card.hides_labels) return {};
  const std::filesystem::path& path = card.mapped->path;
  const std::optional<Summary>& summary = card.mapped->summary;
  try {
    const std::string file = (path / kPartitionFile).string();
    const RecordedPartition partition = parse_partition(read_whole_file(file), file);
    if (partition.index_hash == summary->partition_hash) return partition_map(partition);
    problems.push_back({path, fmt::format("{}: field \"index_hash\" is {}, and that of {} is {}", file,
                                          partition.index_hash, kSummaryFile, summary->partition_hash)});
  } catch (const Error& error) {
    problems.push_back({path, problem_line(error)});
  }
  return {};
}

// Bars of the sizes, the smallest first; of many clients a part of them, evenly chosen.
std::string bars(const std::vector<std::int64_t>& sizes) {
  constexpr std::size_t kMost = 100;
  constexpr int kWidth = 6, kHeight = 60;
  const std::size_t shown = std::min(sizes.size(), kMost);
  std::string svg = fmt::format(
      "<svg class=\"bars\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" "
      "aria-label=\"Sizes of clients, from {} to {} examples\">",
      shown * kWidth, kHeight, shown * kWidth, kHeight, sizes.front(), sizes.back());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::int64_t size = sizes[(i + 1) * sizes.size() / shown - 1];
    const double height =
        sizes.back() == 0 ? 0 : kHeight * static_cast<double>(size) / static_cast<double>(sizes.back());
    svg += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>", i * kWidth,
                       kHeight - height, kWidth - 1, height);
  }
  return svg + "</svg>\n";
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  if (sizes.front() == sizes.back()) return fmt::format("{} each", sizes.front());
  return fmt::format("{} to {}, median {}", sizes.front(), sizes.back(),
                     median({sizes.begin(), sizes.end()}));
}

}  // namespace

std::string partitions_body(std::span<const FoundRun> runs, Problems& problems) {
  std::string html;
  bool without_map = false, hides_labels = false;
  for (const auto& [name, card] : cards_of(runs)) {
    const Summary& summary = *card.first->summary;
    const std::vector<std::int64_t> sizes = sizes_of(*card.first, problems);
    html += fmt::format("<article class=\"card\">\n{}\n",
                        html_element("h3", fmt::format("{}: {}", name.first, summary.partition)));
    html += facts({{"Clients", std::to_string(summary.clients)},
                   {"Examples a client",
                    sizes.empty() ? "" : fmt::format("{} (seed {})", sizes_text(sizes), summary.seed)},
                   {"Runs", std::to_string(card.runs)},
                   {"Id", brief_partition_id(summary)},
                   {"Index hash", index_hashes_text(card.hashes, ": ")}});
    if (!sizes.empty() && sizes.front() < sizes.back()) html += bars(sizes);
    const std::string map = map_of(card, problems);
    hides_labels = hides_labels || card.hides_labels;
    without_map = without_map || (map.empty() && !card.hides_labels);
    html += map;
    html += "</article>\n";
  }
  if (html.empty()) return html;
  std::string text =
      "<p>The index hash tells who holds which example: runs with the same one were dealt the same way.";
  if (without_map) text += " <code>fedarena partition FILE -o map.png</code> draws who holds which classes.";
  if (hides_labels)
    text +=
        " Where a run's policy keeps private who holds how many examples of which class, that is left out.";
  return text + "</p>\n<div class=\"cards\">\n" + html + "</div>\n";
}

}  // namespace fedarena::results
