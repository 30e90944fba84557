// The files of a run directory, one by one. What is taken is written again and read as the same.
#include "harness/slurm/submission.hpp"
#include "results/bundle/bundle.hpp"
#include "results/images/npy_file.hpp"
#include "results/images/synthetic_folder.hpp"
#include "results/live/live_text.hpp"
#include "results/record/attack_file.hpp"
#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/accounting/samples.hpp"
#include "tests/fuzz/driver/memory_file.hpp"
#include "tests/fuzz/text/text_targets.hpp"
#include "tests/results/record/attack_sample.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::fuzz {
namespace {

using namespace results;

// As texts, in which a number that is none equals itself.
void require_same(const std::string& written, const std::string& again) {
  require(written == again, "what is written and read comes back as another");
}

void read_ledger(std::string_view bytes) {
  const Ledger ledger = Ledger::from_json(bytes);
  const Ledger again = Ledger::from_json(ledger.to_json());
  require_same(ledger.to_json(), again.to_json());
  require(again == ledger, "the ledger changes when it is written");
}

void read_summary(std::string_view bytes) {
  const Summary read = parse_summary(bytes, "summary.json");
  const std::vector<FoundRun> runs = {found(read)};
  const Table table = make_table(runs);
  to_markdown(reader_table(table));
  to_latex(reader_table(table));
  render_csv(table);
  render_json(table);
  const std::vector<RoundRecord> rounds(1);
  render_list(std::vector{live_cell("a", read, rounds, {}, 0)});
  require_same(to_json_text(read), to_json_text(parse_summary(to_json_text(read), "")));
}

void read_round(std::string_view bytes) {
  const RoundRecord read = parse_round(bytes, {.file = "rounds.jsonl", .line = 3});
  require_same(to_json_line(read), to_json_line(parse_round(to_json_line(read), {})));
}

template <auto Parse>
void read_record(std::string_view bytes) {
  const auto read = Parse(bytes, "record.json");
  require_same(to_json_text(read), to_json_text(Parse(to_json_text(read), "")));
}

void read_synthetic(std::string_view bytes) {
  const MemoryFile file(bytes);
  const Array array = read_npy(file.path());
  const MemoryFile again(to_npy(array));
  require_same(again.content(), to_npy(read_npy(again.path())));
  if (array.shape.size() != 4) return;
  const auto images = static_cast<std::size_t>(array.shape[0]);
  if (images > bytes.size()) return;  // of no pixels
  as_images({array, {{array.shape[0]}, std::vector<std::int64_t>(images)}}, "synthetic/round-0001");
}

void read_weights(std::string_view bytes) {
  const MemoryFile file(bytes);
  const NamedArrays arrays = read_npz(file.path());
  const MemoryFile again(to_npz(arrays));
  require(content_hash(read_npz(again.path())) == content_hash(arrays), "the arrays change");
}

std::vector<std::string> summaries() {
  Summary tuned = stopped_by_budget("fedavg", 1, 0.5);
  tuned.privacy->as_if_rdp = unproven("no bound");
  tuned.privacy->as_if_pld = Claim{.epsilon = 0.5};
  tuned.algorithm_parameters = {{"lr", "0.1"}};
  tuned.tuning = tuned_by(6);
  Summary metric = finished_privately("fedavg", 1, 0.5);
  metric.policy = metric.privacy->unit = "local";
  metric.privacy->per_distance = 0.5;
  metric.privacy->nominal = {{"n/nu", 2.4}};
  return {to_json_text(tuned), to_json_text(metric), to_json_text(finished("fedavg", 1, 0.5)),
          to_json_text(unfinished("fedavg", 2, 7))};
}

void read_a_submission(std::string_view bytes) {
  const slurm::Submission submission = slurm::parse_submission(bytes, "submission.json");
  require(slurm::parse_submission(to_json_text(submission), "again") == submission, "the submission changes");
}

std::vector<std::string> rounds() {
  RoundRecord plain = round_record(3);
  RoundRecord observed = round_record(3);
  observed.epsilon = 2.5;
  observed.observed = {{"matching-loss", 0.5}};
  return {to_json_line(plain), to_json_line(observed)};
}

std::string partition() {
  RecordedPartition partition = three_clients();
  partition.noise = {0, 0.5, 1};
  partition.rotations = {0, 90, 0};
  return to_json_text(partition);
}

Target of_json(std::string name, void (*read)(std::string_view), std::vector<std::string> seeds) {
  return {.name = std::move(name), .read = read, .seeds = std::move(seeds), .json = true};
}

}  // namespace

std::vector<Target> record_targets() {
  const Manifest manifest{
      .runs = {{.folder = "grid/fedavg-seed-1",
                .files = {{.name = "rounds.jsonl", .bytes = 12, .sha256 = std::string(64, 'a')}}},
               {.folder = "grid/fedavg-seed-2", .files = {}}}};
  const CanaryScores canaries{
      .kind = "client", .guesses = 2, .scores = {0.5, -1e9, 0}, .in = {true, false, true}};
  const ClientScores scores{4, {{0, 12, 0.75, 0.5}, {2, 7, 1, 0.875}}};
  const slurm::Submission submission{
      .job = "5", .experiment = "x", .cells = {{"p=1/a-seed-1", "p=1, a, seed 1", "a", 1, 20}}};
  return {of_json("ledger", read_ledger,
                  {sample_ledger().to_json(), sample_ledger(Unit::kRecord).to_json(),
                   sample_ledger(Unit::kLocal).to_json(), full_ledger().to_json()}),
          of_json("summary", read_summary, summaries()),
          of_json("round", read_round, rounds()),
          of_json("clients", read_record<parse_client_scores>, {to_json_text(scores)}),
          of_json("attack", read_record<parse_attacks>, {to_json_text(sample_attacks(std::string(64, 'a')))}),
          of_json("canaries", read_record<parse_canary_scores>, {to_json_text(canaries)}),
          of_json("partition", read_record<parse_partition>, {partition()}),
          of_json("submission", read_a_submission, {to_json_text(submission)}),
          of_json("manifest", read_record<parse_manifest>, {to_json_text(manifest)}),
          {.name = "synthetic",
           .read = read_synthetic,
           .seeds = {to_npy({{2, 1, 2, 2}, std::vector<float>(8, 0.5F)}),
                     to_npy({{2}, std::vector<std::int64_t>{1, -2}})},
           .words = {"'<f4'", "'<i8'", "True", "(", ")", "'shape'", "'descr'"}},
          {.name = "weights",
           .read = read_weights,
           .seeds = {to_npz({{"1.weight", {{2}, std::vector<float>{1, -2}}},
                             {"1.bias", {{1}, std::vector<double>{0.5}}}})},
           .words = {"PK\x03\x04", "PK\x01\x02", ".npy", "'<f8'"}}};
}

std::vector<Target> targets() { return joined({record_targets(), experiment_targets(), command_targets()}); }

}  // namespace fedarena::fuzz
