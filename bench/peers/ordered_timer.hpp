#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "harness/peer.hpp"

namespace bench {

/// Times one request at a time of the many in flight on a connection whose answers come in order.
/// `sent` and `answered` may run on two threads.
class OrderedTimer {
 public:
  explicit OrderedTimer(LatencyHistogram& latency) : latency_(latency) {}

  /// To be called before a request leaves.
  void sent() {
    ++sent_;
    if (sent_ % timed_every != 0 || timed_.load(std::memory_order_acquire) != 0) return;
    begin_ = Clock::now();
    timed_.store(sent_, std::memory_order_release);
  }

  void answered() {
    ++answered_;
    if (timed_.load(std::memory_order_acquire) != answered_) return;
    latency_.record(static_cast<std::uint64_t>((Clock::now() - begin_).count()));
    timed_.store(0, std::memory_order_release);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t timed_every = 64;

  LatencyHistogram& latency_;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
  Clock::time_point begin_;
  /// Number of the request that is timed, 0: none.
  std::atomic<std::uint64_t> timed_{0};
};

}  // namespace bench
