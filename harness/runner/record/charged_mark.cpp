#include "harness/runner/record/charged_mark.hpp"

#include <limits>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChargedSchema = 1;
constexpr const char* kAccesses = "accesses";

// An edited ledger may count to anything.
std::int64_t added(std::int64_t sum, std::int64_t more) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return more > kMost - sum ? kMost : sum + more;
}

std::int64_t charged_in(const std::vector<Ledger::Segment>& segments) {
  std::int64_t sum = 0;
  for (const Access& access : Ledger::charged_of(segments)) sum = added(sum, access.count);
  return sum;
}

// Of the rounds that were made: what data left out is charged at the end, and again where a crash lost that.
std::int64_t accesses_charged(const Ledger& whole) {
  const std::int64_t end = whole.ended_after();
  const Ledger ledger = end > 0 ? whole.after_round(end).most : whole;
  std::int64_t sum = added(charged_in(ledger.population()), charged_in(ledger.as_if()));
  for (const auto& [client, record] : ledger.clients()) sum = added(sum, charged_in(record.segments));
  return sum;
}

}  // namespace

std::optional<std::int64_t> read_charged_mark(const fs::path& run) {
  const fs::path file = run / results::kChargedFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  results::JsonFields fields(results::read_whole_file(file), Place{.file = file.string()});
  fields.schema(kChargedSchema);
  const std::int64_t marked = fields.integer(kAccesses, 0);
  fields.finish();
  return marked;
}

void write_charged_mark(const fs::path& run, const Ledger& ledger) {
  results::replace_file(
      run / results::kChargedFile,
      results::json_text({{"schema", kChargedSchema}, {kAccesses, accesses_charged(ledger)}}, -1) + "\n");
}

void check_charged_mark(const fs::path& run, const Ledger& ledger, std::int64_t marked) {
  const std::int64_t charged = accesses_charged(ledger);
  if (charged >= marked) return;
  throw Error::in(
      run / results::kLedgerFile,
      fmt::format("charges {} accesses, but {} were charged before: it is an older one, which does not "
                  "know what crashes lost",
                  charged, marked),
      {.remedy = "Restore the last one, or remove the run directory to run this cell again from the start."});
}

}  // namespace fedarena
