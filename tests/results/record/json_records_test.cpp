// What is read as it was written, and what readers of JSON refuse: the cases of refusals.txt.
#include <fstream>
#include <functional>

#include "results/record/json_fields.hpp"
#include "tests/accounting/samples.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"
#include "tests/results/record/record_samples.hpp"

namespace fedarena::results {
namespace {

TEST(JsonRecords, ComeBackAsTheyWent) {
  for (const auto& [name, summary] : sample_summaries())
    EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary) << name << "\n" << to_json_text(summary);
  for (const auto& [name, round] : sample_rounds())
    EXPECT_EQ(parse_round(to_json_line(round), {}), round) << name << "\n" << to_json_line(round);
}

struct Readable {
  std::string text;
  std::function<void(const std::string&)> read;
};

std::map<std::string, Readable> readable_samples() {
  std::map<std::string, Readable> all;
  for (const auto& [name, summary] : sample_summaries())
    all[name] = {to_json_text(summary), [](auto& text) { parse_summary(text, "runs/a/summary.json"); }};
  for (const auto& [name, round] : sample_rounds())
    all[name] = {to_json_line(round), [](auto& text) { parse_round(text, {"rounds.jsonl", 3}); }};
  all["clients"] = {to_json_text(two_scores()),
                    [](auto& text) { parse_client_scores(text, "clients.json"); }};
  all["partition"] = {to_json_text(skewed()), [](auto& text) { parse_partition(text, "partition.json"); }};
  all["canaries"] = {to_json_text(six_canaries()),
                     [](auto& text) { parse_canary_scores(text, "audit.json"); }};
  all["ledger"] = {sample_ledger().to_json(), Ledger::from_json};
  all["full-ledger"] = {full_ledger().to_json(), Ledger::from_json};
  return all;
}

void edit_json(Json& json, const std::string& edit) {
  const std::size_t equals = edit.find(" = ");
  const Json::json_pointer place(edit.substr(0, equals));
  if (equals != std::string::npos) {
    json[place] = Json::parse(edit.substr(equals + 3));
    return;
  }
  Json& parent = json.at(place.parent_pointer());
  ASSERT_TRUE(json.contains(place)) << edit;
  if (parent.is_array())
    parent.erase(std::stoul(place.back()));
  else
    parent.erase(place.back());
}

TEST(JsonRecords, AreRefusedAsRecorded) {
  const std::map<std::string, Readable> samples = readable_samples();
  for (const auto& [name, sample] : samples) EXPECT_NO_THROW(sample.read(sample.text)) << name;
  std::ifstream file(test::source_folder() / "tests/results/record/refusals.txt");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t space = line.find(' '), arrow = line.find(" > ");
    const Readable& sample = samples.at(line.substr(0, space));
    Json json = Json::parse(sample.text);
    std::istringstream edits(line.substr(space + 1, arrow - space - 1));
    for (std::string edit; std::getline(edits >> std::ws, edit, ';');) edit_json(json, edit);
    std::string message = message_of([&] { sample.read(json.dump()); });
    for (std::size_t at = 0; (at = message.find('\n', at)) != std::string::npos;)
      message.replace(at, 1, "\\n");
    EXPECT_THAT(message, HasSubstr(line.substr(arrow + 3))) << line;
    ++cases;
  }
  EXPECT_GT(cases, 150U);
}

}  // namespace
}  // namespace fedarena::results
