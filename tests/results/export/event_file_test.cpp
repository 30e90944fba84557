#include "results/export/event_file.hpp"

#include <cmath>
#include <cstring>

#include "tests/matchers.hpp"
#include "tests/results/export/sample_run.hpp"
#include "tests/results/record/tuning_sample.hpp"

namespace fedarena::results {
namespace {

// A run that says as little as possible.
ExportedRun one_round() {
  ExportedRun run = sample_run();
  run.rounds = {round_record(1)};
  run.rounds[0].test_accuracy = 0.5;
  return run;
}

// The bytes of the records of a file; a failure of the test where a frame is not whole.
std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  for (std::size_t begin = 0; begin < file.size();) {
    std::size_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(file.at(begin + i));
    const std::string bytes = file.substr(begin + 12, length);
    EXPECT_EQ(file.substr(begin, length + 16), tf_record(bytes));
    records.push_back(bytes);
    begin += length + 16;
  }
  return records;
}

// Decoded by hand. Event: 1 wall_time (double), 2 step (int64), 3 file_version (string), 5 summary. Summary:
// 1 value. Value: 1 tag (string), 2 simple_value (float).
TEST(EventFile, HoldsTheBytesOfTensorBoardsMessages) {
  const std::vector<std::string> records = records_of(event_file(one_round(), {"test_accuracy"}));
  ASSERT_EQ(records.size(), 3U);
  const std::string no_time("\x09\0\0\0\0\0\0\0\0", 9);
  EXPECT_EQ(records[0], no_time +
                            "\x1A\x0D"
                            "brain.Event:2");
  EXPECT_THAT(records[1], StartsWith(no_time + std::string("\x10\0\x2A", 3)));
  // 1.625 seconds are 0x3FFA000000000000, round 1, 27 bytes of summary with 25 of value: tag and 0.5F.
  EXPECT_EQ(records[2], std::string("\x09\0\0\0\0\0\0\xFA\x3F\x10\x01\x2A\x1B\x0A\x19", 15) + "\x0A\x12" +
                            "test/test_accuracy" + std::string("\x15\0\0\0\x3F", 5));
}

// Decoded by hand. Value: 1 tag, 8 tensor (1 dtype = 7 for strings, 2 shape, 8 string_val), 9 metadata
// (1 plugin_data (1 plugin_name)).
TEST(EventFile, HoldsTheSettingsAsText) {
  const std::string text = records_of(event_file(one_round()))[1];
  EXPECT_THAT(text,
              has_all("\x0A\x08settings\x42", std::string("\x08\x07\x12\0\x42", 5), "| label | fedavg |"));
  EXPECT_TRUE(text.ends_with("\x4A\x08\x0A\x06\x0A\x04text"));
}

TEST(EventFile, IsAFunctionOfTheRecord) { EXPECT_EQ(event_file(private_run()), event_file(private_run())); }

TEST(EventFile, TakesTimesFromTheRecord) {
  ExportedRun run = sample_run();
  const std::vector<std::string> records = records_of(event_file(run));
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[3].substr(0, 11), std::string("\x09\0\0\0\0\0\0\x0A\x40\x10\x02", 11));  // 3.25 seconds
}

TEST(EventFile, TellsNoTimesThatFollowSecretSamples) {
  ExportedRun run = private_run();
  const std::string file = event_file(run);
  for (RoundRecord& round : run.rounds) round.train_seconds *= 3;
  EXPECT_EQ(event_file(run), file);
  run.summary.privacy->adjacency = "replace-one";
  const std::string timed = event_file(run);
  for (RoundRecord& round : run.rounds) round.train_seconds *= 3;
  EXPECT_NE(event_file(run), timed);
}

TEST(EventFile, RoundsAnEpsilonUpToAFloat) {
  ExportedRun run = private_run();
  for (const double epsilon : {2.78664, 0.1, 1e-300, 3.0}) {
    run.summary.privacy->rdp = Claim{.epsilon = epsilon};
    const std::string record = records_of(event_file(run, {"epsilon_rdp"})).back();
    float written = 0;
    std::memcpy(&written, record.data() + record.size() - sizeof written, sizeof written);
    EXPECT_GE(written, epsilon);
    EXPECT_LE(written, epsilon * (1 + 1e-6) + 1e-44);
  }
}

TEST(EventFile, TurnsWhatNoFloatHoldsIntoInfinity) {
  ExportedRun run = one_round();
  const auto last = [&](double loss) {
    run.rounds[0].test_loss = loss;
    const std::string record = records_of(event_file(run, {"test_loss"})).back();
    return record.substr(record.size() - 4);
  };
  const std::string infinity("\0\0\x80\x7F", 4);
  EXPECT_EQ(last(1e300), infinity);
  EXPECT_EQ(last(INFINITY), infinity);
  EXPECT_EQ(last(-1e300), std::string("\0\0\x80\xFF", 4));
  EXPECT_EQ(last(1.0), std::string("\0\0\x80\x3F", 4));
}

TEST(SettingsText, IsATableOfWhatIsSet) {
  Summary summary = finished_privately("dp-fedavg", 3, 0.5);
  summary.partition = "shards|two\nlines";
  summary.sweep = {{"partition.alpha", "0.1"}};
  summary.algorithm_parameters = {{"rate", "0.05"}};
  EXPECT_EQ(settings_text(summary), R"(| setting | value |
|:--|:--|
| experiment | quickstart |
| data set | digits |
| partition | shards\|two lines |
| model | mlp |
| partition.alpha | 0.1 |
| algorithm | dp-fedavg |
| label | dp-fedavg |
| rate | 0.05 |
| seed | 3 |
| rounds | 20 |
| clients | 10 |
| numbers in the model | 1000 |
| privacy policy | record |
| adjacency | zero-out |
| delta | 1e-5 |
| orders of RDP | opacus |
| conversion of RDP | balle |
)");
}

TEST(SettingsText, SaysWhatEpsilonRestsOn) {
  Summary summary = finished_privately("dp-fedavg", 3, 0.5);
  summary.privacy->settings.assume = "poisson";
  EXPECT_EQ(settings_text(summary).find("assumes"), std::string::npos) << "where it was not needed";
  summary.privacy->assumed = true;
  summary.privacy->public_data = {"each client's classes", "the server's proxy data"};
  EXPECT_TRUE(settings_text(summary, true)
                  .ends_with("| epsilon assumes | poisson |\n"
                             "| epsilon takes as public, beside sizes | each client's classes, the server's "
                             "proxy data |\n"
                             "| control of an audit | ran without noise, so epsilon is infinite |\n"));
  summary.state = kRunning;
  summary.privacy->assumed = false;
  EXPECT_NE(settings_text(summary).find("| epsilon assumes | poisson |"), std::string::npos)
      << "before the end nobody knows yet";
}

TEST(SettingsText, SaysWhatTuningChose) {
  Summary summary = finished("fedprox", 3, 0.5);
  EXPECT_EQ(settings_text(summary).find("tun"), std::string::npos);
  summary.tuning = tuned_by(6, {{"algorithms.fedprox.mu", "0.01"}, {"training.rate", "0.1"}});
  EXPECT_NE(settings_text(summary).find("| label | fedprox |\n"
                                        "| tuned by | 6 trials |\n"
                                        "| chosen by tuning | training.rate = 0.1, mu = 0.01 |\n"
                                        "| seed | 3 |\n"),
            std::string::npos);
}

}  // namespace
}  // namespace fedarena::results
