#include "peers/raw_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bench {
namespace {

template <typename Result>
Result checked(Result result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  checked(::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1 ? 0 : -1, "address");
  return address;
}

RawSocket make_socket(const std::string& congestion) {
  RawSocket socket(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  if (!congestion.empty()) {
    checked(::setsockopt(socket.descriptor(),
                         IPPROTO_TCP,
                         TCP_CONGESTION,
                         congestion.data(),
                         static_cast<socklen_t>(congestion.size())),
            "congestion control");
  }
  return socket;
}

void set_no_delay(const RawSocket& socket) {
  const int on = 1;
  checked(::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "no delay");
}

}  // namespace

RawSocket::~RawSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RawSocket RawSocket::listening(const std::string& host, const std::string& congestion) {
  RawSocket socket = make_socket(congestion);
  const sockaddr_in address = address_of(host, 0);
  checked(::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
          "bind");
  checked(::listen(socket.descriptor(), 1024), "listen");
  return socket;
}

RawSocket RawSocket::connected(const std::string& host,
                               std::uint16_t port,
                               const std::string& congestion) {
  RawSocket socket = make_socket(congestion);
  const sockaddr_in address = address_of(host, port);
  checked(
      ::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
      "connect");
  set_no_delay(socket);
  return socket;
}

RawSocket RawSocket::accept() const {
  RawSocket socket(checked(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC), "accept"));
  set_no_delay(socket);
  return socket;
}

std::uint16_t RawSocket::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  checked(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size), "port");
  return ntohs(address.sin_port);
}

void RawSocket::send_all(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto count =
        checked(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL), "send");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::size_t RawSocket::receive(std::span<std::byte> into) const {
  return static_cast<std::size_t>(
      checked(::recv(descriptor_, into.data(), into.size(), 0), "receive"));
}

}  // namespace bench
