#pragma once

#include <string>

#include "ntcpmsg/message_client.hpp"

namespace ntcpmsg {

/// Names a sequence of messages that must stay in order on a cable, e.g. a customer's number.
struct OrderKey {
  std::uint64_t value = 0;
};

/// Several TCP connections to one server bound as one under a cable id that the listener gives, so
/// that no single TCP window limits the speed and one lost packet does not hold up all messages.
///
/// Connected as soon as one connection is up. A lost connection is re-established on its own while
/// others live; `on_disconnected` is raised once, when the last one is gone. Messages that were
/// queued on a lost connection and not begun to be written move to a living one.
///
/// Order: messages sent without a key are spread over the connections in whole batches and may
/// overtake each other. Messages with the same `OrderKey` stay on one connection and arrive in the
/// order of their calls as long as that connection lives; when it is lost they go on over another,
/// and those already written to the lost one may be missing. Requests use the connection with the
/// least to write and move to another when theirs is lost before they were written. Of three
/// connections or more one is left to requests, so that they never wait behind a bulk transfer.
class SingleConnectionCable : public MessageClient {
 public:
  /// `connections` is at least 1; see `SingleConnection` for the rest.
  SingleConnectionCable(std::string host,
                        std::uint16_t port,
                        std::size_t connections = 6,
                        ClientOptions options = {});
  explicit SingleConnectionCable(const Endpoint& endpoint,
                                 std::size_t connections = 6,
                                 ClientOptions options = {});
  ~SingleConnectionCable() = default;

  using MessageClient::async_send;
  /// Sends in order with the other messages of the same key.
  void async_send(std::uint32_t event, BytesView payload, OrderKey key);
  void async_send(std::uint32_t event, BytesView payload, OrderKey key, error_code& ec);

  /// How many connections are up now.
  std::size_t connections() const;
  std::size_t capacity() const;
  /// The id given by the listener, 0 while there is none.
  std::uint16_t cable_id() const;
};

}  // namespace ntcpmsg
