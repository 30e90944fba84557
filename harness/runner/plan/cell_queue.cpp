#include "harness/runner/plan/cell_queue.hpp"

#include <utility>

#include "fedarena/base/error.hpp"

namespace fedarena {

CellQueue::CellQueue(std::vector<std::int64_t> needs, std::int64_t budget)
    : needs_(std::move(needs)), budget_(budget) {
  for (std::size_t cell = needs_.size(); cell-- > 0;) waiting_.push_back(cell);
}

std::optional<std::size_t> CellQueue::next() {
  for (auto cell = waiting_.rbegin(); cell != waiting_.rend(); ++cell) {
    if (running_ > 0 && in_use_ + needs_[*cell] > budget_) continue;
    const std::size_t taken = *cell;
    waiting_.erase(std::next(cell).base());
    return taken;
  }
  return std::nullopt;
}

std::optional<std::size_t> CellQueue::take() {
  std::unique_lock lock(mutex_);
  while (!closed_ && !waiting_.empty()) {
    if (const auto cell = next()) {
      in_use_ += needs_[*cell];
      ++running_;
      return cell;
    }
    freed_.wait(lock);
  }
  return std::nullopt;
}

void CellQueue::give_back(std::size_t cell) {
  const std::lock_guard lock(mutex_);
  FEDARENA_CHECK(running_, >, 0U);
  in_use_ -= needs_[cell];
  --running_;
  freed_.notify_all();
}

void CellQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  freed_.notify_all();
}

}  // namespace fedarena
