#include "accounting/json_text.hpp"

#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using nlohmann::json;

TEST(ParseJson, GivesElementsAwayAsItReadsThem) {
  std::vector<std::string> taken;
  const auto take = [&](const std::string& field, const json& element) {
    if (field != "list") return false;
    taken.push_back(element.dump());
    return true;
  };
  const std::string text = R"({"list":[[1,2],{"list":[[3]]},4],"other":[[5]]})";
  EXPECT_EQ(parse_json<json>(text, {}, take), json::parse(R"({"list":[4],"other":[[5]]})"));
  EXPECT_EQ(taken, (std::vector<std::string>{"[1,2]", R"({"list":[[3]]})"}));

  // What is taken does not count among the values that are kept, and has a limit of its own.
  const auto refusal = [&](std::size_t values, std::size_t most) {
    return message_of([&] { parse_json<json>(text, {.values = values, .taken = most}, take); });
  };
  EXPECT_NO_THROW(parse_json<json>(text, {.values = 8, .taken = 8}, take));
  EXPECT_EQ(refusal(7, 8), "too many values; allowed: at most 7");
  EXPECT_EQ(refusal(8, 7), "too many values; allowed: at most 7 in elements");
}

TEST(ParseJson, LimitsDepthLengthAndNumberOfValues) {
  const auto refusal = [](std::string_view text) {
    return message_of([&] { parse_json<json>(text, {.depth = 3, .values = 5, .bytes = 30}); });
  };
  EXPECT_EQ(parse_json<json>(R"([[[1, 2]]])", {.depth = 3, .values = 5, .bytes = 30}).dump(), "[[[1,2]]]");
  EXPECT_THAT(refusal("[[[[1]]]]"), HasSubstr("too deep in each other; allowed: 3 levels"));
  EXPECT_THAT(refusal(R"({"a":{"b":[[]]}})"), HasSubstr("too deep"));
  EXPECT_EQ(refusal("\"" + std::string(30, 'x') + "\""), "32 bytes of JSON; allowed: at most 30");
  EXPECT_THAT(refusal("[1,2,3,4,5]"), HasSubstr("too many values; allowed: at most 5"));
  EXPECT_THAT(refusal("[[],[],[],[],[]]"), HasSubstr("too many values"));
  EXPECT_THAT(refusal(R"({"a":1,"b":2,"c":3})"), HasSubstr("too many values"));
}

// Readers would not agree on which of the two counts.
TEST(ParseJson, RefusesAFieldThatStandsTwice) {
  EXPECT_EQ(parse_json<json>(R"([{"a":1},{"a":{"a":2}}])").size(), 2U);
  EXPECT_EQ(message_of([&] { parse_json<json>(R"({"a":1,"b":{"c":2,"c":2}})"); }),
            "field \"c\" stands twice in one object");
}

TEST(ParseJson, LimitsTheNamesOfAnObject) {
  std::string text = "{\"0\":0";
  for (int i = 1; i <= 100; ++i) text += fmt::format(",\"{0}\":{0}", i);
  text += "}";
  EXPECT_EQ(parse_json<json>(text, {.comparisons = 5050}).size(), 101U);
  EXPECT_EQ(message_of([&] { parse_json<json>(text, {.comparisons = 5049}); }),
            "an object with 100 names; allowed: some 40,000");
}

// Each object once, whatever else stands in its list: else this takes minutes of the processor.
TEST(ParseJson, TakesTimeInProportionToItsLength) {
  const auto parse_many = [] {
    const rlimit seconds{20, 20};
    setrlimit(RLIMIT_CPU, &seconds);
    std::string text = "[{}";
    for (int i = 0; i < 1'000'000; ++i) text += ",{}";
    ::_exit(parse_json<json>(text + "]").size() == 1'000'001 ? 0 : 1);
  };
  EXPECT_EXIT(parse_many(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fedarena
