// What is refused, and how: the cases of refusals.txt, which says how to read them.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sample.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

std::string unescaped(const std::string& line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool escape = line[at] == '\\';
    if (escape) ++at;
    text += escape && line[at] == 'n' ? '\n' : line[at];
  }
  return text;
}

const std::string& base_of(const std::string& name) {
  static const std::map<std::string, std::string> kBases = {
      {"profiled", kProfiled}, {"private", private_sample()}, {"tuning", tuning_sample()}};
  return kBases.at(name);
}

// The text with whole lines, the first such, replaced; an edit is "OLD => NEW".
std::string edited(const std::string& text, const std::string& edit) {
  const std::string arrow = " => ";
  const std::size_t at = edit.find(arrow);
  const std::string added = unescaped(edit.substr(at + arrow.size()));
  if (at == 0) return text + added + "\n";
  return with("\n" + text, "\n" + unescaped(edit.substr(0, at)) + "\n", "\n" + added + "\n").substr(1);
}

TEST(Refusals, AreAsRecorded) {
  std::ifstream file(test::source_folder() / "tests/harness/config/refusals.txt");
  std::string base = kSample, text = base;
  std::vector<std::string> overrides;
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) text = base = kSample;
    if (line.empty() || line.front() == '#') continue;
    const bool edits_base = line.starts_with("&~");
    const std::string rest = line.substr(edits_base ? 3 : 2);
    if (line.front() == '&') text = base = edits_base ? edited(base, rest) : base_of(rest);
    if (line.front() == '~') text = edited(text, rest);
    if (line.front() == '$') overrides.push_back(rest);
    if (line.front() != '>') continue;
    EXPECT_EQ(refusal(text, overrides), unescaped(rest)) << testing::PrintToString(overrides) << "\n" << text;
    // A mistake in a profile shows whichever is chosen.
    if (text.starts_with(kSample) && text.find("[profiles.quick]") != std::string::npos) {
      for (const char* profile : {"quick", "wide"})
        EXPECT_NE(refusal(text, overrides, std::string(profile)), "accepted") << text;
    }
    text = base;
    overrides.clear();
    ++cases;
  }
  EXPECT_GT(cases, 150U);
}

}  // namespace
}  // namespace fedarena
