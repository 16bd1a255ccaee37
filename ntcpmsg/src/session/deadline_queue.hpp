#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/deadline.hpp"

namespace ntcpmsg::detail {

/// Deadlines of numbered things, the earliest first: a binary heap that knows each number's place,
/// so that adding and removing cost O(log n) and nothing lingers until its time.
class DeadlineQueue {
 public:
  /// `id` must not be in the queue.
  void add(std::uint32_t id, TimePoint deadline);
  /// Does nothing when it is not there.
  void remove(std::uint32_t id) noexcept;
  /// `TimePoint::max()` when empty.
  TimePoint earliest() const noexcept;
  /// Takes out one whose deadline is not after `now`.
  std::optional<std::uint32_t> pop_expired(TimePoint now) noexcept;
  bool empty() const noexcept { return heap_.empty(); }

 private:
  struct Entry {
    TimePoint deadline;
    std::uint32_t id;
  };

  void place(std::size_t at, Entry entry) noexcept;
  void sift_up(std::size_t at, Entry entry) noexcept;
  void sift_down(std::size_t at, Entry entry) noexcept;

  static constexpr std::uint32_t absent = UINT32_MAX;

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;
};

}  // namespace ntcpmsg::detail
