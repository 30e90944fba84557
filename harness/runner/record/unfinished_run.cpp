#include "harness/runner/record/unfinished_run.hpp"

#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "accounting/json_text.hpp"
#include "harness/digest/sha256.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/record/builds.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
using results::Json;

constexpr std::int64_t kPublishedSchema = 2;

// Of the synthetic sets of those rounds, by their paths in the run directory; what `known` has is not read.
results::Seal synthetic_files(const results::RunDirectory& run, std::int64_t rounds, results::Seal& known) {
  results::Seal files;
  for (const std::int64_t round : run.synthetic().rounds()) {
    if (round > rounds) continue;
    for (const auto& entry : fs::directory_iterator(run.synthetic().folder_of(round))) {
      if (entry.path().extension() != ".npy") continue;  // of what else people leave there
      const std::string name = entry.path().lexically_relative(run.path()).generic_string();
      std::string& digest = known[name];
      if (digest.empty()) digest = sha256_of(results::read_whole_file(entry.path(), kMostBytesOfFile));
      files[name] = digest;
    }
  }
  return files;
}

std::string data_of(const results::Summary& plan) { return plan.data_hash + " " + plan.partition_hash; }

[[noreturn]] void refuse_edited(const results::RunDirectory& run, const std::string& name) {
  throw Error::in(run.path() / name, "is not as it was when the checkpoint was written",
                  {.remedy = kRestoreFile});
}

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

std::string chained(const std::string& before, results::RoundRecord round) {
  round.train_seconds = round.evaluation_seconds = 0;
  return sha256_of(before + to_json_line(round));
}

std::vector<std::string> chain_of(const std::vector<results::RoundRecord>& rounds) {
  std::vector<std::string> chain(1);
  for (const results::RoundRecord& round : rounds) chain.push_back(chained(chain.back(), round));
  return chain;
}

Published published_so_far(const results::RunDirectory& run, const std::string& experiment,
                           std::int64_t rounds, std::string chain, const results::Summary& plan,
                           results::Seal& known) {
  Published published{.rounds = rounds,
                      .chain = std::move(chain),
                      .files = synthetic_files(run, rounds, known),
                      .builds = recorded_builds(run.path(), plan.algorithm),
                      .data = data_of(plan),
                      .cell = sha256_of(experiment)};
  if (run.has(results::kClientsFile))
    published.files[results::kClientsFile] = sha256_of(run.read_file(results::kClientsFile));
  return published;
}

std::string to_json_text(const Published& published) {
  Json files = Json::object();
  for (const auto& [name, digest] : published.files) files[name] = digest;
  return results::json_text({{"schema", kPublishedSchema},
                             {"rounds", published.rounds},
                             {"chain", published.chain},
                             {"files", std::move(files)},
                             {"builds", published.builds},
                             {"data", published.data},
                             {"cell", published.cell},
                             {"unpublished", published.unpublished}},
                            -1);
}

Published parse_published(std::string_view text) {
  results::JsonFields fields(text, Place{.file = results::kCheckpointFile});
  fields.schema(kPublishedSchema);
  Published published{.rounds = fields.integer("rounds", 0),
                      .chain = fields.text("chain"),
                      .builds = fields.text("builds"),
                      .data = fields.text("data"),
                      .cell = fields.text("cell"),
                      .unpublished = fields.text("unpublished")};
  for (auto& [name, digest] : fields.texts("files"))
    published.files.emplace(std::move(name), std::move(digest));
  fields.finish();
  return published;
}

void check_cell(const results::RunDirectory& run, const std::string& experiment, const Published& published) {
  if (published.cell == sha256_of(experiment)) return;
  throw Error::in(run.path() / results::kCheckpointFile, "is of another cell", {.remedy = kRestoreFile});
}

void check_published(const results::RunDirectory& run, const Published& published,
                     const std::vector<std::string>& chain, const results::Summary& plan) {
  if (published.data != data_of(plan))
    throw Error::in(
        run.path(), "the rounds so far were made from other data, or another partition, than there are now",
        {.remedy =
             "Put the old data back, or remove the run directory to run this cell again from the start."});
  if (!builds_go_on(published.builds, recorded_builds(run.path(), plan.algorithm)))
    refuse_edited(run, results::kEnvironmentFile);
  // Fewer rounds have a message of their own.
  const auto rounds = static_cast<std::size_t>(published.rounds);
  if (rounds < chain.size() && chain[rounds] != published.chain) refuse_edited(run, results::kRoundsFile);
  results::Seal unread;
  for (const auto& [name, digest] : synthetic_files(run, published.rounds, unread)) {
    const auto found = published.files.find(name);
    if (found == published.files.end() || found->second != digest) refuse_edited(run, name);
  }
  const auto scores = run.client_scores();
  const auto found = published.files.find(results::kClientsFile);
  if (!scores && found != published.files.end()) refuse_edited(run, results::kClientsFile);
  if (!scores || scores->round > published.rounds) return;  // to be replaced
  if (found == published.files.end() || found->second != sha256_of(run.read_file(results::kClientsFile)))
    refuse_edited(run, results::kClientsFile);
}

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
