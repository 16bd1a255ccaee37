#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace ntcpmsg::detail {

/// One thread waits, with a deadline, for another to say that something happened. May live on the
/// waiter's stack: `set` touches the object's memory for the last time before the waiter can leave
/// (the wake-up behind it only names the address).
class OneShotEvent {
 public:
  using Clock = std::chrono::steady_clock;

  void set() noexcept {
    auto* const address = &word_;
    if (word_.exchange(set_value, std::memory_order_acq_rel) == sleeping) {
      ::syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

  bool is_set() const noexcept { return word_.load(std::memory_order_acquire) == set_value; }

  /// True when the event was set, false at the deadline. `Clock::time_point::max()`: no deadline.
  bool wait_until(Clock::time_point deadline) noexcept {
    std::uint32_t expected = initial;
    if (!word_.compare_exchange_strong(expected, sleeping, std::memory_order_acq_rel) &&
        expected == set_value) {
      return true;
    }
    while (!is_set()) {
      if (!sleep(deadline)) return is_set();
    }
    return true;
  }

 private:
  bool sleep(Clock::time_point deadline) noexcept {
    timespec until{};
    const bool bounded = deadline != Clock::time_point::max();
    if (bounded) {
      // The kernel refuses times before zero.
      const auto ns = std::max<std::int64_t>(
          0,
          std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch())
              .count());
      until.tv_sec = ns / 1'000'000'000;
      until.tv_nsec = ns % 1'000'000'000;
    }
    // steady_clock is CLOCK_MONOTONIC, which FUTEX_WAIT_BITSET takes as an absolute time.
    const long result = ::syscall(SYS_futex,
                                  &word_,
                                  FUTEX_WAIT_BITSET_PRIVATE,
                                  sleeping,
                                  bounded ? &until : nullptr,
                                  nullptr,
                                  FUTEX_BITSET_MATCH_ANY);
    return !(result == -1 && errno == ETIMEDOUT);
  }

  static constexpr std::uint32_t initial = 0;
  static constexpr std::uint32_t sleeping = 1;
  static constexpr std::uint32_t set_value = 2;

  std::atomic<std::uint32_t> word_{initial};
};

}  // namespace ntcpmsg::detail
