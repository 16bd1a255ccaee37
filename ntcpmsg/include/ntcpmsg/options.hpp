#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/policies.hpp"

namespace ntcpmsg {

class IoThreads;

/// Socket settings applied to every connection. An unset value leaves the system's default.
struct SocketOptions {
  bool no_delay = true;
  std::optional<int> send_buffer_bytes;
  std::optional<int> receive_buffer_bytes;
  /// Name of a congestion control algorithm of the kernel, e.g. "cubic". Unknown names are
  /// reported by the error event and ignored.
  std::string congestion_control;
};

/// What a sending call does while there is no connection.
enum class OfflinePolicy {
  /// Fail with `Errc::not_connected`.
  fail,
  /// Keep the message, within the queue's byte bound, until connected. What cannot leave in the end
  /// is reported by the error event `Errc::messages_unsent` with its count.
  queue,
};

/// Everything a client can be told. The defaults suit messages between services on a network.
struct ClientOptions {
  /// Local address to connect from; unset: the system chooses.
  std::optional<Endpoint> local_endpoint;
  BatchOptions batch;
  QueueOptions queue;
  SocketOptions socket;
  ReconnectOptions reconnect;
  OfflinePolicy offline = OfflinePolicy::fail;
  /// Longest payload accepted from the peer, at most `max_payload_size`.
  std::size_t max_message_size = max_payload_size;
  /// Limit for one attempt on one address (a name may have several).
  Milliseconds attempt_timeout{10'000};
  /// Ask the peer for extensions after connecting. An original listener answers with an empty
  /// reply, and both sides stay with the plain protocol.
  bool hello = true;
  /// How long to wait for the answer; asked twice, then the plain protocol is assumed.
  Milliseconds hello_timeout{500};
  /// How long the destructor lets queued messages leave; it waits 3 s more for a running handler.
  Milliseconds close_timeout{2000};
  /// Requests in flight at the same time, at most 65,534 (more is cut to that); one more fails with
  /// `Errc::too_many_requests`.
  std::size_t max_requests = 65'534;
  /// Threads to run on, shareable among clients and listeners; unset: one thread of its own.
  std::shared_ptr<IoThreads> io_threads;
};

/// Everything a listener can be told.
struct ListenerOptions {
  /// Number of I/O threads, unless `io_threads` is set. A session stays on one of them for life.
  std::size_t threads = 1;
  /// Pending connections the kernel keeps for us.
  int backlog = 1024;
  BatchOptions batch;
  QueueOptions queue;
  SocketOptions socket;
  /// Longest payload accepted from a client, at most `max_payload_size`.
  std::size_t max_message_size = max_payload_size;
  /// Answer our clients' hello. Off: behave as an original listener does.
  bool hello = true;
  /// Requests of one session that may wait for a deferred answer; beyond, its socket is not read.
  std::size_t max_deferred_replies = 65'536;
  /// Server-to-client requests in flight over all sessions.
  std::size_t max_requests = 65'534;
  /// How long a session whose peer half-closed may take to get rid of its last replies.
  Milliseconds linger_timeout{10'000};
  /// How long the destructor waits for running handlers and for queued bytes to leave.
  Milliseconds close_timeout{2000};
  /// How long accepting pauses when the process is out of descriptors.
  Milliseconds accept_pause{100};
  /// Threads to run on, shareable; unset: `threads` of its own.
  std::shared_ptr<IoThreads> io_threads;
};

}  // namespace ntcpmsg
