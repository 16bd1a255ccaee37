#pragma once

#include <chrono>
#include <ctime>

#include "ntcpmsg/policies.hpp"

namespace ntcpmsg::detail {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

/// `now + timeout`, saturating: `no_timeout` and everything beyond the clock's range never comes.
inline TimePoint deadline_after(TimePoint now, Milliseconds timeout) noexcept {
  if (timeout <= Milliseconds::zero()) return now;
  const auto room = TimePoint::max() - now;
  if (timeout >= std::chrono::duration_cast<Milliseconds>(room)) return TimePoint::max();
  return now + timeout;
}

/// The time as of the kernel's last tick: some milliseconds behind, for a fifth of what the exact
/// time costs. Deadlines counted from here fall on ticks, so that many expire together.
inline TimePoint coarse_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

/// How far `coarse_now` may be behind.
inline constexpr Milliseconds coarse_tick{10};

}  // namespace ntcpmsg::detail
