// Damaged and hostile ledgers: whatever the bytes, the reader throws Error or returns a ledger that it writes
// and reads back unchanged. Nothing else is thrown, and nothing runs away.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "tests/accounting/samples.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

using namespace std::string_view_literals;
using nlohmann::json;

// Every unit, every kind of segment and every kind of event.
std::vector<std::string> sample_texts() {
  return {sample_ledger().to_json(), sample_ledger(Unit::kRecord).to_json(), full_ledger().to_json()};
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
    for (std::size_t length = 0, last = text.find_last_of('}'); length <= last; ++length) {
      EXPECT_FALSE(is_ledger(text.substr(0, length)));
    }
  }
}

// Of each byte one bit, or all of them.
TEST(LedgerFuzz, SurvivesFlippedBits) {
  Stream stream({.seed = 10});
  for (const std::string& text : sample_texts()) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::uint64_t chosen = stream.below(8);
      for (std::uint64_t bit = 0; bit < 8; ++bit) {
        if (bit != chosen && !test::long_tests()) continue;
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        is_ledger(changed);
      }
    }
  }
}

TEST(LedgerFuzz, SurvivesRandomBytes) {
  const std::vector<std::string> texts = sample_texts();
  constexpr std::string_view kLetters = "{}[]\":,0123456789-+.eEtrufalsn \\/u\n\x00\x7f\xc3\x28\xff"sv;
  const int repeats = test::long_tests() ? 20'000 : 3'000;
  Stream stream({.seed = 11});
  int refused = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::string text = texts[stream.below(texts.size())];
    for (std::uint64_t change = 0, changes = 1 + stream.below(6); change < changes && !text.empty();
         ++change) {
      const std::size_t place = stream.below(text.size());
      switch (stream.below(4)) {
        case 0:
          text[place] = kLetters[stream.below(kLetters.size())];
          break;
        case 1:
          text.erase(place, 1 + stream.below(40));
          break;
        case 2:
          text.insert(place, 1, kLetters[stream.below(kLetters.size())]);
          break;
        default:  // a part of the text again, elsewhere
          text.insert(place, text.substr(stream.below(text.size()), 1 + stream.below(80)));
      }
    }
    refused += is_ledger(text) ? 0 : 1;
  }
  EXPECT_GT(refused, repeats / 2);
}

// Values that no field expects, or that lie at the edge of what it takes.
json hostile_value(Stream& stream) {
  static const json values = [] {
    json made = json::parse(
        R"([null, true, false, 0, 1, -1, 2, 1e12, 1000000000000, 1000000000001, 9223372036854775807,
            18446744073709551615, 1e308, -1e308, 5e-324, 0.5, 1.0000000000000002, -0.0, "", "record", "client", "none",
            "poisson", "add-remove", "gaussian", "composition", "exact access", "sampled gaussian", "laplace",
            "randomized response", [], {}, [1, 2, 3], {"event": "composition", "parts": [], "count": 1}])");
    made.push_back(std::string(10'000, 'x'));
    made.push_back("\xff\xfe");
    return made;
  }();
  return values[stream.below(values.size())];
}

json& random_child(json& node, Stream& stream) {
  auto child = node.begin();
  std::advance(child, static_cast<std::ptrdiff_t>(stream.below(node.size())));
  return *child;
}

// A node of the document, any depth alike likely on the way down.
json& random_node(json& root, Stream& stream) {
  json* node = &root;
  while (node->is_structured() && !node->empty() && stream.below(8) != 0) node = &random_child(*node, stream);
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
  const int repeats = test::long_tests() ? 20'000 : 2'000;
  Stream stream({.seed = 12});
  int accepted = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    json document = documents[stream.below(documents.size())];
    for (std::uint64_t change = 0, changes = 1 + stream.below(3); change < changes; ++change) {
      mutate(document, stream);
    }
    accepted += is_ledger(document.dump(-1, ' ', false, json::error_handler_t::replace)) ? 1 : 0;
  }
  EXPECT_GT(accepted, repeats / 200) << "no change was harmless, which says little of what the reader takes";
}

// Numbers as text, so that they need not be ones that a program would write.
TEST(LedgerFuzz, SurvivesEveryNumberEverywhere) {
  const std::vector<std::string> numbers = {"-0",
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
      for (const std::string& number : numbers) is_ledger(text.substr(0, begin) + number + text.substr(end));
      at = end;
    }
  }
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(LedgerFuzz, SurvivesDepth) {
  constexpr int kDeep = 200'000;
  for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
    const std::string text = repeated(open, kDeep);
    EXPECT_FALSE(is_ledger(text));
    EXPECT_FALSE(is_ledger(text + "1" + repeated(close, kDeep)));
  }
  // Compositions of compositions of ... of one access; as text, because writing such JSON takes a deep stack
  // too.
  json document = json::parse(sample_ledger(Unit::kRecord).to_json());
  document["clients"][0]["segments"][0]["accesses"][0] = "here";
  std::string text = document.dump();
  text.replace(text.find("\"here\""), 6,
               repeated(R"({"event": "composition", "parts": [)", 2'000) +
                   R"({"event": "exact access", "what": "loss", "count": 1})" +
                   repeated(R"(], "count": 1})", 2'000));
  EXPECT_FALSE(is_ledger(text));
}

TEST(LedgerFuzz, SurvivesLength) {
  json document = json::parse(sample_ledger(Unit::kRecord).to_json());
  json& list = document["clients"][0]["segments"][0]["accesses"];
  const json access = list[0];
  for (int i = 0, more = test::long_tests() ? 50'000 : 10'000; i < more; ++i) list.push_back(access);
  is_ledger(document.dump());
}

}  // namespace
}  // namespace fedarena
