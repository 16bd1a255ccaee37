#pragma once

#include <chrono>

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

}  // namespace ntcpmsg::detail
