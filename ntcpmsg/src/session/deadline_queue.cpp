#include "session/deadline_queue.hpp"

namespace ntcpmsg::detail {

void DeadlineQueue::add(std::uint32_t id, TimePoint deadline) {
  if (id >= position_.size()) position_.resize(id + 1, absent);
  heap_.push_back({});
  sift_up(heap_.size() - 1, {deadline, id});
}

void DeadlineQueue::remove(std::uint32_t id) noexcept {
  if (id >= position_.size() || position_[id] == absent) return;
  const std::size_t at = position_[id];
  position_[id] = absent;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (at == heap_.size()) return;
  sift_down(at, last);
  sift_up(position_[last.id], last);
}

TimePoint DeadlineQueue::earliest() const noexcept {
  return heap_.empty() ? TimePoint::max() : heap_.front().deadline;
}

std::optional<std::uint32_t> DeadlineQueue::pop_expired(TimePoint now) noexcept {
  if (heap_.empty() || heap_.front().deadline > now) return std::nullopt;
  const std::uint32_t id = heap_.front().id;
  remove(id);
  return id;
}

void DeadlineQueue::place(std::size_t at, Entry entry) noexcept {
  heap_[at] = entry;
  position_[entry.id] = static_cast<std::uint32_t>(at);
}

void DeadlineQueue::sift_up(std::size_t at, Entry entry) noexcept {
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (heap_[parent].deadline <= entry.deadline) break;
    place(at, heap_[parent]);
    at = parent;
  }
  place(at, entry);
}

void DeadlineQueue::sift_down(std::size_t at, Entry entry) noexcept {
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].deadline < heap_[child].deadline) ++child;
    if (entry.deadline <= heap_[child].deadline) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, entry);
}

}  // namespace ntcpmsg::detail
