#include "results/write/render.hpp"

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "results/text/number_format.hpp"
#include "tests/matchers.hpp"
#include "tests/results/compare/pair_samples.hpp"
#include "tests/results/record/tuning_sample.hpp"

namespace fedarena::results {
namespace {

// Two algorithms with three seeds each, an unfinished run and a note about the data.
// Without the notes that name its partitions.
Table brief_table(const std::vector<FoundRun>& runs) {
  Table table = make_table(runs);
  table.notes = beside_partitions(table.notes);
  return table;
}

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
  return brief_table(runs);
}

// Rows of two data sets.
Table two_settings() {
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5)),
                                found(finished("fedavg", 1, 0.9), "other")};
  runs[0].summary->dataset = "a|b, \"c\"";
  return brief_table(runs);
}

TEST(Markdown, ReadsWellInATerminal) {
  EXPECT_EQ(to_markdown(reader_table(render_sample())),
            R"(Experiment quickstart, data set digits, partition iid, model mlp.

| algorithm    | rounds | seeds |     accuracy (%) | epsilon |   uplink | downlink | seconds |
|:-------------|-------:|------:|-----------------:|--------:|---------:|---------:|--------:|
| fedavg       |     20 |     3 |     72.00 ± 1.00 |    none | 4.00 KiB | 8.00 KiB |    12.5 |
| scaffold_10% |     20 |     3 | **77.00 ± 1.00** |    none | 3.00 MiB | 8.00 KiB |    12.5 |

Accuracy after the last round: mean ± sample standard deviation over seeds. Bold: the best mean of its setting, which is no test of significance. Uplink and downlink: bytes per client and round. Seconds: per run.

Notes:
- data set digits: synthetic, not comparable with papers
- fedprox: seed 3 is unfinished (12 of 20 rounds) and not counted
)");
}

TEST(Markdown, AddsColumnsOnlyForWhatVaries) {
  EXPECT_EQ(to_markdown(reader_table(two_settings())), R"(Experiment quickstart, partition iid, model mlp.

| data set  | algorithm | rounds | seeds | accuracy (%) | epsilon |   uplink | downlink | seconds |
|:----------|:----------|-------:|------:|-------------:|--------:|---------:|---------:|--------:|
| a\|b, "c" | fedavg    |     20 |     1 |        50.00 |    none | 4.00 KiB | 8.00 KiB |    12.5 |
| digits    | fedavg    |     20 |     1 |        90.00 |    none | 4.00 KiB | 8.00 KiB |    12.5 |

Accuracy after the last round: mean ± sample standard deviation over seeds. Uplink and downlink: bytes per client and round. Seconds: per run.
)");
}

TEST(Latex, SetsABooktabsTable) {
  EXPECT_EQ(to_latex(reader_table(render_sample())), R"(% Needs \usepackage{booktabs, graphicx, siunitx}.
\begin{table}
  \centering
  \sisetup{mode = text, detect-weight = true, separate-uncertainty = true, retain-zero-uncertainty = true}
  \renewcommand*{\textpm}{\ensuremath{\pm}}
  \caption{Experiment quickstart, data set digits, partition iid, model mlp. Accuracy after the last round: mean $\pm$ sample standard deviation over seeds. Bold: the best mean of its setting, which is no test of significance. Uplink and downlink: bytes per client and round. Seconds: per run.}
  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
  \begin{tabular}{lS[table-format=2]S[table-format=1]S[table-format=2.2(3)]rrrS[table-format=2.1]}
    \toprule
    algorithm & {rounds} & {seeds} & {accuracy (\%)} & $\varepsilon$ & uplink & downlink & {seconds} \\
    \midrule
    fedavg & 20 & 3 & 72.00 \pm 1.00 & none & 4.00 KiB & 8.00 KiB & 12.5 \\
    scaffold\_10\% & 20 & 3 & \bfseries 77.00 \pm 1.00 & none & 3.00 MiB & 8.00 KiB & 12.5 \\
    \bottomrule
  \end{tabular}}
  \par\smallskip{\footnotesize Note: data set digits: synthetic, not comparable with papers.\par}
  \par\smallskip{\footnotesize Note: fedprox: seed 3 is unfinished (12 of 20 rounds) and not counted.\par}
\end{table}
)");
}

