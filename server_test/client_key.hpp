#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <ntcpmsg/endpoint.hpp>
#include <ntcpmsg/message.hpp>

namespace server_test {

/// Names a client over the messages of all its connections: the cable's id, or the endpoint of a
/// connection without a cable.
struct ClientKey {
  std::uint16_t cable_id = 0;
  /// Default-constructed for a cable.
  ntcpmsg::Endpoint endpoint;

  static ClientKey of(const ntcpmsg::Message& message) {
    return of(message.cable_id(), message.remote_endpoint());
  }

  static ClientKey of(std::uint16_t cable_id, const ntcpmsg::Endpoint& endpoint) {
    if (cable_id != 0) return {cable_id, {}};
    return {0, endpoint};
  }

  /// True when the message is of this client. On the path of every message.
  bool owns(const ntcpmsg::Message& message) const noexcept {
    const std::uint16_t cable = message.cable_id();
    if (cable != cable_id) return false;
    return cable != 0 || same_endpoint(endpoint, message.remote_endpoint());
  }

  friend bool operator==(const ClientKey& a, const ClientKey& b) {
    return a.cable_id == b.cable_id && a.endpoint == b.endpoint;
  }

 private:
  static bool same_endpoint(const ntcpmsg::Endpoint& a, const ntcpmsg::Endpoint& b) noexcept {
    // The comparison of Asio takes both addresses apart first.
    if (a.size() == sizeof(sockaddr_in) && b.size() == sizeof(sockaddr_in) &&
        std::memcmp(a.data(), b.data(), sizeof(sockaddr_in)) == 0) {
      return true;
    }
    return a == b;
  }
};

struct ClientKeyHash {
  std::size_t operator()(const ClientKey& key) const;
};

}  // namespace server_test
