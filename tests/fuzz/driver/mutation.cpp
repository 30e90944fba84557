#include "tests/fuzz/driver/mutation.hpp"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

namespace fedarena::fuzz {
namespace {

using Json = nlohmann::ordered_json;

// What readers of numbers, texts and lengths trip over.
const std::vector<std::string>& hostile_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all = split(
        "0|-1|-0|1e9|1e400|1e-400|5e-324|0.5|9223372036854775807|9223372036854775808|"
        "99999999999999999999999999|nan|NaN|inf|Infinity|0x10|1_000|00|null|true|\"|'|\\|\\u0000|[|]|{|}|,|;|"
        ":|=|\n|\r\n|\t|..|/|\x1b[31m|\xff|\xc3|\xef\xbb\xbf|é");
    for (const std::string& bytes :
         {std::string(1, '\0'), std::string(4, '\xff'), std::string("\0\0\0\x80", 4),
          std::string("\xff\xff\xff\x7f", 4), std::string(8, '\0'), std::string(300, 'a')})
      all.push_back(bytes);
    return all;
  }();
  return words;
}

const std::string& one_of(const std::vector<std::string>& words, Stream& stream) {
  return words[stream.below(words.size())];
}

std::string changed_once(const Target& target, std::string bytes, Stream& stream) {
  const auto& words = !target.words.empty() && stream.below(2) == 0 ? target.words : hostile_words();
  const std::size_t at = stream.below(bytes.size() + 1);
  const std::size_t size = stream.below(std::min<std::size_t>(bytes.size() - at, 40) + 1);
  switch (stream.below(9)) {
    case 0:
      return bytes.insert(at, one_of(words, stream));
    case 1:
      return bytes.replace(at, size, one_of(words, stream));
    case 2: {  // in place, so that lengths and offsets stay right
      const std::string& word = one_of(words, stream);
      return bytes.replace(at, std::min(word.size(), bytes.size() - at), word);
    }
    case 3:
      return bytes.erase(at, size);
    case 4:
      return bytes.substr(0, at);
    case 5:  // a part of it again, elsewhere
      return bytes.insert(stream.below(bytes.size() + 1), bytes.substr(at, size));
    case 6: {  // the beginning of one input and the end of another
      const std::string& other = one_of(target.seeds, stream);
      return bytes.substr(0, at) + other.substr(std::min(at, other.size()));
    }
    case 7:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << stream.below(8)));
      return bytes;
    default:
      if (at < bytes.size()) bytes[at] = static_cast<char>(stream.below(256));
      return bytes;
  }
}

Json hostile_value(Stream& stream) {
  static const Json values = [] {
    Json made = Json::parse(R"([null, true, false, 0, 1, -1, 2, 1e12, 1000000000001, 9223372036854775807,
        18446744073709551615, 1e308, -1e308, 5e-324, 0.5, 1.0000000000000002, -0.0, "", "nan", "inf", "record",
        "client", "none", "unproven", "finished", [], {}, [1, 2, 3], [[]], {"event": "composition", "parts": [],
        "count": 1}])");
    made.push_back(std::string(10'000, 'x'));
    made.push_back("\x1b[31m\n");
    return made;
  }();
  return values[stream.below(values.size())];
}

Json& child_of(Json& node, Stream& stream) {
  return *std::next(node.begin(), static_cast<std::ptrdiff_t>(stream.below(node.size())));
}

// Any depth alike likely on the way down.
Json& node_of(Json& root, Stream& stream) {
  Json* node = &root;
  while (node->is_structured() && !node->empty() && stream.below(8) != 0) node = &child_of(*node, stream);
  return *node;
}

void change_a_node(Json& document, Stream& stream) {
  Json& node = node_of(document, stream);
  switch (stream.below(5)) {
    case 0:
      node = hostile_value(stream);
      break;
    case 1:  // one field or element less
      if (node.is_structured() && !node.empty())
        node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(stream.below(node.size()))));
      break;
    case 2:  // one more
      if (node.is_object()) node["foreign"] = hostile_value(stream);
      if (node.is_array()) node.push_back(node.empty() ? hostile_value(stream) : Json(node[0]));
      break;
    case 3:  // something that belongs elsewhere
      node = Json(node_of(document, stream));
      break;
    default:  // within itself
      node = stream.below(2) == 0
                 ? Json::array({Json(node)})
                 : Json{{"event", "composition"}, {"parts", Json::array({Json(node)})}, {"count", 1}};
  }
}

}  // namespace

std::string mutated(const Target& target, std::string bytes, Stream& stream) {
  const std::uint64_t changes = 1 + stream.below(4);
  if (target.json && stream.below(2) == 0) {
    Json document = Json::parse(bytes, nullptr, false);
    if (!document.is_discarded()) {
      for (std::uint64_t change = 0; change < changes; ++change) change_a_node(document, stream);
      return document.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }
  for (std::uint64_t change = 0; change < changes; ++change)
    bytes = changed_once(target, std::move(bytes), stream);
  return bytes;
}

}  // namespace fedarena::fuzz
