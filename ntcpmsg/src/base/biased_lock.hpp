#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/brief_lock.hpp"

namespace ntcpmsg::detail {

/// A `BriefLock` that is nearly free for a thread that takes it again and again while no other one
/// does: the sender of a burst, the I/O thread that answers requests. Such a thread gets the lock's
/// bias, and then takes it by a store and a load without the atomic exchange, whose wait for all
/// earlier stores is half of what appending a small message costs.
///
/// Others must see the store before the load is made, which takes a fence. Here the other thread
/// pays for it: it withdraws the bias and has the kernel put a fence into all running threads
/// (membarrier(2), about 10 us). So the bias is given only after a long run, and a kernel without
/// membarrier gives none. This is the "quickly reacquirable lock" of Dice, Moir and Scherer (2003).
/// Satisfies Lockable.
class BiasedLock {
 public:
  /// Takes in a row after which a thread gets the bias for the first time: they cost a few times
  /// what withdrawing it does. Each withdrawal doubles them, up to `most_doublings` times, so that
  /// threads that contend for long go without.
  static constexpr std::uint32_t default_run = 8192;
  static constexpr std::uint8_t most_doublings = 4;

  explicit BiasedLock(std::uint32_t run_for_bias = default_run) noexcept
      : run_for_bias_(run_for_bias) {}

  void lock() noexcept {
    if (!take_by_bias()) take_as_everybody();
  }

  bool try_lock() noexcept { return take_by_bias() || try_as_everybody(); }

  void unlock() noexcept {
    if (Seat* const seat = seat_in_use_) {
      seat->taken.store(false, std::memory_order_release);
    } else {
      lock_.unlock();
    }
  }

  /// The calling thread has the bias.
  bool is_biased_to_caller() const noexcept {
    const Seat* const seat = biased_to_.load(std::memory_order_acquire);
    return seat != nullptr && seat->thread == this_thread_number();
  }

 private:
  using ThreadNumber = std::uint64_t;

  /// Of one thread for good. A late attempt of a thread that has lost the bias shortly shows its
  /// own seat as taken, never that of the next thread.
  struct Seat {
    ThreadNumber thread = 0;
    std::atomic<bool> taken{false};
  };
  // Threads of one lock that can have its bias, as long as it lives: an I/O thread and a sender.
  static constexpr std::size_t seats = 2;

  static ThreadNumber this_thread_number() noexcept {
    thread_local constinit ThreadNumber number = 0;
    if (number == 0) [[unlikely]]
      number = next_thread_number();
    return number;
  }
  static ThreadNumber next_thread_number() noexcept;

  bool take_by_bias() noexcept {
    Seat* const seat = biased_to_.load(std::memory_order_acquire);
    if (seat == nullptr || seat->thread != this_thread_number()) return false;
    seat->taken.store(true, std::memory_order_relaxed);
    // The other half of this fence is the kernel's, in `withdraw_bias`.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (biased_to_.load(std::memory_order_relaxed) == seat) [[likely]] {
      seat_in_use_ = seat;
      return true;
    }
    seat->taken.store(false, std::memory_order_release);
    return false;
  }

  // Out of line, so that the way by bias is all that callers have in their own code.
  void take_as_everybody() noexcept;
  bool try_as_everybody() noexcept;
  void entered_as_everybody() noexcept;
  void give_bias(ThreadNumber to) noexcept;
  void withdraw_bias(Seat& from) noexcept;

  BriefLock lock_;
  // What is not atomic belongs to whoever is in the section.
  std::uint8_t doublings_ = 0;
  std::uint32_t run_ = 0;
  std::uint32_t run_for_bias_;
  ThreadNumber last_ = 0;
  // Null: not entered by bias.
  Seat* seat_in_use_ = nullptr;
  // Changed by the holder of `lock_`.
  std::atomic<Seat*> biased_to_{nullptr};
  std::array<Seat, seats> seats_;
};

}  // namespace ntcpmsg::detail
