#include "harness/oracle/declared_uplink.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// As refusals call it.
std::string kind_of(const Message::Entry& entry) {
  static constexpr std::array kKinds{"parameters", "a tensor", "a number", "an integer"};
  return fmt::format("\"{}\", {}", entry.name, kKinds.at(entry.content.index()));
}

const char* declared_kind(const UplinkEntry& entry) {
  return entry.counts_examples ? "the number of its examples" : "parameters";
}

// What is wrong with a message, as what its client does; empty when it is as declared. `examples`: what its
// counts must be.
std::string fault_of(const Message& message, const std::vector<UplinkEntry>& entries,
                     std::optional<std::int64_t> examples) {
  const std::vector<Message::Entry>& sent = message.entries();
  for (std::size_t place = 0; place < std::max(sent.size(), entries.size()); ++place) {
    if (place < sent.size() &&
        std::ranges::find(entries, sent[place].name, &UplinkEntry::name) == entries.end())
      return fmt::format("sends {}, which its algorithm does not declare,", kind_of(sent[place]));
    if (place < entries.size() && !message.contains(entries[place].name))
      return fmt::format("sends no \"{}\", which its algorithm declares,", entries[place].name);
    if (place >= sent.size() || place >= entries.size() || sent[place].name != entries[place].name)
      return "sends its entries in another order than its algorithm declares";
    const Message::Content& content = sent[place].content;
    const auto* count = std::get_if<std::int64_t>(&content);
    if (entries[place].counts_examples ? count == nullptr : !std::holds_alternative<Params>(content))
      return fmt::format("sends {}, declared as {},", kind_of(sent[place]), declared_kind(entries[place]));
    if (count != nullptr && examples && *count != *examples)
      return fmt::format("sends {} that is not the number of its examples", kind_of(sent[place]));
  }
  return {};
}

}  // namespace

bool is_as_declared(const Message& message, const std::vector<UplinkEntry>& entries) {
  return fault_of(message, entries, std::nullopt).empty();
}

void check_declared(const Message& message, const DeclaredUplink& declared) {
  const std::string fault = fault_of(message, declared.entries, declared.examples);
  if (fault.empty()) return;
  std::vector<std::string> entries;
  for (const UplinkEntry& entry : declared.entries)
    entries.push_back(fmt::format("\"{}\", {}", entry.name, declared_kind(entry)));
  throw Error(Complaint{
      .found = fmt::format("{} {} under the policy \"local\"", declared.sender, fault),
      .allowed = entries.empty() ? "nothing, as the algorithm declares"
                                 : fmt::format("what the algorithm declares, in that order: {}",
                                               fmt::join(entries, "; ")),
      .remedy =
          "That would leave the client without clipping and noise. Choose the policy \"record\" or \"none\", "
          "or an algorithm that sends parameters alone; one of your own declares them by uplink_entries()"});
}

}  // namespace fedarena
