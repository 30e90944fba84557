#include "results/report/report.hpp"

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "results/audit/privacy_report.hpp"
#include "results/plot/curve_script.hpp"
#include "results/report/asset.hpp"
#include "results/text/markup.hpp"
#include "results/text/number_format.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/recorded_run.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::results {
namespace {

// Without the scripts and the licence, which are not ours: what a reader of the page sees.
std::string body_of(const Report& report) {
  const std::size_t begin = report.html.find("<body>"), end = report.html.find("<script");
  return report.html.substr(begin, end - begin);
}

nlohmann::json data_of(const Report& report) {
  const std::string tag = "id=\"curve-data\">";
  const std::size_t begin = report.html.find(tag) + tag.size();
  return nlohmann::json::parse(report.html.substr(begin, report.html.find("</script>", begin) - begin));
}

class ReportTest : public WithFolder {
 protected:
  // Of all runs in the folder.
  Report made() const { return make_report(find_runs(std::vector{folder_.path()})); }
  std::string page() const { return body_of(made()); }
};

// Images of two classes, and their labels.
void write_images(const std::filesystem::path& run, std::int64_t round) {
  const std::vector<float> pixels(std::size_t{48}, 0.5F);
  SyntheticFolder(run).write(
      round, {.images = {{3, 1, 4, 4}, pixels}, .labels = {{3}, std::vector<std::int64_t>{0, 0, 7}}});
}

TEST_F(ReportTest, HasASectionForEverything) {
  write_run(folder_ / "a", "fedavg", 1, 0.5);
  write_run(folder_ / "b", "fedavg", 2, 0.6);
  write_run(folder_ / "c", "scaffold", 1, 0.75);
  const RecordedRun recorded(folder_ / "d", {});
  write_images(folder_ / "c", 5);
  const Report report = made();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.runs, 4U);
  EXPECT_EQ(report.rows, 3U);
  const std::string body = body_of(report);
  for (const char* id : {"summary", "results", "curves", "runs", "partitions", "privacy", "images",
                         "environment", "reproduce"}) {
    EXPECT_THAT(body, has_all(fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">", id),
                              fmt::format("<a href=\"#{}\">", id)));
  }
  EXPECT_THAT(body, Not(HasSubstr("id=\"problems\"")));
  EXPECT_THAT(body,
              has_all("4: 4 finished, 0 unfinished, 0 not readable", "data-key=\"55\">55.00 ± 7.07</td>"));
  EXPECT_THAT(body, HasSubstr("data-key=\"50\">50.00 %</td>"));  // in the table of runs
  EXPECT_THAT(body, has_all("seed 1: 000000000000abc1, seed 2: 000000000000abc2",
                            "1000 to 1002, median 1001 (seed 1)",
                            "one example of one client; neighbours: one contributes or is zero (zero-out)",
                            "40 × Poisson-sampled Gaussian (rate 0.0256, noise multiplier 1, zero-out)",
                            "scaffold, seed 1, round 5: 3 of 3 images of 2 classes, 4 x 4 pixels",
                            "<img src=\"data:image/png;base64,iVBORw0KGgo",
                            "<th scope=\"row\">processor</th><td>abacus (3 runs)</td>", "fedavg 1.0.0",
                            "This is the file of seed 1; the others differ in their seeds alone.",
                            "name = &quot;quickstart&quot;", "Licence of Chart.js",
                            "Permission is hereby granted, free of charge"));
}

TEST_F(ReportTest, KeepsTheTimesOfPrivateRunsSecret) {
  const RecordedRun recorded(folder_ / "d", {});
  EXPECT_EQ(recorded.open().summary().seconds, 6.5);
  EXPECT_THAT(page(), Not(HasSubstr("6.50")));
}

