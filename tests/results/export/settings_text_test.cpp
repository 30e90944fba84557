#include <gtest/gtest.h>

#include "results/export/event_file.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

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
