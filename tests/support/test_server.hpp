#pragma once

#include <functional>
#include <string>
#include <utility>

#include "ntcpmsg/ntcpmsg.hpp"
#include "scripted_peer.hpp"
#include "waiting.hpp"

namespace ntcpmsg::test {

/// What `TestServer` does with a message is told by its event.
namespace event {
inline constexpr std::uint32_t note = 10;
inline constexpr std::uint32_t echo = 11;
/// The handler returns without an answer.
inline constexpr std::uint32_t nothing = 12;
inline constexpr std::uint32_t fail = 13;
/// The responder is kept in `TestServer::held`.
inline constexpr std::uint32_t hold = 14;
/// The responder is dropped.
inline constexpr std::uint32_t drop = 15;
}  // namespace event

/// A message that was received.
struct Received {
  std::uint32_t event = 0;
  std::string text;
  std::uint16_t cable_id = 0;
  std::uint64_t session = 0;
};

inline Received note_of(const Message& message) {
  return {message.event(), std::string(message.text()), message.cable_id(), message.session().id()};
}

/// A listener on a port of loopback that keeps a log of everything.
class TestServer {
 public:
  explicit TestServer(ListenerOptions options = {}, const Endpoint& local = any_port())
      : listener(std::move(options)) {
    listener.on_accepted([this](SessionHandle session) { accepted.add(std::move(session)); });
    listener.on_disconnected([this](const DisconnectedEvent& e) { disconnected.add(e); });
    listener.on_error([this](const ErrorEvent& e) { errors.add(e); });
    listener.on_received([this](Message& message) { handle(message); });
    endpoint = listener.listen(local);
  }

  EventLog<SessionHandle> accepted;
  EventLog<DisconnectedEvent> disconnected;
  EventLog<ErrorEvent> errors;
  EventLog<Received> received;
  EventLog<Responder> held;
  Endpoint endpoint;
  Listener listener;

 private:
  void handle(Message& message) {
    received.add(note_of(message));
    switch (message.event()) {
      case event::echo:
        if (message.wants_reply()) message.reply(message.payload());
        return;
      case event::fail: throw std::runtime_error("no such id");
      case event::hold: held.add(message.take_responder()); return;
      case event::drop: message.take_responder(); return;
      default: return;
    }
  }
};

/// What a client told by its events. Must outlive the client.
struct ClientLog {
  EventLog<bool> connected;
  EventLog<error_code> disconnected;
  EventLog<ErrorEvent> errors;
  EventLog<Received> received;
  EventLog<bool> writable;

  void watch(MessageClient& client) {
    client.on_connected([this] { connected.add(true); });
    client.on_disconnected([this](error_code reason) { disconnected.add(reason); });
    client.on_error([this](const ErrorEvent& e) { errors.add(e); });
    client.on_received([this](Message& message) { received.add(note_of(message)); });
    client.on_writable([this] { writable.add(true); });
  }
};

/// Does not wait long for a peer that owes something when the client is destroyed.
inline ClientOptions closing_soon(ClientOptions options = {}) {
  options.close_timeout = 50ms;
  return options;
}

/// Reconnects at once, as far as a back-off goes.
inline ClientOptions reconnecting() {
  ClientOptions options = closing_soon();
  options.reconnect = {.enabled = true, .base = 1ms, .cap = 10ms, .stable_after = 0ms, .seed = 1};
  return options;
}

/// Refuses messages that find no room, of which there is little.
inline ClientOptions small_queue() {
  ClientOptions options = closing_soon();
  options.queue = {.high_water_mark = 256 * 1024, .when_full = OverflowPolicy::fail};
  return options;
}

/// Sends until the queue is full; returns how many messages were accepted.
inline std::size_t send_until_refused(MessageClient& client, BytesView payload) {
  std::size_t accepted = 0;
  for (error_code ec; !ec;) {
    client.async_send(event::note, payload, ec);
    if (!ec) ++accepted;
  }
  return accepted;
}

/// The same until the queue stays full, since the kernel takes no more for a peer that does not
/// read.
inline std::size_t fill_queue(MessageClient& client, BytesView payload) {
  std::size_t accepted = 0;
  for (bool drained = true; drained;) {
    accepted += send_until_refused(client, payload);
    const std::uint64_t queued = client.statistics().bytes_queued;
    drained = wait_until([&] { return client.statistics().bytes_queued < queued; }, 50ms);
  }
  return accepted;
}

/// `size` bytes that tell their own order.
inline Bytes pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 % 251);
  return bytes;
}

}  // namespace ntcpmsg::test
