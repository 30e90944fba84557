#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "tests/accounting/samples.hpp"

namespace fedarena {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    Ledger::from_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// What is said of the sample after a change to its JSON.
std::string refusal_after(const std::function<void(json&)>& change) {
  json document = json::parse(sample_ledger().to_json());
  change(document);
  return refusal(document.dump());
}

json& segment(json& document, std::size_t index = 0) { return document["clients"][0]["segments"][index]; }

TEST(LedgerJson, ReadsBackWhatItWrote) {
  EXPECT_EQ(Ledger::from_json(sample_ledger().to_json()), sample_ledger());
  EXPECT_EQ(Ledger::from_json(sample_ledger().to_json()).to_json(), sample_ledger().to_json());
  EXPECT_EQ(Ledger::from_json(Ledger().to_json()), Ledger());
}

TEST(LedgerJson, IsWhatOtherProgramsMayRelyOn) {
  const json document = json::parse(sample_ledger().to_json());
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["clients"].size(), 3U);
  const json expected = json::parse(R"({
    "client": 7, "examples": 41,
    "segments": [{"first_round": 2, "last_round": 2, "participations": 1, "accesses": [
      {"event": "exact access", "what": "label counts", "count": 1},
      {"event": "exact access", "what": "gradient", "count": 3}]}]})");
  EXPECT_EQ(document["clients"][2], expected);
}

TEST(LedgerJson, CanBeContinued) {
  Ledger straight = sample_ledger(), resumed = Ledger::from_json(sample_ledger().to_json());
  for (Ledger* ledger : {&straight, &resumed})
    ledger->record(9, 0, accesses({{"gradient", 10}, {"loss", 1}}));
  EXPECT_EQ(straight, resumed);
  EXPECT_EQ(resumed.clients().at(0).segments.back().participations, 2);
}

TEST(LedgerJson, NamesTheFieldThatIsWrong) {
  const auto set = [](const char* key, const json& value) {
    return refusal_after([&](json& document) { segment(document)[key] = value; });
  };
  EXPECT_EQ(set("first_round", 0), "\"first_round\" is 0; allowed: an integer >= 1");
  EXPECT_EQ(set("first_round", 6), "\"last_round\" is 5; allowed: an integer >= 6");
  EXPECT_EQ(set("last_round", "five"), "\"last_round\" is \"five\"; allowed: an integer >= 1");
  EXPECT_EQ(set("last_round", 5.5), "\"last_round\" is 5.5; allowed: an integer >= 1");
  EXPECT_EQ(set("last_round", 18446744073709551615ULL),
            "\"last_round\" is 18446744073709551615; allowed: an integer >= 1");
  EXPECT_EQ(set("participations", 0), "\"participations\" is 0; allowed: an integer >= 1");
  EXPECT_EQ(set("participations", 6), "\"participations\" is 6; allowed: at most the segment's 5 rounds");
  EXPECT_EQ(set("accesses", nullptr), "\"accesses\" is null; allowed: a list");
  EXPECT_THAT(set("accesses", json::object()), HasSubstr("\"accesses\" is object; allowed: a list"));
}

TEST(LedgerJson, NamesTheEventThatIsWrong) {
  const auto set = [](const char* key, const json& value) {
    return refusal_after([&](json& document) { segment(document)["accesses"][0][key] = value; });
  };
  EXPECT_EQ(set("event", "gaussian"), "unknown event \"gaussian\"; allowed: \"exact access\"");
  EXPECT_EQ(set("event", 3), "\"event\" is 3; allowed: a text");
  EXPECT_EQ(set("what", nullptr), "\"what\" is null; allowed: a text");
  EXPECT_EQ(set("count", 0), "\"count\" is 0; allowed: an integer >= 1");
  EXPECT_EQ(set("count", -7), "\"count\" is -7; allowed: an integer >= 1");
}

