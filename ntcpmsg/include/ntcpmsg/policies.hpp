#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ntcpmsg {

using Milliseconds = std::chrono::milliseconds;

/// The largest payload a frame can carry: its length field has 24 bits.
inline constexpr std::size_t max_payload_size = 0xFFFFFF;

/// Waits without limit. No call of the library does so unless it is asked to with this value.
inline constexpr Milliseconds no_timeout = Milliseconds::max();

/// When messages that gathered leave together.
struct BatchOptions {
  /// A batch of this many bytes is written at once, by the thread that completed it.
  std::size_t max_bytes = std::size_t{64} * 1024;
  /// How long a message may wait for company. 0: an idle connection sends at once, and what is
  /// appended while a write is under way leaves with the next one.
  std::chrono::microseconds max_delay{0};
};

/// What a sending call does when the outbound queue is full. Inside a callback it never waits: it
/// fails with `Errc::would_block` whatever is set here.
enum class OverflowPolicy {
  /// Wait up to `QueueOptions::block_timeout` for room, then fail with `Errc::would_block`.
  block,
  /// Fail with `Errc::would_block` at once.
  fail,
};

/// Bound of the outbound queue of one connection.
struct QueueOptions {
  /// Bytes (headers included) that may wait to be written. One larger message is accepted when the
  /// queue is empty.
  std::size_t high_water_mark = std::size_t{1} * 1024 * 1024;
  OverflowPolicy when_full = OverflowPolicy::block;
  /// Longest wait of a sending call for room, with `OverflowPolicy::block`.
  Milliseconds block_timeout = std::chrono::seconds(30);
};

/// Automatic reconnect: exponential back-off with full jitter (the wait before try n is uniform
/// between 0 and min(cap, base * 2^n)).
struct ReconnectOptions {
  bool enabled = false;
  Milliseconds base{100};
  Milliseconds cap{5000};
  /// The back-off starts again from `base` only when a connection was up for this long.
  Milliseconds stable_after{5000};
  /// Seed of the jitter; unset: taken from the system, different in every object.
  std::optional<std::uint64_t> seed;
};

}  // namespace ntcpmsg
