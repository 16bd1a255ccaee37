#pragma once

#include <string>

#include "ntcpmsg/message_client.hpp"

namespace ntcpmsg {

/// One TCP connection to an NTCPMSG server. See `MessageClient` for what it can do.
///
///     ntcpmsg::SingleConnection connection("127.0.0.1", 2500);
///     connection.on_received([](ntcpmsg::Message& m) { std::cout << m.text() << '\n'; });
///     connection.connect();
///     connection.async_send(10, ntcpmsg::as_bytes("hello"));
///     auto reply = connection.sync_send(11, ntcpmsg::as_bytes("question"));
class SingleConnection : public MessageClient {
 public:
  /// `host` is a name or an IPv4 or IPv6 literal; every address of a name is tried. Does not
  /// connect yet. Throws `system_error` with `Errc::invalid_argument` for impossible options.
  SingleConnection(std::string host, std::uint16_t port, ClientOptions options = {});
  explicit SingleConnection(const Endpoint& endpoint, ClientOptions options = {});
  /// Closes as `close(options.close_timeout)` does; from inside a handler of its own it returns at
  /// once and no further handler is called.
  ~SingleConnection() = default;
};

}  // namespace ntcpmsg
