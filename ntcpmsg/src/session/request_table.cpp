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

std::optional<std::uint32_t> RequestTable::add(ReplySink& sink, Link link, TimePoint deadline) {
  const std::lock_guard guard(lock_);
  if (in_flight_ >= max_requests_) return std::nullopt;
  if (free_.empty()) {
    slots_.emplace_back();
    free_.reserve(slots_.capacity());
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.sink = &sink;
  slot.link = link;
  if (deadline != TimePoint::max()) deadlines_.add(index, deadline);
  ++in_flight_;
  return channel_of(index);
}

RequestTable::Slot* RequestTable::find(std::uint32_t channel) noexcept {
  const std::uint32_t index = (channel & slot_mask) - 1;
  if (index >= slots_.size() || channel_of(index) != channel) return nullptr;
  return slots_[index].sink != nullptr ? &slots_[index] : nullptr;
}

ReplySink* RequestTable::release(Slot& slot) noexcept {
  const auto index = static_cast<std::uint32_t>(&slot - slots_.data());
  slot.generation = (slot.generation + 1U) & generation_mask;
  deadlines_.remove(index);
  // Cannot throw: `add` made room for the numbers of all slots.
  free_.push_back(index);
  --in_flight_;
  return std::exchange(slot.sink, nullptr);
}

ReplySink* RequestTable::take(std::uint32_t channel) noexcept {
  const std::lock_guard guard(lock_);
  Slot* slot = find(channel);
  return slot != nullptr ? release(*slot) : nullptr;
}

ReplySink* RequestTable::take(std::uint32_t channel, Link link) noexcept {
  const std::lock_guard guard(lock_);
  Slot* slot = find(channel);
  return slot != nullptr && slot->link == link ? release(*slot) : nullptr;
}

void RequestTable::move_to(std::uint32_t channel, Link link) noexcept {
  const std::lock_guard guard(lock_);
  if (Slot* slot = find(channel)) slot->link = link;
}

std::vector<ReplySink*> RequestTable::take_all(Link link) {
  std::vector<ReplySink*> taken;
  const std::lock_guard guard(lock_);
  if (in_flight_ == 0) return taken;
  for (Slot& slot : slots_) {
    if (slot.sink != nullptr && slot.link == link) taken.push_back(release(slot));
  }
  return taken;
}

std::vector<ReplySink*> RequestTable::take_expired(TimePoint now) {
  std::vector<ReplySink*> taken;
  const std::lock_guard guard(lock_);
  while (const auto index = deadlines_.pop_expired(now)) taken.push_back(release(slots_[*index]));
  return taken;
}

TimePoint RequestTable::earliest_deadline() const noexcept {
  const std::lock_guard guard(lock_);
  return deadlines_.earliest();
}

std::size_t RequestTable::in_flight() const noexcept {
  const std::lock_guard guard(lock_);
  return in_flight_;
}

}  // namespace ntcpmsg::detail
