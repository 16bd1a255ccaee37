#include "ntcpmsg/endpoint.hpp"

#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "ntcpmsg/error.hpp"

namespace ntcpmsg {
namespace {

[[noreturn]] void reject(std::string_view text) {
  throw system_error(Errc::invalid_argument,
                     "\"" + std::string(text) + "\" is not HOST:PORT or [IPv6]:PORT");
}

std::uint16_t parse_port(std::string_view digits, std::string_view whole) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size()) reject(whole);
  return port;
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

HostPort parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) reject(text);
  std::string_view host = text.substr(0, colon);
  const std::uint16_t port = parse_port(text.substr(colon + 1), text);
  if (host.empty()) return {"0.0.0.0", port};
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') reject(text);
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) reject(text);
  } else if (host.find(':') != std::string_view::npos) {
    reject(text);
  }
  return {std::string(host), port};
}

Endpoint parse_endpoint(std::string_view text) {
  const HostPort parts = parse_host_port(text);
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(parts.host, ec);
  if (ec) reject(text);
  return {address, parts.port};
}

}  // namespace ntcpmsg
