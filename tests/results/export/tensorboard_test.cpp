// TensorBoard's own reader on our event files: its checksums, its messages, its values.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "fedarena/base/child_program.hpp"

#include "results/export/event_file.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"
#include "tests/results/export/sample_run.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A Python that has TensorBoard: the one that scripts/install-dependencies made, or the system's; "" without.
std::string python_with_tensorboard() {
  const fs::path own = test::source_folder() / "build/pip-tensorboard/bin/python3";
  for (const std::string& python : {own.string(), std::string("python3")}) {
    const std::optional<ChildOutcome> found = call_program({python, "-c", "import tensorboard"});
    if (found && found->exit_code == 0) return python;
  }
  return "";
}

TEST(EventFile, IsReadBackByTensorBoard) {
  const std::string python = python_with_tensorboard();
  if (python.empty()) {
    std::puts(
        "TensorBoard is not here, so it read nothing back; scripts/install-dependencies --with-tensorboard "
        "brings it.");
    return;
  }
  const Scratch scratch;
  ExportedRun exported = private_run();
  exported.rounds[0].epsilon = INFINITY;
  exported.rounds[1].test_loss = std::nan("");
  fs::create_directories(scratch / "a");
  put(scratch / "a" / kEventFile, event_file(exported));
  const fs::path script = test::source_folder() / "tests/results/export/read_events.py";
  const ChildOutcome answer = call_program({python, script.string(), (scratch / "a").string()}).value();
  ASSERT_EQ(answer.exit_code, 0) << answer.err;
  const Json read = Json::parse(answer.out);
  EXPECT_EQ(read["plugin"], "text");
  EXPECT_EQ(read["settings"], settings_text(exported.summary));
  const Json& scalars = read["scalars"];
  const auto point = [](double seconds, int round, const char* value) { return Json{seconds, round, value}; };
  EXPECT_THAT(scalars["test/test_accuracy"], ElementsAre(point(3.25, 2, "0.75")));
  EXPECT_THAT(scalars["test/test_loss"], ElementsAre(point(3.25, 2, "nan")));
  EXPECT_THAT(scalars["privacy/epsilon_rdp"],
              ElementsAre(point(1.625, 1, "inf"), point(3.25, 2, "2.786640167236328")));
  EXPECT_THAT(scalars["cost/uplink_bytes"],
              ElementsAre(point(1.625, 1, "40960.0"), point(3.25, 2, "40960.0")));
  // Every value of every round, and nothing else.
  std::size_t expected = 0;
  std::size_t found = 0;
  for (const RoundRecord& round : exported.rounds) {
    expected += round_values(exported, round).size();
  }
  for (const Json& points : scalars) found += points.size();
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace fedarena::results
