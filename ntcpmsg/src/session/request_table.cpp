#include "session/request_table.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace ntcpmsg::detail {
namespace {

// Channel: base(1) generation(15) slot + 1 (16). The first channel of a client is 1, as the
// original's is.
constexpr std::uint32_t slot_bits = 16;
constexpr std::uint32_t slot_mask = (1U << slot_bits) - 1;
constexpr std::uint16_t generation_mask = 0x7FFF;
// One slot fewer than there are numbers: the channel with all bits set is the hello's.
constexpr std::size_t most_slots = slot_mask - 1;

}  // namespace

RequestTable::RequestTable(std::size_t max_requests, std::uint32_t channel_base)
    : max_requests_(std::min(max_requests, most_slots)), channel_base_(channel_base) {}

std::uint32_t RequestTable::channel_of(std::uint32_t index) const noexcept {
  return channel_base_ | std::uint32_t{slots_[index].generation} << slot_bits | (index + 1);
}

std::uint32_t RequestTable::add(ReplyCompletion&& completion, Link link, TimePoint deadline) {
  const std::lock_guard guard(lock_);
  if (in_flight_ >= max_requests_) return 0;
  if (first_free_ == no_slot) {
    slots_.emplace_back();
    first_free_ = static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = first_free_;
  Slot& slot = slots_[index];
  first_free_ = slot.next_free;
  slot.completion = std::move(completion);
  slot.link = link;
  slot.deadline = deadline;
  ++in_flight_;
  return channel_of(index);
}

RequestTable::Slot* RequestTable::find(std::uint32_t channel) noexcept {
  const std::uint32_t index = (channel & slot_mask) - 1;
  if (index >= slots_.size() || channel_of(index) != channel) return nullptr;
  return slots_[index].completion ? &slots_[index] : nullptr;
}

ReplyCompletion RequestTable::release(Slot& slot) noexcept {
  slot.generation = (slot.generation + 1U) & generation_mask;
  slot.next_free = first_free_;
  first_free_ = static_cast<std::uint32_t>(&slot - slots_.data());
  --in_flight_;
  return std::move(slot.completion);
}

ReplyCompletion RequestTable::take(std::uint32_t channel) noexcept {
  const std::lock_guard guard(lock_);
  Slot* slot = find(channel);
  return slot != nullptr ? release(*slot) : ReplyCompletion();
}

ReplyCompletion RequestTable::take(std::uint32_t channel, Link link) noexcept {
  const std::lock_guard guard(lock_);
  Slot* slot = find(channel);
  return slot != nullptr && slot->link == link ? release(*slot) : ReplyCompletion();
}

void RequestTable::move_to(std::uint32_t channel, Link link) noexcept {
  const std::lock_guard guard(lock_);
  if (Slot* slot = find(channel)) slot->link = link;
}

std::vector<ReplyCompletion> RequestTable::take_all(Link link) {
  std::vector<ReplyCompletion> taken;
  const std::lock_guard guard(lock_);
  if (in_flight_ == 0) return taken;
  for (Slot& slot : slots_) {
    if (slot.completion && slot.link == link) taken.push_back(release(slot));
  }
  return taken;
}

RequestTable::Expired RequestTable::take_expired(TimePoint now) {
  Expired expired;
  const std::lock_guard guard(lock_);
  if (in_flight_ == 0) return expired;
  for (Slot& slot : slots_) {
    if (!slot.completion || slot.deadline == TimePoint::max()) continue;
    if (slot.deadline <= now) {
      expired.completions.push_back(release(slot));
    } else {
      expired.next = std::min(expired.next, slot.deadline);
    }
  }
  return expired;
}

std::size_t RequestTable::in_flight() const noexcept {
  const std::lock_guard guard(lock_);
  return in_flight_;
}

}  // namespace ntcpmsg::detail
