#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "tests/accounting/samples.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using nlohmann::json;

std::string refusal(const std::string& text) {
  return test::message_or("none", [&] { Ledger::from_json(text); });
}

// What is said of a ledger after a change to its JSON.
std::string refusal_after(const std::function<void(json&)>& change, const Ledger& ledger = sample_ledger()) {
  json document = json::parse(ledger.to_json());
  change(document);
  return refusal(document.dump());
}

TEST(LedgerJson, ReadsBackWhatItWrote) {
  for (const Ledger& ledger : {Ledger(), sample_ledger(), sample_ledger(Unit::kRecord),
                               sample_ledger(Unit::kLocal), full_ledger()}) {
    EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
    EXPECT_EQ(Ledger::from_json(ledger.to_json()).unit(), ledger.unit());
    EXPECT_EQ(Ledger::from_json(ledger.to_json()).to_json(), ledger.to_json());
  }
}

TEST(LedgerJson, HoldsOfWhomRoundsWereWithheld) {
  for (const std::int64_t client : {Ledger::kEverybody, std::int64_t{7}}) {
    Ledger ledger = sample_ledger(Unit::kRecord);
    ledger.withhold(client);
    EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
    EXPECT_TRUE(ledger.varies() && ledger.varies(7));
  }
  for (const json& wrong : {json(-2), json(0.5), json("7"), json(18446744073709551615ULL)}) {
    EXPECT_THAT(refusal_after([&](json& document) { document["withheld"] = json::array({wrong}); }),
                HasSubstr("\"withheld\" holds " + wrong.dump()));
  }
}

// A plan of nothing is a plan.
TEST(LedgerJson, HoldsWhatWasPlannedAndNotMade) {
  Ledger ledger = idle_ledger(Unit::kRecord, 3);
  RoundAccesses some({{Gaussian{2}, 4}}), none({{Gaussian{2}, 4}});
  some.leave_unmade({{Gaussian{1}, 3}});
  none.leave_unmade({});
  ledger.record(1, 0, some);
  ledger.record(1, 1, none);
  ledger.record(1, 2, RoundAccesses({{Gaussian{2}, 4}}));
  EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
  const json document = json::parse(ledger.to_json());
  const auto unmade = [&](std::size_t client) { return document["clients"][client]["segments"][0]; };
  EXPECT_EQ(unmade(0)["unmade"], json::parse(R"([{"event": "gaussian", "noise_multiplier": 1.0,
                                                 "adjacency": "add-remove", "count": 3}])"));
  EXPECT_EQ(unmade(1)["unmade"], json::array());
  EXPECT_FALSE(unmade(2).contains("unmade"));
  EXPECT_THAT(refusal_after([](json& other) { other["clients"][0]["segments"][0]["unmade"] = 3; }, ledger),
              HasSubstr("\"unmade\" is 3; allowed: a list"));
}