TEST_F(ReportTest, MarksWhatTheEpsilonOfARunRestsOn) {
  const RecordedRun recorded(folder_ / "d", {});
  const auto runs = [&] {
    const std::string body = page();
    const std::string from = body.substr(body.find("<section id=\"runs\""));
    return from.substr(0, from.find("</section>"));
  };
  EXPECT_THAT(runs(), Not(HasSubstr("†")));
  recorded.change_summary([](Summary& summary) {
    summary.privacy->settings.assume = "poisson";
    summary.privacy->assumed = true;
    summary.audit = CanaryAudit{.kind = "gradient", .canaries = 100, .guesses = 20, .control = true};
  });
  EXPECT_THAT(runs(), has_all("†", "dp-fedavg (control)"));
  EXPECT_THAT(page(), ContainsRegex("epsilon [0-9.]+† by RDP, [0-9.]+† by PLD"));
  EXPECT_EQ(data_of(made())["rows"][0]["name"], "dp-fedavg (control)†");
}

TEST_F(ReportTest, TellsHowRunsWereTuned) {
  write_run(folder_ / "a", "fedavg", 1, 0.5);
  EXPECT_THAT(made().html, Not(HasSubstr("tuned by")));
  write_run(folder_ / "b", "scaffold", 1, 0.75,
            {.summary = [](Summary& summary) { summary.tuning = tuned_by(6); }});
  const std::string body = page();
  EXPECT_THAT(body, has_all("tuned by", "6 trials (grid, seed 0): training.rate=0.1</td>", ">none</td>"));
}

TEST_F(ReportTest, DrawsWhoTookWhichModelInOneRunOfEachRow) {
  const RunChanges choose{.round = [](RoundRecord& round) {
    round.choices = {{3, round.round % 2}, {8, 1}};
  }};
  write_run(folder_ / "ifca-1", "ifca", 1, 0.5, choose);
  write_run(folder_ / "ifca-2", "ifca", 2, 0.5, choose);
  write_run(folder_ / "fedavg-1", "fedavg", 1, 0.5);
  const std::string body = page();
  EXPECT_THAT(
      body,
      HasSubstr("ifca, seed 1: rows are 2 clients, by the model taken most often; columns are 8 rounds. "
                "2 clients; 1 of the 2 that took part more than once always took the same model"));
  // Eight boxes of each round and two clients: four of model 0.
  EXPECT_THAT(
      body, HasSubstr("<path class=\"model0\" d=\"M6 0h6v6h-6zM18 0h6v6h-6zM30 0h6v6h-6zM42 0h6v6h-6z\"/>"));
  EXPECT_THAT(body, Not(HasSubstr("ifca, seed 2: rows")));
  EXPECT_THAT(body, Not(HasSubstr("fedavg, seed 1: rows")));
}

