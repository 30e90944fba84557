// What is refused, and how: the cases of refusals.txt, which says how to read them.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sample.hpp"
#include "tests/recorded_cases.hpp"

namespace fedarena {
namespace {

const std::string& base_of(const std::string& name) {
  static const std::map<std::string, std::string> kBases = {
      {"profiled", kProfiled}, {"private", private_sample()}, {"tuning", tuning_sample()}};
  return kBases.at(name);
}

// The text with whole lines, the first such, replaced; an edit is "OLD => NEW".
std::string edited(const std::string& text, const std::string& edit) {
  const std::string arrow = " => ";
  const std::size_t at = edit.find(arrow);
  const std::string added = edit.substr(at + arrow.size());
  if (at == 0) return text + added + "\n";
  return with("\n" + text, "\n" + edit.substr(0, at) + "\n", "\n" + added + "\n").substr(1);
}

TEST(Refusals, AreAsRecorded) {
  std::string base = kSample, text = base;
  std::vector<std::string> overrides;
  std::size_t cases = 0;
  for (const auto& [sign, line] : test::case_lines("tests/harness/config/refusals.txt")) {
    if (sign.empty()) text = base = kSample;
    if (sign == "&") text = base = base_of(line);
    if (sign == "&~") text = base = edited(base, line);
    if (sign == "~") text = edited(text, line);
    if (sign == "$") overrides.push_back(line);
    if (sign != ">") continue;
    EXPECT_EQ(refusal(text, overrides), line) << testing::PrintToString(overrides) << "\n" << text;
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