TEST(LedgerJson, ListsIdleClientsInRuns) {
  Ledger ledger(Unit::kRecord);
  for (std::int64_t client = 0; client < 1'000; ++client) ledger.add_client(client, client < 700 ? 6 : 7);
  ledger.record(3, 500, RoundAccesses({{Gaussian{2}, 4}}));
  const std::string text = ledger.to_json();
  EXPECT_THAT(text, HasSubstr("\n \"idle\": [[0,499,6],[501,699,6],[700,999,7]],\n"));
  EXPECT_LT(text.size(), 800U);
  EXPECT_EQ(Ledger::from_json(text), ledger);

  const auto with = [&](const json& idle) {
    return refusal_after([&](json& document) { document["idle"] = idle; }, ledger);
  };
  EXPECT_EQ(with(json::parse("[[0,499,6],[501,999,7]]")), "none");
  EXPECT_EQ(with(json::parse("[[0,500,6]]")), "client 500 appears twice");
  const std::string allowed = "; allowed: [first client, last client, examples of each]";
  for (const char* wrong : {"[]", "[0,1]", "[0,1,6,0]", "[-1,3,6]", "[3,2,6]", "[0,1,-6]", "[0,0.5,6]",
                            "[0,1000000000001,6]", "{\"0\":1}", "3", "\"0\""}) {
    EXPECT_EQ(with(json::array({json::parse(wrong)})), fmt::format("\"idle\" holds {}{}", wrong, allowed));
  }
  EXPECT_EQ(with(json::parse("[[0,999999999999,6]]")), "\"idle\" lists more than 5000000 clients");
}

// To the last bit, so that a recomputed epsilon is the same number.
TEST(LedgerJson, KeepsEveryNumberExactly) {
  Stream stream({.seed = 7});
  for (int repeat = 0; repeat < 1'000; ++repeat) {
    const double rate = std::ldexp(stream.uniform(), -static_cast<int>(stream.below(60)));
    const double noise = std::ldexp(stream.uniform(), static_cast<int>(stream.below(600)) - 300);
    Ledger ledger(Unit::kClient);
    ledger.record_population(
        1, RoundAccesses({{SampledGaussian{Sampling::kPoisson, rate, {noise, 1 / noise}, {}}, 1},
                          {Laplace{1, 1 / noise}, 3}}));
    ASSERT_EQ(Ledger::from_json(ledger.to_json()), ledger) << rate << ", " << noise;
  }
}

// The largest numbers that are read multiply to one that 64 bits hold.
TEST(LedgerJson, HoldsCountsThatMultiplyWithoutOverflow) {
  constexpr std::int64_t kAccesses = 1'000'000'000'000, kRounds = 1'000'000;
  const auto changed = [](json& document, const json& count, const json& rounds) {
    json& part = document["population"][0];
    part["accesses"] = {
        {{"event", "gaussian"}, {"noise_multiplier", 1.0}, {"adjacency", "add-remove"}, {"count", count}}};
    part["last_round"] = rounds;
    part["participations"] = rounds;
    document["population"].erase(1);
  };
  json document = json::parse(full_ledger().to_json());
  changed(document, kAccesses, kRounds);
  EXPECT_EQ(Ledger::from_json(document.dump()).charged(-1),
            (std::vector<Access>{{Gaussian{1}, 1'000'000'000'000'000'000}}));
  const auto refused = [&](const json& count, const json& rounds) {
    return refusal_after([&](json& other) { changed(other, count, rounds); }, full_ledger());
  };
  EXPECT_THAT(refused(kAccesses + 1, 1), HasSubstr("\"count\" is 1000000000001"));
  EXPECT_THAT(refused(1, kRounds + 1), HasSubstr("\"last_round\" is 1000001"));
  EXPECT_THAT(refused(9223372036854775807, 1), HasSubstr("\"count\""));
  EXPECT_THAT(refused(18446744073709551615ULL, 1), HasSubstr("\"count\""));
  EXPECT_THAT(refused(1e12, 1), HasSubstr("\"count\" is 1000000000000.0; allowed: an integer"));
}

TEST(LedgerJson, IsWhatOtherProgramsMayRelyOn) {
  const json document = json::parse(sample_ledger().to_json());
  EXPECT_EQ(document["schema"], 6);
  EXPECT_EQ(document["withheld"], json::array());
  EXPECT_EQ(document["public_data"], json::array());
  EXPECT_EQ(document["ended_after"], 0);
  EXPECT_EQ(document["unit"], "none");
  EXPECT_EQ(document["population"], json::array());
  EXPECT_EQ(document["as_if"], json::array());
  EXPECT_EQ(document["clients"].size(), 2U);
  EXPECT_EQ(document["idle"], json::parse("[[3,3,0]]"));
  const json expected = json::parse(R"({
    "client": 7, "examples": 41,
    "segments": [{"first_round": 2, "last_round": 2, "participations": 1, "accesses": [
      {"event": "exact access", "what": "label counts", "count": 1},
      {"event": "exact access", "what": "gradient", "count": 3}]}]})");
  EXPECT_EQ(document["clients"][1], expected);
}

TEST(LedgerJson, WritesEveryKindOfEventAsDocumented) {
  const json document = json::parse(full_ledger().to_json());
  EXPECT_EQ(document["unit"], "client");
  const json expected = json::parse(R"([
    {"event": "exact access", "what": "loss", "count": 1},
    {"event": "gaussian", "noise_multiplier": 0.14285714285714285, "adjacency": "replace-one", "count": 1},
    {"event": "sampled gaussian", "sampling": "poisson", "rate": 0.0256, "noise_multipliers": [1.1],
     "adjacency": "add-remove", "count": 1},
    {"event": "sampled gaussian", "sampling": "without-replacement", "rate": 0.3333333333333333,
     "noise_multipliers": [0.7, 40.0], "adjacency": "replace-one", "count": 1},
    {"event": "laplace", "dimension": 3, "epsilon": 0.1, "count": 1},
    {"event": "randomized response", "categories": 10, "epsilon": 2.3, "count": 1},
    {"event": "composition", "count": 1, "parts": [
      {"event": "sampled gaussian", "sampling": "poisson", "rate": 0.0256, "noise_multipliers": [1.1],
       "adjacency": "add-remove", "count": 4},
      {"event": "composition", "count": 5, "parts": [{"event": "laplace", "dimension": 1, "epsilon": 0.3, "count": 2}]}
    ]},
    {"event": "declared public", "what": "classes", "count": 1},
    {"event": "metric laplace", "dimension": 11, "scale": 0.1, "count": 1},
    {"event": "nominal", "what": "n/nu", "value": 2.2, "count": 1}])");
  EXPECT_EQ(document["population"][0]["accesses"], expected);
  EXPECT_EQ(document["population"][0]["participations"], 3);
  EXPECT_EQ(document["population"].size(), 2U);
  EXPECT_EQ(document["as_if"].size(), 1U);
}

