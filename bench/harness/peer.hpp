#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/work.hpp"
#include "test_support/latency_histogram.hpp"

namespace bench {

using test_support::LatencyHistogram;
/// Set by the harness when the time is up.
using Stop = std::atomic<bool>;

/// The server process of one peer (a library under test). The functions of a pattern that a peer
/// does not offer throw.
class ServerPeer {
 public:
  virtual ~ServerPeer() = default;

  /// Begins to accept clients and to serve them as `work.pattern` asks, in threads of its own: to
  /// count messages (one_way), to send every message back (the others), or to be published to
  /// (fan_out). Returns the port.
  virtual std::uint16_t listen(const Work& work) = 0;
  /// Messages received so far, of one_way and fan-in alike. Any thread.
  virtual std::uint64_t received() const { return 0; }
  /// fan_out: how many clients are connected and ready to be published to.
  virtual std::size_t clients() const { return 0; }
  /// fan_out: sends one message to each client; may wait, must not drop.
  virtual void publish(std::span<const std::byte> payload);
  /// CPU time of other processes that the peer needs (a broker).
  virtual double other_cpu_seconds() const { return 0; }
};

/// The client process of one peer. Functions run on the thread that calls them until `stop` and
/// throw on failure.
class ClientPeer {
 public:
  virtual ~ClientPeer() = default;

  /// Connects as `work` says; returns when all connections can be used.
  virtual void connect(const Work& work) = 0;

  /// one_way, beside_bulk: sends messages of `work.size` bytes; called by `work.threads` threads at
  /// once. Returns how many were accepted. Waits rather than drops when the peer is slower.
  virtual std::uint64_t send_until(const Stop& stop, std::size_t thread);
  /// one_way: what is buffered leaves now.
  virtual void flush() {}
  /// echo_blocking, beside_bulk: one request of `bytes`, waits for the answer.
  virtual void round_trip(std::span<const std::byte> bytes, std::size_t thread);
  /// echo_window: keeps the window of every connection full until `stop`, waits for what is in
  /// flight. Returns the round trips; records the time of some of them (every 64th or so).
  virtual std::uint64_t echo_until(const Stop& stop, LatencyHistogram& latency);
  /// fan_out: messages that all clients of this process have received. Any thread.
  virtual std::uint64_t delivered() const { return 0; }
};

struct PeerFactory {
  std::string name;
  std::function<std::unique_ptr<ServerPeer>()> server;
  std::function<std::unique_ptr<ClientPeer>()> client;
};

/// The main function of a peer's program.
///
///     PROGRAM server --pattern one-way --size 4 ...
///         prints "PORT CONTROL_PORT" when it listens; ends when the client is gone
///     PROGRAM client --port PORT --control-port CONTROL_PORT --pattern one-way --size 4 ...
///         prints the result as one JSON object
int bench_main(int argc, const char* const* argv, const PeerFactory& peer);

/// Payload bytes of a message, the same for every peer.
std::vector<std::byte> make_payload(std::size_t size);

}  // namespace bench
