#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

namespace ntcpmsg {

/// Address and port of one side of a connection, IPv4 or IPv6.
using Endpoint = boost::asio::ip::tcp::endpoint;

/// "127.0.0.1:2500" or "[::1]:2500".
std::string to_string(const Endpoint& endpoint);

/// A host (name or address literal) and a port, not resolved yet.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

/// Parses "HOST:PORT", "[IPv6]:PORT" or ":PORT" (all IPv4 addresses).
/// Throws `system_error` with `Errc::invalid_argument` when the text has another form.
HostPort parse_host_port(std::string_view text);

/// Parses a literal address with port. Throws like `parse_host_port`, also for host names.
Endpoint parse_endpoint(std::string_view text);

}  // namespace ntcpmsg
