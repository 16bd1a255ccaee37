#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

/// What is measured. In all but `fan_out` the client process is the one that starts messages.
enum class Pattern {
  /// Messages from client to server, counted there.
  one_way,
  /// `threads` threads that share one connection, each with one request in flight.
  echo_blocking,
  /// `connections` connections with `window` requests in flight each, from callbacks.
  echo_window,
  /// Messages from server to each of `connections` clients, at most `window` in flight.
  fan_out,
  /// A request every `pace` while another thread sends `size` bytes messages one way.
  beside_bulk,
};

/// One measurement, the same for every peer.
struct Work {
  Pattern pattern = Pattern::one_way;
  /// Bytes of a message's payload.
  std::size_t size = 4;
  std::size_t threads = 1;
  std::size_t connections = 1;
  /// Connections bound as one (a cable); 0: a single connection. Only ours knows this.
  std::size_t links = 0;
  std::size_t window = 256;
  std::chrono::duration<double> seconds{0.5};
  std::chrono::duration<double> warm_up{0.1};
  std::chrono::microseconds pace{1000};
  /// Congestion control of every socket a peer lets us set it for; empty: the system's.
  std::string congestion = "cubic";
  /// Where the server listens and the client connects to.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

/// Bytes of the requests of `Pattern::beside_bulk`.
inline constexpr std::size_t small_size = 64;

}  // namespace bench