TEST(Html, ShowsTheTableAsAPage) {
  const std::string html = to_html_page(reader_table(two_settings(), parse_selection("seeds")));
  EXPECT_THAT(html, has_all("<caption>Experiment quickstart, partition iid, model mlp.</caption>",
                            "<th scope=\"col\" class=\"number\">seeds</th></tr>",
                            "<th scope=\"row\">a|b, &quot;c&quot;</th>"));
  EXPECT_THAT(to_html_page(reader_table(render_sample())), HasSubstr("<strong>77.00 ± 1.00</strong>"));
}

TEST(Csv, HoldsRawNumbers) {
  const Table table = render_sample();
  // Its last digits are Boost's.
  const std::string half_width = exact_number(*table.rows[0].last.spread.half_width);
  EXPECT_EQ(
      render_csv(table),
      fmt::format(
          R"(experiment,dataset,partition,model,label,algorithm,rounds,rounds_done,seeds,accuracy_mean,accuracy_std,rmse_mean,rmse_std,policy,epsilon_rdp,epsilon_pld,as_if_epsilon_rdp,as_if_epsilon_pld,made_epsilon_rdp,made_epsilon_pld,assumed,delta,unit,adjacency,orders,conversion,public_data,stopped,uplink_bytes_per_client_round,downlink_bytes_per_client_round,seconds,sweep,client_accuracy_mean,client_accuracy_std,client_accuracy_worst_mean,client_accuracy_worst_std,best_client_accuracy_mean,best_client_accuracy_std,best_client_macro_f1_mean,best_client_macro_f1_std,client_rmse_mean,client_rmse_std,client_rmse_worst_mean,client_rmse_worst_std,examples,gradients,operations,operations_at_least,uplink_bytes,downlink_bytes,metric,metric_mean,metric_std,accuracy_half_width_95,rmse_half_width_95,metric_half_width_95,published_mean,published_std,published_n,published_source,trials,trial_examples,trial_seconds,noise_multiplier,clip_norm
quickstart,digits,iid,mlp,fedavg,fedavg,20,20,3,0.7200000000000001,0.010000000000000009,,,none,none,none,,,,,,,,,,,,,4096,8192,12.5,,,,,,,,,,,,,,0,0,0,false,819200,1638400,,,,{},,,,,,,,,,,
quickstart,digits,iid,mlp,scaffold_10%,scaffold_10%,20,20,3,0.77,0.010000000000000009,,,none,none,none,,,,,,,,,,,,,3145728.5,8192,12.5,,,,,,,,,,,,,,0,0,0,false,819200,1638400,,,,{},,,,,,,,,,,
)",
          half_width, exact_number(*table.rows[1].last.spread.half_width)));
}

// The lines of a CSV without quotes, by heading.
std::vector<std::map<std::string, std::string>> lines_by_heading(const std::string& csv) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : lines_of(csv)) {
    std::istringstream cells(line + ',');
    lines.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) lines.back().push_back(cell);
  }
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    EXPECT_EQ(lines[row].size(), lines[0].size());
    rows.emplace_back();
    for (std::size_t i = 0; i < lines[0].size(); ++i) rows.back()[lines[0][i]] = lines[row][i];
  }
  return rows;
}

// What a row's JSON has, by the headings of CSV.
std::map<std::string, nlohmann::json> values_by_heading(const nlohmann::json& row) {
  std::map<std::string, nlohmann::json> all;
  const nlohmann::json none = nlohmann::json::object();
  const auto add = [&](const nlohmann::json& object, const std::string& prefix) {
    for (const auto& [name, value] : object.items()) {
      if (value.is_primitive()) all[prefix + name] = value;
    }
  };
  add(row, "");
  add(row.value("privacy", none), "");
  add(row.value("policy_settings", none), "");
  if (row["privacy"].is_null()) all["epsilon_rdp"] = all["epsilon_pld"] = "none";
  add(row.value("published", none), "published_");
  add(row.value("tuning", none), "trial_");
  all["trials"] = all["trial_trials"];
  const nlohmann::json attacks = row.value("attacks", none);
  for (const auto& [score, attack] : attacks.items()) {
    for (const auto& [name, value] : attack.items()) {
      const std::size_t part = name.rfind('_');
      all[fmt::format("attack_{}_{}{}", name.substr(0, part), score, name.substr(part))] = value;
    }
  }
  return all;
}

std::string as_cell(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  return value.is_string() ? value.get<std::string>() : exact_number(value.get<double>());
}

