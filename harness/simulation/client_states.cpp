#include "harness/simulation/client_states.hpp"

#include <utility>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

std::int64_t size_of(const ClientStates::State& state) { return static_cast<std::int64_t>(state->size()); }

}  // namespace

ClientStates::State ClientStates::get(std::int64_t client) const {
  if (const auto staged = staged_.find(client); staged != staged_.end()) return staged->second;
  if (file_) {
    const auto found = filed_.find(client);
    if (found == filed_.end()) return nullptr;
    return std::make_shared<const Bytes>(file_->read(found->second.extent));
  }
  const auto found = held_.find(client);
  return found == held_.end() ? nullptr : found->second;
}

void ClientStates::put(const std::vector<std::pair<std::int64_t, State>>& states) {
  if (!file_) {
    std::int64_t bytes = held_bytes_;
    for (const auto& [client, state] : states) {
      bytes += size_of(state);
      if (const auto before = held_.find(client); before != held_.end()) bytes -= size_of(before->second);
    }
    if (bytes <= room_.memory || room_.file.empty()) {
      for (const auto& [client, state] : states) held_[client] = state;
      held_bytes_ = bytes;
      return;
    }
    move_to_file();
  }
  put_into_file(states);
}

void ClientStates::stage(std::map<std::int64_t, State> states) {
  settle();
  staged_ = std::move(states);
}

void ClientStates::settle() {
  if (staged_.empty()) return;
  put({staged_.begin(), staged_.end()});
  staged_.clear();
}

void ClientStates::move_to_file() {
  StateFile file = StateFile::create(room_.file);
  std::map<std::int64_t, StoredState> filed;
  for (const auto& [client, state] : held_) filed[client] = {.extent = file.write(*state)};
  file_ = std::move(file);
  filed_ = std::move(filed);
  held_.clear();
  held_bytes_ = 0;
}

void ClientStates::put_into_file(const std::vector<std::pair<std::int64_t, State>>& states) {
  std::vector<Extent> written;
  try {
    for (const auto& [client, state] : states) written.push_back(file_->write(*state));
  } catch (...) {
    for (const Extent& extent : written) file_->release(extent);
    throw;
  }
  for (std::size_t index = 0; index < states.size(); ++index) {
    const Extent& extent = written[index];
    StoredState& filed = filed_[states[index].first];
    if (filed.named) {
      outdated_.push_back(filed.extent);
    } else {
      file_->release(filed.extent);
    }
    filed = {.extent = extent};
  }
}

ClientStates::Content ClientStates::content() {
  settle();
  Content content{.held = held_, .filed = {}};
  if (!file_) return content;
  file_->sync();
  for (const auto& [client, filed] : filed_) content.filed[client] = filed.extent;
  return content;
}

void ClientStates::restore(Content content) {
  std::optional<StateFile> file;
  std::map<std::int64_t, StoredState> filed;
  if (!content.filed.empty()) {
    if (room_.file.empty() || !content.held.empty()) {
      throw Error::of("the checkpoint names client states in a file that it cannot have");
    }
    std::vector<Extent> kept;
    for (const auto& [client, extent] : content.filed) {
      kept.push_back(extent);
      filed[client] = {.extent = extent, .named = true};
    }
    file = StateFile::open(room_.file, std::move(kept));
  }
  file_ = std::move(file);
  filed_ = std::move(filed);
  outdated_.clear();
  staged_.clear();
  held_ = std::move(content.held);
  held_bytes_ = 0;
  for (const auto& [client, state] : held_) held_bytes_ += size_of(state);
}

void ClientStates::checkpointed() {
  for (const Extent& extent : outdated_) file_->release(extent);
  outdated_.clear();
  for (auto& [client, filed] : filed_) filed.named = true;
}

}  // namespace fedarena
