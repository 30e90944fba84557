
#include "results/live/live_text.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"
#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

// Everything that a reader can be shown of one run.
std::string shown(const Summary& summary) {
  const std::vector<FoundRun> runs = {found(summary)};
  const Table table = make_table(runs);
  return render_json(table) + to_markdown(reader_table(table)) +
         render_list(std::vector{live_cell(runs[0].path, summary, {}, {}, 0)});
}

// Gives each field of an object of summaries each of the other values, and takes it away. What is read then
// is shown otherwise, but for sums that tell the sizes of secret batches, which nothing shows.
class Mutations {
 public:
  explicit Mutations(std::string_view others) : others_(Json::parse(others)) {}

  // `object`: a JSON pointer.
  void apply(const Summary& summary, const std::string& object) {
    const std::string before = shown(summary);
    const Json whole = Json::parse(to_json_text(summary));
    const Json::json_pointer place(object);
    for (const auto& [name, value] : whole[place].items()) {
      const bool secret = is_secret(DrawnSizes::kBatches, summary.privacy) &&
                          (name == "gradients" || name == "operations" || name == "seconds");
      for (const Json& other : others_) {
        if (other == value) continue;
        Json changed = whole;
        changed[place][name] = other;
        try {
          const Summary read = parse_summary(changed.dump(), "");
          if (read.state != kFinished) continue;
          EXPECT_EQ(shown(read) == before, secret) << name << " = " << other;
          ++seen;
        } catch (const Error&) {
          ++refused;
        }
      }
      Json shorter = whole;
      shorter[place].erase(name);
      EXPECT_THROW(parse_summary(shorter.dump(), ""), Error) << name;
    }
  }

  int refused = 0, seen = 0;

 private:
  Json others_;
};

// No field of a finished run can be changed, taken away or contradicted without being refused or seen.
TEST(Mutation, EveryFieldOfASummaryMatters) {
  std::vector<Summary> samples(6, finished_privately("fedavg", 1, 0.5));
  samples[0] = finished("fedavg", 1, 0.5);
  samples[1] = stopped_by_budget("fedavg", 1, 0.5);
  samples[2].privacy->exact_access = "fedavg: loss of client 3, round 1";
  samples[2].privacy->rdp = samples[2].privacy->pld = Claim{.epsilon = kInfinity};
  samples[2].privacy->order = 0;
  samples[3].privacy->pld = unproven("no bound");
  samples[4].privacy->settings.assume = "poisson";
  samples[4].privacy->assumed = true;
  samples[5].privacy->public_data = {"the server's proxy data"};
  samples[5].privacy->as_if_rdp = samples[5].privacy->as_if_pld = Claim{.epsilon = 0.5};
  Mutations mutations(R"([null, true, false, 0, 1, -1, 7, 0.25, 1e300, "", "inf", "nan", "unproven", "none",
      "record", "client", "add-remove", "replace-one", "poisson", "classic", "balle", "budget", "running",
      "finished", "x", {}, [], {"lr": "0.2"}])");
  for (Summary& summary : samples) {
    summary.algorithm_parameters = {{"lr", "0.1"}};
    mutations.apply(summary, "");
  }
  EXPECT_GT(mutations.seen, 500);
  EXPECT_GT(mutations.refused, 1500);
}

// The field as a whole may be missing, as in runs that nothing tuned; what it holds may not.
TEST(Mutation, EveryFieldOfATuningMatters) {
  Mutations mutations(R"([null, true, 0, 1, -1, 7, 0.25, 1e300, "", "inf", "-inf", "nan", "grid", "random",
      "validation loss", "validation accuracy", {}, [], {"training.rate": "0.2"}, {"training.rate": 0.1},
      {"algorithms.fedavg.rate": "0.1"}])");
  for (const std::string_view criterion : {kByValidationAccuracy, kByValidationLoss}) {
    Summary summary = finished_privately("fedavg", 1, 0.5);
    summary.privacy->adjacency = "replace-one";  // else sums of drawn sizes are shown nowhere
    summary.tuning = tuned_by(6);
    summary.tuning->criterion = criterion;
    mutations.apply(summary, "/tuning");
    Summary without = summary;
    without.tuning.reset();
    EXPECT_NE(shown(parse_summary(to_json_text(without), "")), shown(summary));
  }
  EXPECT_GT(mutations.seen, 30);
  EXPECT_GT(mutations.refused, 200);
}

TEST(Mutation, DamagedFilesOfRoundsAreErrorsOrTorn) {
  const Scratch folder;
  RunDirectory run = RunDirectory::create(folder / "a", "", "{}", unfinished("fedavg", 1, 0));
  for (int round = 1; round <= 3; ++round) run.append(round_record(round));
  const std::string whole = run.read_file(kRoundsFile);
  const auto read = [&](const std::string& bytes) {
    put(folder / "a/rounds.jsonl", bytes);
    EXPECT_LE(RunDirectory::open(folder / "a").rounds().size(), 3U);
  };
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    read(whole.substr(0, length));  // torn at any byte: never an Error
    std::string changed = whole;
    changed[length] = static_cast<char>(changed[length] ^ 0x10);
    try {
      read(changed);
    } catch (const Error&) {  // nothing else
      ++refused;
    }
  }
  EXPECT_GT(2 * refused, whole.size()) << "most bytes count";
}

}  // namespace
}  // namespace fedarena::results
