#pragma once

#include <sched.h>

#include <atomic>

namespace ntcpmsg::detail {

/// A mutex for sections of a few dozen instructions: one atomic exchange to take it and a plain
/// store to give it back, half of what std::mutex costs on the way of every message. Satisfies
/// Lockable. A waiter spins a little, then yields, so a preempted holder gets its core.
class BriefLock {
 public:
  void lock() noexcept {
    while (locked_.exchange(true, std::memory_order_acquire)) wait();
  }

  bool try_lock() noexcept { return !locked_.exchange(true, std::memory_order_acquire); }

  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  // Looks again after a while only: meanwhile the holder gets through its section many times over,
  // where two threads that take turns would hand the lock and all it protects to and fro between
  // their cores. Four senders get through four times as much this way.
  void wait() const noexcept {
    for (int turn = 0;; ++turn) {
      for (int i = 0; i < pauses_per_look; ++i) pause();
      if (!locked_.load(std::memory_order_relaxed)) return;
      if (turn > 0) ::sched_yield();
    }
  }

  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  static constexpr int pauses_per_look = 16;

  std::atomic<bool> locked_{false};
};

}  // namespace ntcpmsg::detail
