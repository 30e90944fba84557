#include "results/write/render.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "results/text/number_format.hpp"
#include "tests/results/samples.hpp"
#include "tests/results/record/tuning_sample.hpp"

namespace fedarena::results {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Two algorithms with three seeds each, an unfinished run and a note about the data.
Table render_sample() {
  std::vector<FoundRun> runs;
  for (const std::int64_t seed : {1, 2, 3}) {
    const double offset = 0.01 * static_cast<double>(seed);
    runs.push_back(found(finished("fedavg", seed, 0.70 + offset)));
    runs.push_back(found(finished("scaffold_10%", seed, 0.75 + offset)));
    runs.back().summary->uplink_bytes_per_client_round = 3145728 + 0.5;
  }
  for (FoundRun& run : runs) run.summary->dataset_note = "synthetic, not comparable with papers";
  runs.push_back(found(unfinished("fedprox", 3, 12)));
  return make_table(runs);
}

// Rows of two data sets.
Table two_settings() {
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5)),
                                found(finished("fedavg", 1, 0.9), "other")};
  runs[0].summary->dataset = "a|b, \"c\"";
  return make_table(runs);
}

TEST(Markdown, ReadsWellInATerminal) {
  EXPECT_EQ(render_markdown(render_sample()), R"(Experiment quickstart, data set digits, partition iid, model mlp.

| algorithm    | rounds | seeds |     accuracy (%) | epsilon |   uplink | downlink | seconds |
|:-------------|-------:|------:|-----------------:|--------:|---------:|---------:|--------:|
| fedavg       |     20 |     3 |     72.00 ± 1.00 |    none | 4.00 KiB | 8.00 KiB |    12.5 |
| scaffold_10% |     20 |     3 | **77.00 ± 1.00** |    none | 3.00 MiB | 8.00 KiB |    12.5 |

Accuracy after the last round: mean ± sample standard deviation over seeds. Uplink and downlink: bytes per client and round. Seconds: per run.

Notes:
- data set digits: synthetic, not comparable with papers
- fedprox: seed 3 is unfinished (12 of 20 rounds) and not counted
)");
}

TEST(Markdown, AddsColumnsOnlyForWhatVaries) {
  EXPECT_EQ(render_markdown(two_settings()), R"(Experiment quickstart, partition iid, model mlp.

| data set  | algorithm | rounds | seeds | accuracy (%) | epsilon |   uplink | downlink | seconds |
|:----------|:----------|-------:|------:|-------------:|--------:|---------:|---------:|--------:|
| a\|b, "c" | fedavg    |     20 |     1 |        50.00 |    none | 4.00 KiB | 8.00 KiB |    12.5 |
| digits    | fedavg    |     20 |     1 |        90.00 |    none | 4.00 KiB | 8.00 KiB |    12.5 |

Accuracy after the last round: mean ± sample standard deviation over seeds. Uplink and downlink: bytes per client and round. Seconds: per run.
)");
}

TEST(Markdown, SaysThatNothingIsFinished) {
  EXPECT_EQ(render_markdown(make_table(std::vector{found(unfinished("fedprox", 3, 12))})), R"(No finished run.

Notes:
- fedprox: seed 3 is unfinished (12 of 20 rounds) and not counted
)");
}

TEST(Latex, SetsABooktabsTable) {
  EXPECT_EQ(render_latex(render_sample()), R"(% Needs \usepackage{booktabs, siunitx}.
\begin{table}
  \centering
  \sisetup{mode = text, detect-weight = true, separate-uncertainty = true}
  \renewcommand*{\textpm}{\ensuremath{\pm}}
  \caption{Experiment quickstart, data set digits, partition iid, model mlp. Accuracy after the last round: mean $\pm$ sample standard deviation over seeds. Uplink and downlink: bytes per client and round. Seconds: per run.}
  \begin{tabular}{lS[table-format=2]S[table-format=1]S[table-format=2.2(3)]rrrS[table-format=2.1]}
    \toprule
    algorithm & {rounds} & {seeds} & {accuracy (\%)} & $\varepsilon$ & uplink & downlink & {seconds} \\
    \midrule
    fedavg & 20 & 3 & 72.00 \pm 1.00 & none & 4.00 KiB & 8.00 KiB & 12.5 \\
    scaffold\_10\% & 20 & 3 & \bfseries 77.00 \pm 1.00 & none & 3.00 MiB & 8.00 KiB & 12.5 \\
    \bottomrule
  \end{tabular}
  \par\smallskip{\footnotesize Note: data set digits: synthetic, not comparable with papers.\par}
  \par\smallskip{\footnotesize Note: fedprox: seed 3 is unfinished (12 of 20 rounds) and not counted.\par}
\end{table}
)");
}

