#include <array>
#include <functional>

#include "fedarena/base/stream.hpp"

#include "results/render.hpp"
#include "results/run_directory.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using Reader = std::function<void(const std::string&)>;

// Only a valid record or an Error may come out of damaged bytes; anything else ends the test.
void survives(const Reader& read, const std::string& bytes) {
  try {
    read(bytes);
  } catch (const Error&) {
  } catch (const std::exception& other) {
    ADD_FAILURE() << other.what() << " from:\n" << bytes;
  }
}

void mutate(const std::string& whole, const Reader& read) {
  for (std::size_t length = 0; length < whole.size(); ++length) survives(read, whole.substr(0, length));
  constexpr std::array<char, 12> kBytes = {'\0', '\n', '"', '{', '}', '[', ',', '-', '9', 'e', '\\', '\xC3'};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : kBytes) {
      std::string changed = whole;
      changed[at] = byte;
      survives(read, changed);
    }
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      survives(read, changed);
    }
    survives(read, std::string(whole).erase(at, 1));
    survives(read, std::string(whole).insert(at, 1, '9'));
  }
  Stream stream({.seed = 3});
  for (int trial = 0; trial < 2000; ++trial) {
    std::string changed = whole;
    for (int i = 0; i < 4; ++i) changed[stream.below(changed.size())] = static_cast<char>(stream.below(256));
    survives(read, changed);
  }
}

TEST(Mutation, DamagedSummariesAreErrors) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.algorithm_parameters = {{"lr", "0.1"}};
  summary.privacy = "record";
  summary.epsilon = 2.5;
  mutate(to_json_text(summary), [](const std::string& bytes) {
    const Summary read = parse_summary(bytes, "summary.json");
    const Table table = make_table(std::vector{found(read)});
    render_markdown(table);
    render_json(table);
    EXPECT_EQ(parse_summary(to_json_text(read), ""), read);
  });
}

TEST(Mutation, DamagedRoundsAreErrors) {
  mutate(to_json_line(round_record(3)), [](const std::string& bytes) {
    const RoundRecord read = parse_round(bytes, {.file = "rounds.jsonl", .line = 3});
    EXPECT_EQ(parse_round(to_json_line(read), {}), read);
  });
}

TEST(Mutation, DamagedFilesOfRoundsAreErrorsOrTorn) {
  const TemporaryFolder folder;
  RunDirectory run = RunDirectory::create(folder / "a", "", "{}", unfinished("fedavg", 1, 0));
  for (int round = 1; round <= 3; ++round) run.append(round_record(round));
  const std::string whole = run.read_file(kRoundsFile);
  const auto read = [&](const std::string& bytes) {
    put(folder / "a/rounds.jsonl", bytes);
    EXPECT_LE(RunDirectory::open(folder / "a").rounds().size(), 3U);
  };
  for (std::size_t length = 0; length < whole.size(); ++length) {
    read(whole.substr(0, length));  // torn at any byte: never an Error
    std::string changed = whole;
    changed[length] = static_cast<char>(changed[length] ^ 0x10);
    survives(read, changed);
  }
}

}  // namespace
}  // namespace fedarena::results
