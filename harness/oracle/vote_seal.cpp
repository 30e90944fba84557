#include "harness/oracle/vote_seal.hpp"

#include <bit>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

namespace fedarena {

VoteSeal::VoteSeal(bool& casting_votes, const Message* state, Observations* observed)
    : casting_votes_(casting_votes), state_(state), observed_(observed) {
  casting_votes_ = true;
  if (observed_ != nullptr) observed_->close(true);
  if (state_ == nullptr) return;
  for (const Message::Entry& entry : state_->entries()) before_.emplace_back(entry.name, value_of(entry));
}

VoteSeal::~VoteSeal() {
  casting_votes_ = false;
  if (observed_ != nullptr) observed_->close(false);
}

VoteSeal::Value VoteSeal::value_of(const Message::Entry& entry) {
  return std::visit(Overload{[](const Params& params) -> Value { return params.flat(); },
                             [](const torch::Tensor& tensor) -> Value { return tensor; },
                             [](double number) -> Value { return std::bit_cast<std::uint64_t>(number); },
                             [](std::int64_t number) -> Value { return static_cast<std::uint64_t>(number); }},
                    entry.content);
}

bool VoteSeal::same(const Value& left, const Value& right) {
  if (left.index() != right.index()) return false;
  if (const auto* tensor = std::get_if<torch::Tensor>(&left))
    return tensor->is_same(std::get<torch::Tensor>(right));
  return std::get<std::uint64_t>(left) == std::get<std::uint64_t>(right);
}

void VoteSeal::check() const {
  if (state_ == nullptr) return;
  const auto refuse = [](const std::string& name) {
    throw Error(
        Complaint{.found = fmt::format("\"{}\" in the client's state is put inside of a vote", name),
                  .allowed = "what votes answer, and nothing else, while private examples are in their hands",
                  .remedy = "What voters remember belongs into Voters::memory"});
  };
  const std::vector<Message::Entry>& now = state_->entries();
  for (std::size_t place = 0; place < now.size(); ++place) {
    if (place >= before_.size() || now[place].name != before_[place].first) refuse(now[place].name);
    const auto& [name, old] = before_[place];
    if (!same(value_of(now[place]), old)) refuse(name);
  }
  if (now.size() < before_.size()) refuse(before_[now.size()].first);
}

}  // namespace fedarena
