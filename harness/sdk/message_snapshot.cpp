#include "harness/sdk/message_snapshot.hpp"

#include <bit>

#include "fedarena/base/overload.hpp"

namespace fedarena {

std::int64_t writes_to(const torch::Tensor& tensor) {
  return tensor.defined() && !tensor.is_inference() ? tensor._version() : 0;
}

MessageSnapshot::MessageSnapshot(const Message& message) {
  for (const Message::Entry& entry : message.entries()) entries_.emplace_back(entry.name, value_of(entry));
}

std::string MessageSnapshot::changed(const Message& now) const {
  const std::vector<Message::Entry>& entries = now.entries();
  for (std::size_t place = 0; place < entries.size(); ++place) {
    if (place >= entries_.size() || entries[place].name != entries_[place].first) return entries[place].name;
    if (!same(value_of(entries[place]), entries_[place].second)) return entries[place].name;
  }
  return entries.size() < entries_.size() ? entries_[entries.size()].first : "";
}

MessageSnapshot::Value MessageSnapshot::value_of(const Message::Entry& entry) {
  const auto of_tensor = [](const torch::Tensor& tensor) -> Value {
    return std::pair(tensor, writes_to(tensor));
  };
  return std::visit(Overload{[&](const Params& params) { return of_tensor(params.flat()); }, of_tensor,
                             [](double number) -> Value { return std::bit_cast<std::uint64_t>(number); },
                             [](std::int64_t number) -> Value { return static_cast<std::uint64_t>(number); }},
                    entry.content);
}

bool MessageSnapshot::same(const Value& left, const Value& right) {
  if (left.index() != right.index()) return false;
  const auto* tensor = std::get_if<0>(&left);
  if (tensor == nullptr) return std::get<1>(left) == std::get<1>(right);
  const auto& other = std::get<0>(right);
  return tensor->first.is_same(other.first) && tensor->second == other.second;
}

}  // namespace fedarena
