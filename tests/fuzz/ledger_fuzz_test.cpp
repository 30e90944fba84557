// Damaged and hostile ledgers: whatever the bytes, the reader throws Error or returns a ledger that it writes
// and reads back unchanged. Nothing else is thrown, and nothing runs away.
#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {
namespace {

using nlohmann::json;

RoundAccesses accesses(const std::vector<Event>& events) {
  RoundAccesses list;
  for (const Event& event : events) list.add(event);
  return list;
}

// Every kind of event, of every kind of segment.
Ledger sample(Unit unit) {
  const Event gaussian = Gaussian{1.5, Adjacency::kAddRemove};
  const Event poisson = SampledGaussian{Sampling::kPoisson, 0.0256, {1.0}, Adjacency::kAddRemove};
  const Event fixed = SampledGaussian{Sampling::kWithoutReplacement, 0.1, {1.0, 2.5}, Adjacency::kReplaceOne};
  const Event laplace = Laplace{3, 0.25};
  const Event response = RandomizedResponse{10, 1.0};
  const Event nested = Composition{{{poisson, 2}, {Composition{{{laplace, 1}}}, 3}}};
  Ledger ledger(unit);
  ledger.add_client(0, 600);
  ledger.add_client(4, 0);
  ledger.add_client(7, 41);
  for (const std::int64_t round : {1, 2, 5}) ledger.record(round, 0, accesses({poisson, poisson}));
  ledger.record(6, 0, accesses({ExactAccess{"gradient"}, nested}));
  ledger.record(2, 7, accesses({fixed, laplace, response}));
  if (unit == Unit::kClient) {
    for (const std::int64_t round : {1, 2, 3}) ledger.record_population(round, accesses({gaussian}));
    ledger.record_as_if(1, accesses({poisson}));
  }
  return ledger;
}

std::vector<std::string> sample_texts() {
  std::vector<std::string> texts;
  for (const Unit unit : {Unit::kNothing, Unit::kRecord, Unit::kClient})
    texts.push_back(sample(unit).to_json());
  return texts;
}

// Whether the text is a ledger; a failure of the test unless it is one or is refused with one message.
bool is_ledger(const std::string& text) {
  try {
    const Ledger ledger = Ledger::from_json(text);
    const std::string written = ledger.to_json();
    const Ledger again = Ledger::from_json(written);
    EXPECT_EQ(again, ledger) << text;
    EXPECT_EQ(again.to_json(), written) << text;
    return true;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
  } catch (const std::exception& other) {
    ADD_FAILURE() << other.what() << " from:\n" << text;
  }
  return false;
}

TEST(LedgerFuzz, TheSamplesAreLedgers) {
  for (const std::string& text : sample_texts()) EXPECT_TRUE(is_ledger(text)) << text;
}

TEST(LedgerFuzz, SurvivesEveryTruncation) {
  for (const std::string& text : sample_texts()) {
    const std::size_t last = text.find_last_of('}');
    for (std::size_t length = 0; length <= last; ++length) EXPECT_FALSE(is_ledger(text.substr(0, length)));
  }
}

TEST(LedgerFuzz, SurvivesFlippedBits) {
  for (const std::string& text : sample_texts()) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        is_ledger(changed);
      }
    }
  }
}

TEST(LedgerFuzz, SurvivesRandomBytes) {
  const std::vector<std::string> texts = sample_texts();
  const std::string letters = "{}[]\":,0123456789-+.eEtrufalsn \\/u\n\x00\x7f\xc3\x28\xff";
  Stream stream({.seed = 11});
  int refused = 0;
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    std::string text = texts[stream.below(texts.size())];
    for (std::uint64_t change = 0, changes = 1 + stream.below(6); change < changes && !text.empty();
         ++change) {
      const std::size_t place = stream.below(text.size());
      switch (stream.below(4)) {
        case 0:
          text[place] = letters[stream.below(letters.size())];
          break;
        case 1:
          text.erase(place, 1 + stream.below(40));
          break;
        case 2:
          text.insert(place, 1, letters[stream.below(letters.size())]);
          break;
        default:  // a part of the text again, elsewhere
          text.insert(place, text.substr(stream.below(text.size()), 1 + stream.below(80)));
      }
    }
    refused += is_ledger(text) ? 0 : 1;
  }
  EXPECT_GT(refused, 10'000);
}

