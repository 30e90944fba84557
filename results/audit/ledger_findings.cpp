#include "results/audit/ledger_findings.hpp"

#include <system_error>
#include <variant>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/durable_file.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

void find_exact(const std::vector<Ledger::Segment>& segments, std::optional<std::int64_t> client,
                std::vector<ExactFinding>& found) {
  for (const Ledger::Segment& segment : segments) {
    for (const Access& access : segment.accesses) {
      if (!is_exact(access.event)) continue;
      const auto* exact = std::get_if<ExactAccess>(&access.event);
      found.push_back({.client = client,
                       .first_round = segment.first_round,
                       .last_round = segment.last_round,
                       .access = exact != nullptr ? exact->what : describe(access.event),
                       .count = access.count * segment.times_charged()});
    }
  }
}

}  // namespace

Ledger read_ledger_file(const std::filesystem::path& file) {
  const std::string text = read_whole_file(file);
  try {
    return Ledger::from_json(text);
  } catch (const Error& error) {
    throw Error::in(file, error.complaint().found, error.complaint());
  }
}

Ledger read_ledger(const std::filesystem::path& run) {
  const std::filesystem::path file = run / kLedgerFile;
  std::error_code failure;
  if (!std::filesystem::is_regular_file(file, failure)) {
    throw Error::in(file, "is not there, so that nothing is known of what happened to private data",
                    {.remedy = "A run writes it with its first checkpoint: let it go on. Of a finished run, "
                               "restore it, or remove the run directory and run the cell again."});
  }
  return read_ledger_file(file);
}

Ledger read_ledger(const std::filesystem::path& run, const std::string& policy) {
  Ledger ledger = read_ledger(run);
  if (name(ledger.unit()) == policy) return ledger;
  throw Error::in(
      run / kLedgerFile,
      fmt::format("the unit is \"{}\", but the summary has the policy \"{}\"", name(ledger.unit()), policy),
      {.remedy = "The files belong to different runs, or were edited."});
}

std::vector<ExactFinding> exact_findings(const Ledger& ledger) {
  std::vector<ExactFinding> found;
  if (ledger.unit() == Unit::kNothing) return found;
  find_exact(ledger.population(), std::nullopt, found);
  if (!charges_each_client(ledger.unit())) return found;
  for (const auto& [client, record] : ledger.clients()) find_exact(record.segments, client, found);
  return found;
}

bool ended_in_exact_access(const Ledger& ledger) {
  const std::vector<Ledger::Segment>& rounds = ledger.population();
  return !rounds.empty() && rounds.back().participations == 0 && any_event(rounds.back().accesses, is_exact);
}

std::string who(const ExactFinding& finding) {
  return finding.client ? fmt::format("client {}", *finding.client) : "all clients";
}

}  // namespace fedarena::results