TEST(LedgerJson, ListsWhatIsDeclaredPublic) {
  Ledger ledger = sample_ledger(Unit::kRecord);
  ledger.declare_public({"the server's \"proxy\"", "means"});
  EXPECT_EQ(json::parse(ledger.to_json())["public_data"],
            json::parse(R"(["the server's \"proxy\"", "means"])"));
  EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
  EXPECT_EQ(ledger.made().public_data(), ledger.public_data());
  EXPECT_NE(ledger, sample_ledger(Unit::kRecord));
  for (const char* wrong : {"[3]", "[\"\"]", "[\"means\", \"means\"]", "[[]]"}) {
    EXPECT_THAT(refusal_after([&](json& document) { document["public_data"] = json::parse(wrong); }),
                MatchesRegex("\"public_data\" holds .*; allowed: distinct texts"));
  }
}

TEST(LedgerJson, SaysWhereTheLargestNominalValueCounts) {
  Ledger ledger = idle_ledger(Unit::kLabel);
  ledger.record(1, 0, RoundAccesses({{Nominal{"label epsilon", 2, true}, 2}}));
  json document = json::parse(ledger.to_json());
  json& nominal = document["clients"][0]["segments"][0]["accesses"][0];
  EXPECT_EQ(nominal["combined"], "largest");
  EXPECT_EQ(document["unit"], "label");
  EXPECT_EQ(Ledger::from_json(document.dump()), ledger);
  EXPECT_EQ(nominal_sums(ledger.charged(0)).at("label epsilon"), 2);
  nominal["combined"] = "sum";
  EXPECT_THAT(refusal(document.dump()), HasSubstr("\"combined\" is \"sum\"; allowed: \"largest\""));
}

TEST(LedgerJson, CanBeContinued) {
  Ledger straight = sample_ledger(), resumed = Ledger::from_json(sample_ledger().to_json());
  for (Ledger* ledger : {&straight, &resumed})
    ledger->record(9, 0, accesses({{"gradient", 10}, {"loss", 1}}));
  EXPECT_EQ(straight, resumed);
  EXPECT_EQ(resumed.clients().at(0).segments.back().participations, 2);
}

TEST(LedgerJson, RefusesCompositionsThatNeverEnd) {
  const auto nested = [](int depth) {
    Event event = Gaussian{1};
    for (int level = 0; level < depth; ++level) event = Composition{{{event, 1}}};
    Ledger ledger(Unit::kClient);
    ledger.record_population(1, RoundAccesses({{event, 1}}));
    return refusal(ledger.to_json());
  };
  EXPECT_EQ(nested(8), "none");
  EXPECT_EQ(nested(9), "compositions lie more than 8 deep in each other");
}

TEST(LedgerJson, RefusesWhatIsNoLedger) {
  for (const std::string text :
       {"", "{", "null", "[]", "3", "\"text\"", "{}", "{\"schema\": 6}", "\xff\xfe"}) {
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
  json document = json::parse(full_ledger().to_json());
  int fields = 0;
  visit(document, [&](json& parent, const std::string& key) {
    const json kept = parent[key];
    parent.erase(key);
    // Segments of what follows no plan have none.
    EXPECT_THAT(refusal(document.dump()), HasSubstr(key == "unmade" ? "none" : key));
    const bool fraction =
        key == "noise_multiplier" || key == "rate" || key == "epsilon" || key == "scale" || key == "value";
    for (const json& nonsense : {json(nullptr), json(true), json(-1), json::array({-1}), json(0.5)}) {
      if (nonsense == 0.5 && fraction) continue;
      if (nonsense == json::array({Ledger::kEverybody}) && key == "withheld") continue;
      parent[key] = nonsense;
      EXPECT_NE(refusal(document.dump()), "none") << key << " = " << nonsense;
    }
    parent[key] = kept;
    ++fields;
  });
  EXPECT_GT(fields, 60);
  EXPECT_EQ(refusal(document.dump()), "none");
}

TEST(LedgerJson, IsNotNestedDeeply) {
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string refused = "lists and objects lie too deep in each other; allowed: 64 levels";
  EXPECT_EQ(refusal(std::string(100'000, '[')), refused);
  EXPECT_EQ(refusal("{\"schema\": " + nested + "}"), refused);
  EXPECT_EQ(refusal("{\"schema\": 6, \"unit\": \"none\", \"clients\": " + nested + "}"), refused);
}

}  // namespace
}  // namespace fedarena
