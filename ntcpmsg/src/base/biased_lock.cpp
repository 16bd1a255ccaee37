#include "base/biased_lock.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace ntcpmsg::detail {
namespace {

bool call_membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool membarrier_available() noexcept {
  static const bool available = call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return available;
}

/// Every thread of this process is behind a full fence when this returns.
void fence_all_threads() noexcept {
  if (call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  // Something forbade the call after it was registered for. No store stays unseen for this long.
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

BiasedLock::ThreadNumber BiasedLock::next_thread_number() noexcept {
  static std::atomic<ThreadNumber> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void BiasedLock::take_as_everybody() noexcept {
  lock_.lock();
  entered_as_everybody();
}

bool BiasedLock::try_as_everybody() noexcept {
  if (!lock_.try_lock()) return false;
  entered_as_everybody();
  return true;
}

void BiasedLock::entered_as_everybody() noexcept {
  if (Seat* const seat = biased_to_.load(std::memory_order_relaxed)) withdraw_bias(*seat);
  seat_in_use_ = nullptr;
  const ThreadNumber me = this_thread_number();
  if (last_ != me) {
    last_ = me;
    run_ = 0;
  } else if (++run_ == run_for_bias_) {
    give_bias(me);
  }
}

void BiasedLock::give_bias(ThreadNumber to) noexcept {
  const auto seat = std::ranges::find_if(
      seats_, [to](const Seat& each) { return each.thread == to || each.thread == 0; });
  if (seat == seats_.end() || !membarrier_available()) return;
  // Once: late attempts of others may be reading it when the same thread gets the bias again.
  if (seat->thread == 0) seat->thread = to;
  biased_to_.store(&*seat, std::memory_order_release);
}

void BiasedLock::withdraw_bias(Seat& from) noexcept {
  biased_to_.store(nullptr, std::memory_order_relaxed);
  fence_all_threads();
  while (from.taken.load(std::memory_order_acquire)) ::sched_yield();
  if (doublings_ == most_doublings) return;
  ++doublings_;
  run_for_bias_ *= 2;
}

}  // namespace ntcpmsg::detail