TEST(LedgerJson, RefusesRoundsThatDoNotAscend) {
  EXPECT_THAT(refusal_after([](json& document) { segment(document, 1)["first_round"] = 5; }),
              HasSubstr("\"first_round\" is 5; allowed: a round after 5"));
}

TEST(LedgerJson, RefusesClientsThatCannotBe) {
  EXPECT_EQ(refusal_after([](json& document) { document["clients"][1]["client"] = 0; }),
            "client 0 appears twice");
  EXPECT_THAT(refusal_after([](json& document) { document["clients"][1]["client"] = -1; }),
              HasSubstr("\"client\""));
  EXPECT_THAT(refusal_after([](json& document) { document["clients"][1]["examples"] = -1; }),
              HasSubstr("\"examples\" is -1"));
  EXPECT_THAT(refusal_after([](json& document) { document["clients"] = nullptr; }),
              HasSubstr("\"clients\" is null"));
}

TEST(LedgerJson, RefusesAnotherSchema) {
  EXPECT_EQ(refusal_after([](json& document) { document["schema"] = 2; }),
            "a ledger of schema 2; this program reads schema 1");
}

TEST(LedgerJson, RefusesWhatIsNoLedger) {
  for (const std::string text :
       {"", "{", "null", "[]", "3", "\"text\"", "{}", "{\"schema\": 1}", "\xff\xfe"}) {
    EXPECT_NE(refusal(text), "none") << text;
  }
}

// Every field of every object, taken away or replaced by nonsense, is noticed.
void visit(json& node, const std::function<void(json& parent, const std::string& key)>& field) {
  if (node.is_object()) {
    std::vector<std::string> keys;
    for (const auto& item : node.items()) keys.push_back(item.key());
    for (const std::string& key : keys) field(node, key);
  }
  for (json& child : node) {
    if (child.is_structured()) visit(child, field);
  }
}

TEST(LedgerJson, MissesEveryFieldThatIsGone) {
  json document = json::parse(sample_ledger().to_json());
  int fields = 0;
  visit(document, [&](json& parent, const std::string& key) {
    const json kept = parent[key];
    parent.erase(key);
    EXPECT_THAT(refusal(document.dump()), HasSubstr(key)) << key;
    for (const json& nonsense : {json(nullptr), json(true), json(0.5), json(-1), json::array({1})}) {
      parent[key] = nonsense;
      EXPECT_NE(refusal(document.dump()), "none") << key << " = " << nonsense;
    }
    parent[key] = kept;
    ++fields;
  });
  EXPECT_GT(fields, 30);
  EXPECT_EQ(refusal(document.dump()), "none");
}

// Text damaged at random is refused with Error or is a ledger again; nothing else is thrown.
TEST(LedgerJson, SurvivesRandomMutations) {
  const std::string original = sample_ledger().to_json();
  const std::string letters = "{}[]\":,0123456789-.eEtfn \\\n\xc3\x28";
  Stream stream({.seed = 6});
  int refused = 0;
  for (int repeat = 0; repeat < 10'000; ++repeat) {
    std::string text = original;
    for (std::uint64_t change = 0, changes = 1 + stream.below(3); change < changes; ++change) {
      const std::size_t place = stream.below(text.size());
      switch (stream.below(3)) {
        case 0:
          text[place] = letters[stream.below(letters.size())];
          break;
        case 1:
          text.erase(place, 1 + stream.below(12));
          break;
        default:
          text.insert(place, 1, letters[stream.below(letters.size())]);
      }
    }
    try {
      const Ledger ledger = Ledger::from_json(text);
      EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 3'000);
}

TEST(LedgerJson, SurvivesDeepNesting) {
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(refusal(std::string(100'000, '[')), "none");
  EXPECT_EQ(refusal("{\"schema\": " + nested + "}"), "\"schema\" is array; allowed: an integer >= 1");
  EXPECT_NE(refusal("{\"schema\": 1, \"clients\": " + nested + "}"), "none");
}

}  // namespace
}  // namespace fedarena
