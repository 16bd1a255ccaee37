#pragma once

#include <algorithm>
#include <optional>

#include "link/link_options.hpp"

namespace bench {

/// A line that takes time for every bit, behind a queue that drops what does not fit (as a router
/// does).
class RateLimit {
 public:
  /// `bits_per_second` of 0: takes no time and drops nothing.
  RateLimit(std::uint64_t bits_per_second, std::size_t queue_bytes)
      : bits_per_second_(bits_per_second), longest_wait_(time_of(queue_bytes)) {}

  /// When the last bit of a packet that arrives now has left; empty when the queue is full.
  std::optional<LinkTime> departure(LinkTime now, std::size_t bytes) {
    const LinkTime begin = std::max(free_at_, now);
    if (begin - now > longest_wait_) return std::nullopt;
    free_at_ = begin + time_of(bytes);
    return free_at_;
  }

 private:
  std::chrono::nanoseconds time_of(std::size_t bytes) const {
    if (bits_per_second_ == 0) return {};
    return std::chrono::nanoseconds(bytes * 8 * 1'000'000'000 / bits_per_second_);
  }

  std::uint64_t bits_per_second_;
  std::chrono::nanoseconds longest_wait_;
  LinkTime free_at_{};
};

}  // namespace bench
