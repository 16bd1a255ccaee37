#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace bench {

using LinkClock = std::chrono::steady_clock;
using LinkTime = LinkClock::time_point;

/// What the link does to packets, the same in both directions.
struct LinkOptions {
  /// One way: twice this is the round-trip time.
  std::chrono::nanoseconds delay{};
  /// The part of the packets that is lost.
  double loss = 0;
  /// 0: unlimited.
  std::uint64_t bits_per_second = 0;
  /// Room of the queue before the slow line, in packets of `mtu` bytes.
  std::size_t queue_packets = 0;
  std::size_t mtu = 1500;
  std::uint64_t seed = 1;

  std::size_t queue_bytes() const { return queue_packets * mtu; }
};

}  // namespace bench
