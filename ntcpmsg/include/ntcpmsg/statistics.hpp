#pragma once

#include <cstdint>

namespace ntcpmsg {

/// Counters since the object was created. A snapshot: values of different fields may be a few
/// messages apart while traffic flows.
struct Statistics {
  /// Messages accepted for sending, requests and replies included.
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  /// Bytes written to and read from sockets.
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  /// System calls that wrote or read at least one byte.
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  /// Messages that were accepted and could not leave.
  std::uint64_t messages_unsent = 0;
  /// Bytes waiting in outbound queues now.
  std::uint64_t bytes_queued = 0;
  /// Sessions now, and connections made so far (reconnects count).
  std::uint64_t sessions = 0;
  std::uint64_t sessions_total = 0;
  /// Cables now (a listener only).
  std::uint64_t cables = 0;

  Statistics& operator+=(const Statistics& other) noexcept;
};

}  // namespace ntcpmsg
