#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "harness/peer.hpp"
#include "peers/raw_socket.hpp"

namespace bench {

inline void check_reply(std::size_t size, std::size_t wanted) {
  if (size != wanted) {
    throw std::runtime_error("a reply of " + std::to_string(size) + " bytes instead of " +
                             std::to_string(wanted));
  }
}

/// For libraries that cannot tell which port the system chose.
inline std::uint16_t find_free_port(const std::string& host) {
  return RawSocket::listening(host, "").port();
}

inline std::string tcp_url(const std::string& host, std::uint16_t port) {
  return "tcp://" + host + ":" + std::to_string(port);
}

template <typename Server, typename Client>
int peer_main(int argc, const char* const* argv, const char* name) {
  return bench_main(
      argc,
      argv,
      {name, [] { return std::make_unique<Server>(); }, [] { return std::make_unique<Client>(); }});
}

}  // namespace bench