TEST(Latex, EscapesItsSpecialCharacters) {
  std::vector<FoundRun> runs = {found(finished(R"(&%$#_{}~^\<>)", 1, 0.5))};
  EXPECT_THAT(
      render_latex(make_table(runs)),
      HasSubstr(
          R"(\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}\textgreater{} &)"));
}

TEST(Latex, OfNothingFinishedIsAComment) {
  EXPECT_EQ(render_latex(make_table(std::vector{found(unfinished("fedprox", 3, 12))})),
            "% No finished run.\n% fedprox: seed 3 is unfinished (12 of 20 rounds) and not counted\n");
}

TEST(Csv, HoldsRawNumbers) {
  const Table table = render_sample();
  // Its last digits are Boost's.
  const std::string half_width = exact_number(*table.rows[0].accuracy_half_width);
  EXPECT_EQ(
      render_csv(table),
      fmt::format(
          R"(experiment,dataset,partition,model,label,algorithm,rounds,rounds_done,seeds,accuracy_mean,accuracy_std,rmse_mean,rmse_std,policy,epsilon_rdp,epsilon_pld,as_if_epsilon_rdp,as_if_epsilon_pld,assumed,delta,unit,adjacency,stopped,uplink_bytes_per_client_round,downlink_bytes_per_client_round,seconds,sweep,client_accuracy_mean,client_accuracy_std,client_accuracy_worst_mean,client_accuracy_worst_std,best_client_accuracy_mean,best_client_accuracy_std,best_client_macro_f1_mean,best_client_macro_f1_std,client_rmse_mean,client_rmse_std,client_rmse_worst_mean,client_rmse_worst_std,examples,gradients,operations,operations_at_least,uplink_bytes,downlink_bytes,metric,metric_mean,metric_std,accuracy_half_width_95,rmse_half_width_95,metric_half_width_95,published_mean,published_std,published_n,published_source,trials,trial_examples,trial_seconds
quickstart,digits,iid,mlp,fedavg,fedavg,20,20,3,0.7200000000000001,0.010000000000000009,,,none,none,none,,,,,,,,4096,8192,12.5,,,,,,,,,,,,,,,,,,819200,1638400,,,,{},,,,,,,,,
quickstart,digits,iid,mlp,scaffold_10%,scaffold_10%,20,20,3,0.77,0.010000000000000009,,,none,none,none,,,,,,,,3145728.5,8192,12.5,,,,,,,,,,,,,,,,,,819200,1638400,,,,{},,,,,,,,,
)",
          half_width, exact_number(*table.rows[1].accuracy_half_width)));
}

TEST(Render, TellsHowARowWasTuned) {
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5)), found(finished("fedavg", 2, 0.7)),
                                found(finished("scaffold", 1, 0.6))};
  runs[0].summary->tuning = runs[1].summary->tuning = tuned_by(6);
  const Table table = make_table(runs);
  EXPECT_THAT(render_csv(table), HasSubstr(",6,48000,12.3\nquickstart"));
  EXPECT_THAT(render_csv(table), EndsWith(",,,\n"));
  const auto rows = nlohmann::json::parse(render_json(table)).at("rows");
  EXPECT_EQ(rows[0].at("tuning").at("trials"), 6);
  EXPECT_EQ(rows[0].at("tuning").at("chosen").at("training.rate"), "0.1");
  EXPECT_FALSE(rows[1].contains("tuning"));
}

TEST(Csv, QuotesAsRfc4180) {
  EXPECT_EQ(
      render_csv(two_settings()),
      R"(experiment,dataset,partition,model,label,algorithm,rounds,rounds_done,seeds,accuracy_mean,accuracy_std,rmse_mean,rmse_std,policy,epsilon_rdp,epsilon_pld,as_if_epsilon_rdp,as_if_epsilon_pld,assumed,delta,unit,adjacency,stopped,uplink_bytes_per_client_round,downlink_bytes_per_client_round,seconds,sweep,client_accuracy_mean,client_accuracy_std,client_accuracy_worst_mean,client_accuracy_worst_std,best_client_accuracy_mean,best_client_accuracy_std,best_client_macro_f1_mean,best_client_macro_f1_std,client_rmse_mean,client_rmse_std,client_rmse_worst_mean,client_rmse_worst_std,examples,gradients,operations,operations_at_least,uplink_bytes,downlink_bytes,metric,metric_mean,metric_std,accuracy_half_width_95,rmse_half_width_95,metric_half_width_95,published_mean,published_std,published_n,published_source,trials,trial_examples,trial_seconds
quickstart,"a|b, ""c""",iid,mlp,fedavg,fedavg,20,20,1,0.5,,,,none,none,none,,,,,,,,4096,8192,12.5,,,,,,,,,,,,,,,,,,819200,1638400,,,,,,,,,,,,,
quickstart,digits,iid,mlp,fedavg,fedavg,20,20,1,0.9,,,,none,none,none,,,,,,,,4096,8192,12.5,,,,,,,,,,,,,,,,,,819200,1638400,,,,,,,,,,,,,
)");
}

