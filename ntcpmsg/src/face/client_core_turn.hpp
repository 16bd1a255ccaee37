#pragma once

#include <limits>
#include <utility>

#include "face/client_core.hpp"

// Bodies of the client core's private templates, for its own source files.

namespace ntcpmsg::detail {

/// No time at which the request timer fires.
inline constexpr Clock::rep never = std::numeric_limits<Clock::rep>::max();

/// Tag of requests that wait, unsent, for the next connection.
inline constexpr RequestTable::Link kept_requests = UINT64_MAX;

template <typename Step>
void ClientCore::post(Step step) {
  detail::post(*io_thread_,
               handler_memory_,
               [self = shared_from_this(), step = std::move(step)]() mutable { step(*self); });
}

template <typename Signature, typename... Args>
void ClientCore::raise(const EventSlot<Signature>& slot, Args&&... args) {
  if (silenced_.load(std::memory_order_acquire)) return;
  const auto handler = slot.get();
  if (!handler) return;
  try {
    (*handler)(std::forward<Args>(args)...);
  } catch (...) {
    report_exception(std::current_exception());
  }
}

}  // namespace ntcpmsg::detail