// Values that no field expects, or that lie at the edge of what it takes.
json hostile_value(Stream& stream) {
  static const std::vector<json> values = {
      nullptr,
      true,
      false,
      0,
      1,
      -1,
      2,
      1e12,
      1000000000000,
      1000000000001,
      9223372036854775807,
      18446744073709551615ULL,
      1e308,
      -1e308,
      5e-324,
      0.5,
      1.0000000000000002,
      -0.0,
      "",
      "record",
      "client",
      "none",
      "poisson",
      "add-remove",
      "gaussian",
      "composition",
      "exact access",
      "sampled gaussian",
      "laplace",
      "randomized response",
      std::string(10'000, 'x'),
      "\xff\xfe",
      json::array(),
      json::object(),
      json::array({1, 2, 3}),
      json{{"event", "composition"}, {"parts", json::array()}, {"count", 1}}};
  return values[stream.below(values.size())];
}

// A node of the document, any depth alike likely on the way down.
json& random_node(json& root, Stream& stream) {
  json* node = &root;
  while (node->is_structured() && !node->empty() && stream.below(8) != 0) {
    auto child = node->begin();
    std::advance(child, static_cast<std::ptrdiff_t>(stream.below(node->size())));
    node = &*child;
  }
  return *node;
}

void mutate(json& document, Stream& stream) {
  json& node = random_node(document, stream);
  switch (stream.below(5)) {
    case 0:
      node = hostile_value(stream);
      break;
    case 1:  // one field or element less
      if (node.is_structured() && !node.empty()) {
        auto child = node.begin();
        std::advance(child, static_cast<std::ptrdiff_t>(stream.below(node.size())));
        node.erase(child);
      }
      break;
    case 2:  // one more
      if (node.is_object()) node["foreign"] = hostile_value(stream);
      if (node.is_array()) node.push_back(node.empty() ? hostile_value(stream) : node[0]);
      break;
    case 3:  // something that belongs elsewhere
      node = json(random_node(document, stream));
      break;
    default:  // nested in itself
      node = json{{"event", "composition"}, {"parts", json::array({node})}, {"count", 1}};
  }
}

TEST(LedgerFuzz, SurvivesChangesOfItsStructure) {
  std::vector<json> documents;
  for (const std::string& text : sample_texts()) documents.push_back(json::parse(text));
  Stream stream({.seed = 12});
  int accepted = 0;
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    json document = documents[stream.below(documents.size())];
    for (std::uint64_t change = 0, changes = 1 + stream.below(3); change < changes; ++change) {
      mutate(document, stream);
    }
    accepted += is_ledger(document.dump(-1, ' ', false, json::error_handler_t::replace)) ? 1 : 0;
  }
  EXPECT_GT(accepted, 100) << "no change was harmless, which says little of what the reader takes";
}

// Numbers as text, so that they need not be ones that a program would write.
TEST(LedgerFuzz, SurvivesEveryNumberEverywhere) {
  constexpr std::array<const char*, 14> kNumbers = {"-0",
                                                    "-1",
                                                    "0.5",
                                                    "1e400",
                                                    "-1e400",
                                                    "1e-400",
                                                    "99999999999999999999999999",
                                                    "1e18",
                                                    "9223372036854775808",
                                                    "NaN",
                                                    "Infinity",
                                                    "0x10",
                                                    "1_000",
                                                    "00"};
  for (const std::string& text : sample_texts()) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = text.find_first_of("0123456789", at);
      if (begin == std::string::npos) break;
      const std::size_t end = text.find_first_not_of("0123456789.e-+", begin);
      for (const char* number : kNumbers) {
        is_ledger(text.substr(0, begin) + number + text.substr(end));
      }
      at = end;
    }
  }
}

TEST(LedgerFuzz, SurvivesDepth) {
  constexpr std::size_t kDeep = 200'000;
  for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
    std::string text;
    for (std::size_t i = 0; i < kDeep; ++i) text += open;
    EXPECT_FALSE(is_ledger(text));
    text += "1";
    for (std::size_t i = 0; i < kDeep; ++i) text += close;
    EXPECT_FALSE(is_ledger(text));
  }
  // Compositions of compositions of ... of one access; as text, because writing such JSON takes a deep stack
  // too.
  const std::string event = R"({"event": "exact access", "what": "loss", "count": 1})";
  std::string opened, closed;
  for (int depth = 0; depth < 2'000; ++depth) {
    opened += R"({"event": "composition", "parts": [)";
    closed += R"(], "count": 1})";
  }
  json document = json::parse(sample(Unit::kRecord).to_json());
  document["clients"][0]["segments"][0]["accesses"][0] = "here";
  std::string text = document.dump();
  text.replace(text.find("\"here\""), 6, opened + event + closed);
  EXPECT_FALSE(is_ledger(text));
}

TEST(LedgerFuzz, SurvivesLength) {
  json document = json::parse(sample(Unit::kRecord).to_json());
  json& list = document["clients"][0]["segments"][0]["accesses"];
  const json access = list[0];
  for (int i = 0; i < 50'000; ++i) list.push_back(access);
  is_ledger(document.dump());
}

}  // namespace
}  // namespace fedarena