// Two rows that have between them everything that a row can have, but for what privacy keeps secret.
Table table_of_everything() {
  std::vector<FoundRun> runs;
  for (const std::int64_t seed : {1, 2}) {
    Summary summary = stopped_by_budget("fedavg", seed, 0.5 + 0.125 * static_cast<double>(seed));
    PrivacyClaim& claim = *summary.privacy;
    claim.as_if_rdp = Claim{.epsilon = 3.5};
    claim.as_if_pld = Claim{.epsilon = 3.25};
    claim.made_rdp = Claim{.epsilon = 1.5};
    claim.made_pld = Claim{.epsilon = 1.25};
    claim.settings.assume = "poisson";
    claim.assumed = true;
    summary.policy_settings = {{"clip_norm", "1.0"}, {"noise_multiplier", "2.065"}};
    claim.public_data = {"the proxy data"};
    summary.per_client = ClientMetrics{9, 0.75, 0.5, 0.125 * static_cast<double>(seed), 0.625};
    summary.best_round = BestOverRounds{0.8, 12, 0.7, 14};
    summary.tuning = tuned_by(6);
    summary.audit = CanaryAudit{.kind = "gradient", .canaries = 10, .guesses = 4, .lower_bound = 4};
    summary.sweep = {{"training.rate", "0.1"}};
    summary.examples = 640;
    summary.cost = {700, 5'000'000'000, true};
    runs.push_back(found(summary));
    Summary errors = finished("regression", seed, 0);
    errors.final_test_accuracy.reset();
    errors.client_errors = ClientErrors{4, 2.5, 8, 0.5};
    errors.tuning = tuned_by(6);
    runs.push_back(found(errors));
  }
  Table table = make_table(runs);
  table.metric = parse_round_metric("loss");
  table.published_sources = {"Doe 2022"};
  for (Row& row : table.rows) {
    row.published = {.mean = 62.5, .std = 2.5, .n = 3};
    for (SeedResult& seed : row.seeds)
      seed.attacks["loss"].auc = 0.5 + 0.25 * static_cast<double>(seed.seed());
  }
  return table;
}

TEST(Csv, HasWhatJsonHasInEveryColumn) {
  const Table table = table_of_everything();
  const auto rows = nlohmann::json::parse(render_json(table)).at("rows");
  const auto lines = lines_by_heading(render_csv(table));
  ASSERT_EQ(lines.size(), rows.size());
  const std::set<std::string> written_otherwise = {"rounds_done", "seeds", "assumed",
                                                   "public_data", "sweep", "audits_contradicting"};
  std::set<std::string> empty;
  for (const auto& [heading, unused] : lines[0]) empty.insert(heading);
  for (std::size_t row = 0; row < lines.size(); ++row) {
    const auto values = values_by_heading(rows[row]);
    for (const auto& [heading, cell] : lines[row]) {
      if (!cell.empty()) empty.erase(heading);
      if (written_otherwise.contains(heading)) continue;
      const auto value = values.find(heading);
      EXPECT_EQ(cell, value == values.end() ? "" : as_cell(value->second)) << heading;
    }
  }
  EXPECT_THAT(empty, IsEmpty());
}

TEST(Render, TellsHowARowWasTuned) {
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5)), found(finished("fedavg", 2, 0.7)),
                                found(finished("scaffold", 1, 0.6))};
  runs[0].summary->tuning = runs[1].summary->tuning = tuned_by(6);
  const Table table = make_table(runs);
  EXPECT_THAT(render_csv(table), HasSubstr(",6,48000,12.3,,\nquickstart"));
  EXPECT_THAT(render_csv(table), EndsWith(",,,\n"));
  const auto rows = nlohmann::json::parse(render_json(table)).at("rows");
  EXPECT_EQ(rows[0].at("tuning").at("trials"), 6);
  EXPECT_EQ(rows[0].at("tuning").at("chosen").at("training.rate"), "0.1");
  EXPECT_FALSE(rows[1].contains("tuning"));
}

TEST(Json, HoldsEverySeed) {
  Table table = two_settings();
  table.rows.pop_back();
  table.rows[0].seeds[0].summary.final_test_loss = std::nan("");
  const std::string text = render_json(table);
  const auto json = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(text, json.dump(2) + "\n");
  EXPECT_EQ(
      json.dump(),
      R"({"schema":2,"rows":[{"experiment":"quickstart","dataset":"a|b, \"c\"","partition":"iid",)"
      R"("model":"mlp","sweep":{},"label":"fedavg","algorithm":"fedavg","algorithm_parameters":{},)"
      R"("rounds":20,"clients":10,"parameters":1000,"accuracy_mean":0.5,"accuracy_std":null,)"
      R"("accuracy_half_width_95":null,"rmse_mean":null,"rmse_std":null,"rmse_half_width_95":null,)"
      R"("best":false,"policy":"none","policy_settings":{},"privacy":null,"uplink_bytes_per_client_round":4096,)"
      R"("downlink_bytes_per_client_round":8192,"uplink_bytes":819200,"downlink_bytes":1638400,)"
      R"("examples":0,"gradients":0,"operations":0,"operations_at_least":false,)"
      R"("seconds":12.5,"seeds":[{"seed":1,"directory":"runs/fedavg-seed-1","rounds_done":20,)"
      R"("accuracy":0.5,"loss":"nan","seconds":12.5,"uplink_bytes_per_client_round":4096,)"
      R"("downlink_bytes_per_client_round":8192,"uplink_bytes":819200,"downlink_bytes":1638400,)"
      R"("epsilon_rdp":"none","epsilon_pld":"none","examples":0,"gradients":0,)"
      R"("operations":0,"operations_at_least":false}]}],"notes":[]})");
}

