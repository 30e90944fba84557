#include <cmath>

#include <nlohmann/json.hpp>

#include "results/export/exported_runs.hpp"
#include "tests/matchers.hpp"
#include "tests/results/export/sample_run.hpp"
#include "tests/results/record/tuning_sample.hpp"

namespace fedarena::results {
namespace {

TEST(LongCsv, HasALineARunRoundAndMeasure) {
  const std::vector runs = {sample_run(), private_run()};
  EXPECT_EQ(
      long_csv(runs, {"test_accuracy", "epsilon_rdp", "epsilon_pld"}),
      "run,experiment,dataset,partition,model,algorithm,label,seed,state,policy,unit,adjacency,delta,orders,"
      "conversion,assumed,public_data,control,round,measure,value\n"
      "fedavg-seed-1,quickstart,digits,iid,mlp,fedavg,fedavg,1,finished,none,,,,,,,,,2,test_accuracy,0.75\n"
      "dp-fedavg-seed-1,quickstart,digits,iid,mlp,dp-fedavg,dp-fedavg,1,finished,record,record,zero-out,"
      "1e-05,opacus,balle,,,false,1,epsilon_rdp,1.5\n"
      "dp-fedavg-seed-1,quickstart,digits,iid,mlp,dp-fedavg,dp-fedavg,1,finished,record,record,zero-out,"
      "1e-05,opacus,balle,,,false,2,test_accuracy,0.75\n"
      "dp-fedavg-seed-1,quickstart,digits,iid,mlp,dp-fedavg,dp-fedavg,1,finished,record,record,zero-out,"
      "1e-05,opacus,balle,,,false,2,epsilon_rdp,2.78664\n"
      "dp-fedavg-seed-1,quickstart,digits,iid,mlp,dp-fedavg,dp-fedavg,1,finished,record,record,zero-out,"
      "1e-05,opacus,balle,,,false,2,epsilon_pld,2.5\n");
}

TEST(LongCsv, IsUtf8WithoutEscapeSequencesWhateverFoldersAreCalled) {
  std::vector runs = {sample_run()};
  runs[0].name = "a\x1B[31mb\xFF";
  EXPECT_THAT(long_csv(runs, {"test_accuracy"}), HasSubstr("\na [31mb\uFFFD,quickstart,"));
}

// Names of what algorithms observe may come from an edited file.
TEST(LongCsv, KeepsLinesAndCellsWhateverIsObserved) {
  std::vector runs = {sample_run()};
  runs[0].rounds[1].observed = {{"a,7\n\"b\",\"run\":1", 1.5}};
  EXPECT_THAT(long_csv(runs), HasSubstr(",2,\"observed_a,7\n\"\"b\"\",\"\"run\"\":1\",1.5\n"));
  for (const std::string& line : lines_of(long_json_lines(runs)))
    EXPECT_NO_THROW((void)nlohmann::json::parse(line)) << line;
}

TEST(LongCsv, HasAColumnForEverySweptKey) {
  std::vector runs = {sample_run("fedavg"), sample_run("fedprox")};
  runs[0].summary.sweep = {{"partition.alpha", "10"}, {"training.rate", "0.1"}};
  runs[1].summary.sweep = {{"algorithms.fedprox.mu", "0.01"}, {"partition.alpha", "0.1"}};
  runs[1].summary.partition = "dirichlet (clients = 10, alpha = 0.1)";
  const std::vector<std::string> lines = lines_of(long_csv(runs, {"test_accuracy"}));
  EXPECT_THAT(
      lines,
      ElementsAre(
          HasSubstr("model,algorithms.fedprox.mu,partition.alpha,training.rate,algorithm"),
          "fedavg-seed-1,quickstart,digits,iid,mlp,,10,0.1,fedavg,fedavg,1,finished,none,,,,,,,,,2,test_"
          "accuracy,"
          "0.75",
          "fedprox-seed-1,quickstart,digits,\"dirichlet (clients = 10, alpha = 0.1)\",mlp,0.01,0.1,,fedprox,"
          "fedprox,1,finished,none,,,,,,,,,2,test_accuracy,0.75"));
}

TEST(LongCsv, HasColumnsForWhatTuningChose) {
  std::vector runs = {sample_run("fedavg"), sample_run("fedprox"), sample_run("fednova")};
  runs[0].summary.tuning = tuned_by(6);
  runs[1].summary.tuning = tuned_by(12, {{"algorithms.fedprox.mu", "0.01"}});
  runs[2].summary.sweep = {{"training.rate", "0.5"}};
  EXPECT_EQ(
      long_csv(runs, {"test_accuracy"}),
      "run,experiment,dataset,partition,model,training.rate,tuning.trials,tuning.algorithms.fedprox.mu,"
      "tuning.training.rate,algorithm,label,seed,state,policy,unit,adjacency,delta,orders,"
      "conversion,assumed,public_data,control,round,measure,value\n"
      "fedavg-seed-1,quickstart,digits,iid,mlp,,6,,0.1,fedavg,fedavg,1,finished,none,,,,,,,,,2,test_accuracy,"
      "0.75\n"
      "fedprox-seed-1,quickstart,digits,iid,mlp,,12,0.01,,fedprox,fedprox,1,finished,none,,,,,,,,,2,"
      "test_accuracy,0.75\n"
      "fednova-seed-1,quickstart,digits,iid,mlp,0.5,,,,fednova,fednova,1,finished,none,,,,,,,,,2,"
      "test_accuracy,0.75\n");
  const std::vector<std::string> json = lines_of(long_json_lines(runs, {"test_accuracy"}));
  ASSERT_THAT(json, SizeIs(3));
  EXPECT_THAT(json[0], HasSubstr(R"("tuning.trials":6,"tuning.algorithms.fedprox.mu":null,)"
                                 R"("tuning.training.rate":"0.1",)"));
  EXPECT_THAT(json[2], HasSubstr(R"("tuning.trials":null,)"));
}

TEST(LongCsv, SaysWhatEpsilonsRestOn) {
  ExportedRun run = private_run();
  run.summary.privacy->settings.assume = "poisson";
  run.summary.privacy->assumed = true;
  run.summary.privacy->public_data = {"each client's classes", "the server's proxy data"};
  run.summary.audit = CanaryAudit{.kind = "gradient", .canaries = 100, .guesses = 20, .control = true};
  const auto line = [&] { return lines_of(long_csv(std::vector{run}, {"test_accuracy"})).at(1); };
  EXPECT_THAT(line(),
              HasSubstr(",1e-05,opacus,balle,poisson,\"each client's classes, the server's proxy data\","
                        "true,2,"));
  // Before the end, the experiment file says what is a control, and nobody knows what will be assumed.
  run.summary.audit.reset();
  run.summary.state = kRunning;
  run.summary.privacy->assumed = false;
  run.summary.privacy->public_data = {};
  EXPECT_THAT(line(), HasSubstr(",opacus,balle,poisson,,false,2,"));
  run.settings = resolved_settings("[audit]\nkind = \"gradient\"\nnoise = \"off\"\n");
  EXPECT_THAT(line(), HasSubstr(",opacus,balle,poisson,,true,2,"));
}

TEST(LongCsv, SpellsWhatIsNoFiniteNumber) {
  ExportedRun run = private_run();
  run.rounds[0].epsilon = INFINITY;
  run.rounds[0].test_loss = -INFINITY;
  run.rounds[1].test_loss = std::nan("");
  const std::string text = long_csv(std::vector{run});
  EXPECT_THAT(text, has_all(",1,epsilon_rdp,inf\n", ",1,test_loss,-inf\n", ",2,test_loss,nan\n"));
}

TEST(LongJsonLines, HasAnObjectALine) {
  ExportedRun run = private_run();
  run.name = "with \"quotes\"";
  run.rounds[0].epsilon = INFINITY;
  run.summary.sweep = {{"partition.alpha", "0.1"}};
  const std::vector<std::string> lines =
      lines_of(long_json_lines(std::vector{run, sample_run()}, {"test_accuracy", "epsilon_rdp"}));
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(
      lines[0],
      R"({"run":"with \"quotes\"","experiment":"quickstart","dataset":"digits","partition":"iid","model":"mlp",)"
      R"("partition.alpha":"0.1","algorithm":"dp-fedavg","label":"dp-fedavg","seed":1,"state":"finished",)"
      R"("policy":"record","unit":"record","adjacency":"zero-out","delta":1e-05,"orders":"opacus",)"
      R"("conversion":"balle","assumed":null,"public_data":null,"control":false,"round":1,"measure":"epsilon_rdp","value":"inf"})");
  EXPECT_THAT(lines[1], HasSubstr(R"("round":2,"measure":"test_accuracy","value":0.75})"));
  EXPECT_THAT(lines[3], HasSubstr(R"("partition.alpha":null,)"));
  EXPECT_THAT(
      lines[3],
      HasSubstr(R"("unit":null,"adjacency":null,"delta":null,"orders":null,"conversion":null,"assumed":null,)"
                R"("public_data":null,"control":null,"round")"));
}

// What one of the two holds, the other holds, too.
TEST(LongJsonLines, HaveTheColumnsAndLinesOfTheCsv) {
  const std::vector runs = {sample_run(), private_run()};
  const std::vector<std::string> csv = lines_of(long_csv(runs));
  const std::vector<std::string> json = lines_of(long_json_lines(runs));
  ASSERT_EQ(csv.size(), json.size() + 1);
  for (std::size_t i = 0; i < json.size(); ++i) {
    std::string names;
    std::string cells;
    const auto object = nlohmann::ordered_json::parse(json[i]);
    for (const auto& [name, value] : object.items()) {
      names += (names.empty() ? "" : ",") + name;
      cells += cells.empty() ? "" : ",";
      if (value.is_string()) cells += value.get<std::string>();
      if (value.is_boolean()) cells += value.get<bool>() ? "true" : "false";
      if (value.is_number())
        cells += value.dump() == "1e-05" ? "1e-05" : fmt::format("{}", value.get<double>());
    }
    EXPECT_EQ(names, csv[0]);
    EXPECT_EQ(cells, csv[i + 1]);
  }
}

}  // namespace
}  // namespace fedarena::results