TEST(Json, HoldsEverySeed) {
  EXPECT_EQ(render_json(two_settings()), R"({
  "schema": 2,
  "rows": [
    {
      "experiment": "quickstart",
      "dataset": "a|b, \"c\"",
      "partition": "iid",
      "model": "mlp",
      "sweep": {},
      "label": "fedavg",
      "algorithm": "fedavg",
      "algorithm_parameters": {},
      "rounds": 20,
      "clients": 10,
      "parameters": 1000,
      "accuracy_mean": 0.5,
      "accuracy_std": null,
      "accuracy_half_width_95": null,
      "rmse_mean": null,
      "rmse_std": null,
      "rmse_half_width_95": null,
      "best": false,
      "policy": "none",
      "privacy": null,
      "uplink_bytes_per_client_round": 4096,
      "downlink_bytes_per_client_round": 8192,
      "uplink_bytes": 819200,
      "downlink_bytes": 1638400,
      "examples": null,
      "gradients": null,
      "operations": null,
      "operations_at_least": null,
      "seconds": 12.5,
      "seeds": [
        {
          "seed": 1,
          "directory": "runs/fedavg-seed-1",
          "rounds_done": 20,
          "accuracy": 0.5,
          "loss": 0.5,
          "seconds": 12.5,
          "uplink_bytes_per_client_round": 4096,
          "downlink_bytes_per_client_round": 8192,
          "uplink_bytes": 819200,
          "downlink_bytes": 1638400,
          "epsilon_rdp": "none",
          "epsilon_pld": "none",
          "examples": null,
          "gradients": null,
          "operations": null,
          "operations_at_least": null
        }
      ]
    },
    {
      "experiment": "quickstart",
      "dataset": "digits",
      "partition": "iid",
      "model": "mlp",
      "sweep": {},
      "label": "fedavg",
      "algorithm": "fedavg",
      "algorithm_parameters": {},
      "rounds": 20,
      "clients": 10,
      "parameters": 1000,
      "accuracy_mean": 0.9,
      "accuracy_std": null,
      "accuracy_half_width_95": null,
      "rmse_mean": null,
      "rmse_std": null,
      "rmse_half_width_95": null,
      "best": false,
      "policy": "none",
      "privacy": null,
      "uplink_bytes_per_client_round": 4096,
      "downlink_bytes_per_client_round": 8192,
      "uplink_bytes": 819200,
      "downlink_bytes": 1638400,
      "examples": null,
      "gradients": null,
      "operations": null,
      "operations_at_least": null,
      "seconds": 12.5,
      "seeds": [
        {
          "seed": 1,
          "directory": "other/fedavg-seed-1",
          "rounds_done": 20,
          "accuracy": 0.9,
          "loss": 0.5,
          "seconds": 12.5,
          "uplink_bytes_per_client_round": 4096,
          "downlink_bytes_per_client_round": 8192,
          "uplink_bytes": 819200,
          "downlink_bytes": 1638400,
          "epsilon_rdp": "none",
          "epsilon_pld": "none",
          "examples": null,
          "gradients": null,
          "operations": null,
          "operations_at_least": null
        }
      ]
    }
  ],
  "notes": []
}
)");
}

TEST(Json, WritesLossesThatAreNotFinite) {
  Summary summary = finished("fedavg", 1, 0.1);
  summary.final_test_loss = std::nan("");
  EXPECT_THAT(render_json(make_table(std::vector{found(summary)})), HasSubstr("\"loss\": \"nan\""));
}

TEST(Render, OneSeedShowsNoSpread) {
  const Table table = make_table(std::vector{found(finished("fedavg", 1, 0.5))});
  EXPECT_THAT(render_markdown(table), HasSubstr("50.00 |"));
  EXPECT_THAT(render_latex(table), HasSubstr("& 50.00 &"));
  EXPECT_THAT(render_csv(table), HasSubstr(",0.5,,,,none,none,none,"));
  EXPECT_THAT(render_json(table), HasSubstr("\"accuracy_std\": null"));
}

}  // namespace
}  // namespace fedarena::results