TEST(Render, OneSeedShowsNoSpread) {
  EXPECT_THAT(to_latex(reader_table(two_settings())), HasSubstr("& 50.00 &"));
  EXPECT_THAT(
      render_csv(two_settings()),
      HasSubstr("\nquickstart,\"a|b, \"\"c\"\"\",iid,mlp,fedavg,fedavg,20,20,1,0.5,,,,none,none,none,"));
}

// Differences of 4, 3, 4, 3, 3 points: t(4) reaches 2.776 x sqrt(0.06) = 0.680 to both sides of 3.4.
Pairs render_pairs_sample() {
  return compare_rows(folder_of({row_of("a_b", {0.64, 0.58, 0.69, 0.61, 0.65}),
                                 row_of("b|c", {0.60, 0.55, 0.65, 0.58, 0.62}), row_of("single", {0.5})}),
                      {});
}

TEST(RenderPairs, PrintNoStatisticsOfOneSeed) {
  EXPECT_THAT(to_markdown(reader_table(render_pairs_sample())),
              has_all("\n| a_b  | single |     1 |         +14.00 |                 - |              - |"
                      "      - |              - |        - | one seed: no statement |\n",
                      "\n\nNotes:\n- a_b and single: not compared"));
}

TEST(RenderPairs, PrintsRawNumbers) {
  const std::string csv = render_pairs_csv(render_pairs_sample());
  EXPECT_THAT(csv,
              StartsWith("sweep,a,b,metric,seeds,a_mean,b_mean,difference_mean,difference_std,t_low,t_high,"
                         "bootstrap_low,bootstrap_high,t,p_t,p_wilcoxon,p_wilcoxon_least,p_holm,verdict\n"
                         ",a_b,b|c,accuracy,5,0.634,0.6,0.0339999999"));
  EXPECT_THAT(csv, has_all(",0.0625,0.0625,0.000", ",,,,,,,,,one seed: no statement\n"));
  const auto json = nlohmann::json::parse(render_pairs_json(render_pairs_sample()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["metric"], "accuracy");
  EXPECT_EQ(json["higher_is_better"], true);
  const auto& pair = json["pairs"][0];
  EXPECT_EQ(pair["a"], "a_b");
  EXPECT_NEAR(pair["difference_mean"].get<double>(), 0.034, 1e-11);
  EXPECT_EQ(pair["seeds"][1], nlohmann::json({{"seed", 2}, {"a", 0.58}, {"b", 0.55}}));
  EXPECT_EQ(pair["verdict"], "a_b is better");
  EXPECT_TRUE(json["pairs"][1]["p_holm"].is_null());
  EXPECT_GE(json["notes"].size(), 2U);
}

TEST(RenderPairs, HasAColumnForWhatAGridVaries) {
  std::vector<std::vector<FoundRun>> rows;
  for (const char* rate : {"0.1", "0.2"}) {
    for (const char* label : {"a", "b"})
      rows.push_back(row_of(label, {0.5, 0.6, 0.7}, [rate](Summary& summary) {
        summary.sweep = {{"training.rate", rate}};
      }));
  }
  const Pairs pairs = compare_rows(folder_of(rows), {});
  EXPECT_THAT(to_markdown(reader_table(pairs)),
              has_all("\n| training.rate | A | B | seeds |", "\n| 0.2           | a | b |     3 |"));
  EXPECT_THAT(render_pairs_csv(pairs), HasSubstr("\ntraining.rate=0.1,a,b,accuracy,3,"));
  EXPECT_THAT(render_pairs_json(pairs),
              HasSubstr("\"sweep\": {\n        \"training.rate\": \"0.1\"\n      }"));
}

}  // namespace
}  // namespace fedarena::results
