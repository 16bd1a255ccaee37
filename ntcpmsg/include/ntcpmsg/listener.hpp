#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/error_event.hpp"
#include "ntcpmsg/message.hpp"
#include "ntcpmsg/options.hpp"
#include "ntcpmsg/session_handle.hpp"
#include "ntcpmsg/statistics.hpp"

namespace ntcpmsg {

namespace detail {
class ListenerCore;
}

/// A session that ended.
struct DisconnectedEvent {
  SessionHandle session;
  Endpoint remote_endpoint;
  /// The cable it was bound to, 0 for none.
  std::uint16_t cable_id = 0;
  /// `Errc::end_of_stream` when the peer closed in an orderly way; else why.
  error_code reason;
};

/// Server side: accepts connections on one or several endpoints, receives, answers and pushes.
///
/// Thread-safety: every member function may be called from any thread at any time, also inside
/// handlers; only destruction must not run at the same time as another call. The handlers of one
/// session run on one I/O thread, one after the other; those of different sessions run side by
/// side when there are several threads. No lock is held while a handler runs. A handler may send,
/// close, destroy the listener and throw (see the error event).
class Listener {
 public:
  explicit Listener(ListenerOptions options = {});
  /// Closes as `close(options.close_timeout)` does. Inside a handler of its own it returns at once
  /// and no further handler is called.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void on_accepted(std::function<void(SessionHandle)> handler);
  /// Raised for every message of every client. A request is answered by `Message::reply`, later
  /// through `Message::take_responder`, or with an empty reply when the handler does neither.
  /// Requests of one connection that are answered inside the handler are answered in order.
  void on_received(std::function<void(Message&)> handler);
  void on_disconnected(std::function<void(const DisconnectedEvent&)> handler);
  void on_error(std::function<void(const ErrorEvent&)> handler);
  /// Raised when a session's queue is at most half full after a push to it failed with
  /// `Errc::would_block`.
  void on_writable(std::function<void(SessionHandle)> handler);

  /// Starts accepting. Port 0 lets the system choose; see `local_endpoints`. May be called again
  /// for further endpoints. An IPv6 endpoint accepts IPv6 only, so that both families can use one
  /// port. Errors: those of the system (e.g. address in use), `Errc::closed`. When one endpoint
  /// fails, none of the call's is kept.
  /// Returns the endpoints listened on, with real ports, in the order given.
  std::vector<Endpoint> listen(const std::vector<Endpoint>& endpoints);
  std::vector<Endpoint> listen(const std::vector<Endpoint>& endpoints, error_code& ec);
  Endpoint listen(const Endpoint& endpoint);
  Endpoint listen(const Endpoint& endpoint, error_code& ec);
  /// All endpoints listened on.
  std::vector<Endpoint> local_endpoints() const;

  /// Stops accepting and cuts all sessions after letting queued bytes leave for up to `timeout`.
  /// Waits until no handler runs any more. Inside a handler it only starts closing.
  void close(Milliseconds timeout = std::chrono::seconds(2));

  /// What `drain` could not finish in time.
  struct DrainResult {
    /// Sessions cut at the deadline.
    std::size_t sessions = 0;
    /// Messages that were queued for them and could not leave.
    std::size_t messages_unsent = 0;
    /// Requests whose deferred answer was still owed.
    std::size_t replies_owed = 0;
  };
  /// Stops accepting, handles what was received (up to the first moment a client's socket has
  /// nothing more to read), waits for deferred replies, lets all queued messages leave, and closes;
  /// cuts what is left after `timeout`. The listener is closed then; `statistics` stays valid.
  /// Inside a handler it fails with `Errc::would_deadlock`.
  DrainResult drain(Milliseconds timeout);
  DrainResult drain(Milliseconds timeout, error_code& ec);

  /// Sends a message to the client with this endpoint. Errors: `Errc::unknown_peer`,
  /// `Errc::message_too_large`, `Errc::would_block`.
  void push(const Endpoint& remote, std::uint32_t event, BytesView payload);
  void push(const Endpoint& remote, std::uint32_t event, BytesView payload, error_code& ec);
  /// Sends a message to a cable, always over the same connection of it as long as that lives.
  void push(std::uint16_t cable_id, std::uint32_t event, BytesView payload);
  void push(std::uint16_t cable_id, std::uint32_t event, BytesView payload, error_code& ec);
  /// Sends to every client: once to each connection without a cable and once to each cable (a
  /// connection just accepted has not told yet that it belongs to one, and is sent to as well).
  /// Never waits: a client whose queue is full is passed over (`on_writable` tells when it has room
  /// again). Returns for how many clients it was queued.
  std::size_t broadcast(std::uint32_t event, BytesView payload);

  std::vector<SessionHandle> sessions() const;
  std::vector<Endpoint> remote_endpoints() const;
  std::vector<std::uint16_t> cable_ids() const;
  Statistics statistics() const;

 private:
  std::shared_ptr<detail::ListenerCore> core_;
};

}  // namespace ntcpmsg
