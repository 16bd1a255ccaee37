#pragma once

#include <cstdint>

/// Event numbers with a meaning for server_test and client_test. Payloads of control messages are
/// JSON objects.
namespace test_support::events {

/// Asynchronous, any payload. The server counts it for the client (a cable counts as one client)
/// and with `--echo` sends it back. Any other asynchronous event is treated the same.
inline constexpr std::uint32_t async_data = 10;

/// Request, any payload. Answered with its own payload, as any request not listed here.
inline constexpr std::uint32_t sync_echo = 11;

/// Request, empty. Answered with the counters, see `ServerCounters`. The counters of a client only
/// grow: take the difference between two answers.
inline constexpr std::uint32_t counters = 12;

/// Request, {"count": N, "size": S}. The server starts pushing N messages of S bytes to the
/// session as fast as it can, without end when N is 0, and answers at once. A push started earlier
/// for the same client ends.
inline constexpr std::uint32_t start_push = 13;

/// Request, empty. Ends what `start_push` began. Answered, when no further message can follow, with
/// {"pushed": N}.
inline constexpr std::uint32_t stop_push = 14;

/// Pushed after `start_push`. A `NumberedPayload`, numbered from 0.
inline constexpr std::uint32_t push_data = 15;

/// Broadcast of `--push-interval`, with the bytes of `--push-text`.
inline constexpr std::uint32_t broadcast = 16;

}  // namespace test_support::events
