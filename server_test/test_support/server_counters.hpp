#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace test_support {

/// Answer to `events::counters`.
struct ServerCounters {
  /// Asynchronous messages received from this client, and the bytes of their payloads.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  /// Of the whole server: messages received from all clients, system calls, processor time.
  std::uint64_t total_messages = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  double cpu_seconds = 0;
  /// Of the whole server: messages that `--echo` could not send back.
  std::uint64_t echo_dropped = 0;

  ServerCounters since(const ServerCounters& before) const {
    ServerCounters difference = *this;
    difference.messages -= before.messages;
    difference.bytes -= before.bytes;
    difference.total_messages -= before.total_messages;
    difference.reads -= before.reads;
    difference.writes -= before.writes;
    difference.cpu_seconds -= before.cpu_seconds;
    difference.echo_dropped -= before.echo_dropped;
    return difference;
  }
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerCounters,
                                   messages,
                                   bytes,
                                   total_messages,
                                   reads,
                                   writes,
                                   cpu_seconds,
                                   echo_dropped)

}  // namespace test_support