TEST_F(ReportTest, HoldsTheCurvesAsData) {
  write_run(folder_ / "a", "fedavg", 1, 0.5);
  write_run(folder_ / "b", "scaffold", 1, 0.75);
  write_run(folder_ / "c", "scaffold", 1, 0.7, {.summary = [](Summary& summary) { summary.model = "cnn"; }});
  const nlohmann::json data = data_of(made());
  EXPECT_EQ(data["axes"][2]["name"], "bytes");
  EXPECT_EQ(data["measures"][0]["heading"], "accuracy (%)");
  EXPECT_EQ(data["colours"], nlohmann::json(kCurveColours));
  ASSERT_THAT(data["panels"], SizeIs(2));
  EXPECT_EQ(data["panels"][0]["title"], "model cnn");
  EXPECT_EQ(data["panels"][1]["rows"], nlohmann::json({1, 2}));
  ASSERT_THAT(data["rows"], SizeIs(3));
  // Whoever compares panels takes a colour for an algorithm.
  EXPECT_EQ(data["rows"][0]["name"], "scaffold");
  EXPECT_EQ(data["rows"][2]["name"], "scaffold");
  EXPECT_EQ(data["rows"][0]["look"], data["rows"][2]["look"]);
  EXPECT_NE(data["rows"][0]["look"], data["rows"][1]["look"]);
  const nlohmann::json& lists = data["rows"][1]["series"]["lists"];
  const nlohmann::json& positions = data["rows"][1]["series"]["positions"];
  EXPECT_EQ(lists[positions["rounds"].get<std::size_t>()], nlohmann::json({1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(lists[positions["y"]["0"]["mean"].get<std::size_t>()],
            nlohmann::json({6.25, 12.5, 25, 31.25, 43.75, 50}));
}

TEST_F(ReportTest, LoadsNothing) {
  write_run(folder_ / "a", "fedavg", 1, 0.5);
  write_images(folder_ / "a", 1);
  const std::string html = made().html;
  EXPECT_THAT(html, HasSubstr("content=\"default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("unsafe")));
  const std::string body = body_of({.html = html});
  // Addresses are those of the page itself, and pictures that it holds.
  const std::regex addresses("(src|href|action|data|poster|srcset)=\"([^\"]*)\"");
  std::size_t found = 0;
  for (std::sregex_iterator at(body.begin(), body.end(), addresses), end; at != end; ++at, ++found) {
    const std::string address = (*at)[2];
    EXPECT_TRUE(address.starts_with("#") || address.starts_with("data:image/png;base64,")) << address;
  }
  EXPECT_GT(found, 8U);
  for (const Asset& asset : {style_asset(), tables_asset(), curves_asset()}) {
    std::string text(asset.text);
    // A name, not an address.
    const std::string svg = "http://www.w3.org/2000/svg";
    if (const std::size_t at = text.find(svg); at != std::string::npos) text.erase(at, svg.size());
    for (const char* outside :
         {"@import", "url(", "fetch(", "XMLHttpRequest", "import ", "http:", "https:"}) {
      EXPECT_THAT(text, Not(HasSubstr(outside)));
    }
  }
}

// The licence asks for its text to go with every copy.
TEST_F(ReportTest, HasTheScriptsByTheirHashes) {
  for (const Asset& asset : {style_asset(), tables_asset(), curves_asset(), chart_asset()}) {
    EXPECT_THAT(std::string(asset.sha256), SizeIs(64));
    EXPECT_THAT(std::string(asset.text), Not(HasSubstr("</script")));
    EXPECT_THAT(std::string(asset.text),
                Not(HasSubstr("\r")));  // a browser would drop it, and the hash differ
  }
  EXPECT_THAT(std::string(chart_asset().text), HasSubstr("Chart.js v"));
}

// Whoever wrote a run directory does not write the page.
TEST_F(ReportTest, EscapesWhatRunDirectoriesHold) {
  const std::string evil =
      "</script></SCRIPT ></title></pre><!--<script><img src=x onerror=\"alert('1')\">&amp;\xC3";
  const auto spoil = [&](Summary& summary) {
    summary.experiment = summary.label = summary.algorithm = summary.dataset = evil;
    summary.dataset_note = summary.partition = summary.partition_id = summary.partition_hash = summary.model =
        evil;
    summary.sweep = {{"training." + evil, evil}, {"algorithms." + evil + ".mu", evil}};
    summary.algorithm_parameters = {{evil, evil}};
  };
  for (const std::int64_t seed : {1, 2}) {
    const auto path = write_run(folder_ / fmt::format("<b>{}", seed), "x", seed, 0.5, {.summary = spoil});
    put(path / kExperimentFile, evil);
    put(path / kEnvironmentFile,
        nlohmann::json({{"</td><img src=x>", "</td><img src=x>"}, {"plugins", {"<img src=x>"}}}).dump());
  }
  write_run(folder_ / "<b>3", evil.substr(0, 30), 1, 0.25);
  std::filesystem::create_directories(folder_ / "<b>4");
  put(folder_ / "<b>4" / kSummaryFile, "{\"<img src=x>\": 1}");
  const Report report = made();
  const std::string body = body_of(report);
  for (const char* markup : {"<img", "<b>", "onerror=\"", "\xC3<", "alert('"})
    EXPECT_THAT(body, Not(HasSubstr(markup)));
  EXPECT_THAT(body, HasSubstr("&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;"));
  // No text begins or ends a script: there are those of the page alone, and the data is the data.
  const std::regex script("</?script", std::regex::icase);
  const std::string& html = report.html;
  constexpr std::ptrdiff_t kScripts = 4;
  EXPECT_EQ(std::distance(std::sregex_iterator(html.begin(), html.end(), script), {}), 2 * kScripts);
  EXPECT_THAT(data_of(report)["rows"][0]["name"].get<std::string>(), HasSubstr("</script>"));
  EXPECT_THAT(html.substr(0, html.find("<body>")), Not(HasSubstr("<img")));
}

TEST_F(ReportTest, TitlesPicturesByTheirPoints) {
  for (const std::string rate : {"0.1", "0.2"}) {
    const auto at_rate = [&](Summary& summary) { summary.sweep = {{"training.rate", rate}}; };
    write_run(folder_ / rate, "fedavg", 1, 0.5, {.summary = at_rate});
    write_images(folder_ / rate, 1);
  }
  EXPECT_THAT(page(), HasSubstr("<figcaption>fedavg (training.rate=0.2), seed 1, round 1: "));
}

TEST_F(ReportTest, IsTheSameToTheLastByte) {
  write_run(folder_ / "b", "fedavg", 2, 0.5);
  write_run(folder_ / "a", "fedavg", 1, 0.6);
  const RecordedRun recorded(folder_ / "d", {});
  write_images(folder_ / "a", 1);
  const std::string html = made().html;
  EXPECT_EQ(made().html, html);
  std::vector<FoundRun> backwards = find_runs(std::vector{folder_ / "d", folder_ / "b", folder_ / "a"});
  EXPECT_EQ(make_report(backwards).html, html);
}

TEST_F(ReportTest, NamesBrokenRunsAndShowsTheOthers) {
  write_run(folder_ / "good", "fedavg", 1, 0.5);
  write_run(folder_ / "old", "fedprox", 1, 0.5);
  put(folder_ / "old" / kSummaryFile, "{\"schema\": 99}");
  write_run(folder_ / "cut", "scaffold", 1, 0.5);
  put(folder_ / "cut" / kRoundsFile, "{\"round\":1,");
  write_run(folder_ / "odd", "fednova", 1, 0.5);
  put(folder_ / "odd" / kEnvironmentFile, "[");
  const RecordedRun edited(folder_ / "edited", {});
  edited.edit(kSummaryFile, "\"epsilon_rdp\": 1.", "\"epsilon_rdp\": 0.");
  const RecordedRun lost(folder_ / "lost", {.label = "dp-fedprox"});
  std::filesystem::remove(folder_ / "lost" / kLedgerFile);
  const Report report = made();
  const std::string body = body_of(report);
  EXPECT_THAT(body, HasSubstr("<section id=\"problems\""));
  const std::string place = (folder_ / "old").generic_string();
  EXPECT_THAT(body,
              has_all("<code>" + place + "</code>: summary.json: field &quot;schema&quot; is 99",
                      "rounds.jsonl: holds 0 rounds", "environment.json: is not a JSON object",
                      "ledger.json: is not there", "summary.json: field &quot;epsilon_rdp&quot; is 0."));
  EXPECT_THAT(report.problems, SizeIs(5)) << body;
  for (const char* label : {"fedavg", "fednova", "dp-fedavg", "dp-fedprox"}) {
    EXPECT_THAT(body, HasSubstr(fmt::format("<th scope=\"row\">{}</th>", label)));
  }
  EXPECT_THAT(body, Not(HasSubstr("<th scope=\"row\">scaffold</th>")));
  EXPECT_THAT(data_of(report)["rows"], SizeIs(4));
}

TEST_F(ReportTest, IsMadeOfUnfinishedAndBrokenRunsAlone) {
  const RecordedRun running(folder_ / "running", {.finished = false});
  std::filesystem::create_directories(folder_ / "foreign");
  put(folder_ / "foreign" / kSummaryFile, "no JSON");
  const Report report = made();
  const std::string body = body_of(report);
  EXPECT_THAT(body, has_all("<p>No finished run.</p>", "2: 0 finished, 1 unfinished, 1 not readable",
                            "<td class=\"number\" data-key=\"3\">3/4</td>"));
  EXPECT_THAT(report.html, Not(HasSubstr("id=\"curve-data\"")));
}

TEST_F(ReportTest, TellsSeedsThatShareAnExplanationOnce) {
  const RecordedRun first(folder_ / "a", {.seed = 1});
  const RecordedRun second(folder_ / "b", {.seed = 2});
  const RecordedRun third(folder_ / "c", {.seed = 3, .accesses = [](std::int64_t, std::int64_t client) {
                                            return private_steps(client == 0 ? 5 : 10);
                                          }});
  const std::string body = page();
  EXPECT_THAT(body, has_all("<h4>Seeds 1, 2</h4>", "<h4>Seed 3</h4>", "20 × Poisson-sampled Gaussian"));
}

TEST_F(ReportTest, CallsWhatWasPlannedNotWhatHappened) {
  const RecordedRun made(folder_ / "a", {.label = "made"});
  EXPECT_THAT(page(), AllOf(HasSubstr("What happened to whose data"), Not(HasSubstr("What is charged"))));
  const RecordedRun planned(folder_ / "a2", {.label = "planned", .accesses = [](std::int64_t, std::int64_t) {
                                               RoundAccesses accesses = private_steps(6);
                                               accesses.leave_unmade(private_steps(4).list());
                                               return accesses;
                                             }});
  EXPECT_THAT(page(), HasSubstr("What is charged for whose data"));
}

TEST_F(ReportTest, SaysWhereABudgetIsChargedInPlaceOfAccesses) {
  const RecordedRun run(folder_ / "a", {.accesses = [](std::int64_t round, std::int64_t) {
                          return private_steps(round == 3 ? 6 : 10);
                        }});
  run.change_summary([&](Summary& summary) {
    summary.privacy->budget = 8;
    compute_claim(summary, read_ledger(run.path()));
  });
  EXPECT_THAT(page(), AllOf(HasSubstr("What was asked for, or planned, of whose data, charged by budgets"),
                            Not(HasSubstr("What is charged"))));
}

TEST_F(ReportTest, NamesUnfinishedRunsThatHaveChargedData) {
  const RecordedRun finished(folder_ / "a", {});
  EXPECT_THAT(page(), Not(HasSubstr("Not finished")));
  const RecordedRun unfinished(folder_ / "b", {.seed = 2, .finished = false});
  EXPECT_THAT(page(),
              HasSubstr(fmt::format("<p>Not finished, and not told of here: {} (interrupted). fedarena "
                                    "privacy RUN says what their ledgers have charged so far.</p>",
                                    unfinished.path().string())));
}

// The epsilon of a group is that of `fedarena privacy`.
TEST_F(ReportTest, GivesEveryClientItsEpsilon) {
  const RecordedRun run(folder_ / "a", {});
  const std::string body = page();
  for (const ClientGroup& group : privacy_report(run.open()).groups) {
    const std::string expected = fmt::format("<td class=\"number\">{}</td><td class=\"number\">{}</td>",
                                             group.rounds, epsilon_number(*group.rdp->epsilon));
    EXPECT_THAT(body, HasSubstr(expected));
  }
}

TEST_F(ReportTest, SaysWhereEnvironmentsDiffer) {
  for (const std::int64_t seed : {1, 2, 3}) write_run(folder_ / std::to_string(seed), "fedavg", seed, 0.5);
  put(folder_ / "3" / kEnvironmentFile, R"({"cores": 64, "processor": "abacus"})");
  const std::string body = page();
  EXPECT_THAT(body,
              has_all("<td>2 (2 runs); 64 (1 run)</td>", "<th scope=\"row\">processor</th><td>abacus</td>"));
}

// The vectors of RFC 4648, section 10, and bytes of every value.
TEST(Base64, IsThatOfItsStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFB\xFF\xBE"), "+/++");
}

}  // namespace
}  // namespace fedarena::results
