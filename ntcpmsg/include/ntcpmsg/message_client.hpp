#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/error_event.hpp"
#include "ntcpmsg/message.hpp"
#include "ntcpmsg/options.hpp"
#include "ntcpmsg/plain_reply.hpp"
#include "ntcpmsg/statistics.hpp"

namespace ntcpmsg {

namespace detail {
class ClientCore;
}

/// Where a client is in its life.
enum class ConnectionState {
  /// Not connected and not trying: the start, after `disconnect`, or after a loss without
  /// automatic reconnect.
  disconnected,
  resolving,
  connecting,
  /// The transport is connected and the peer is asked for extensions (and for the cable's id).
  negotiating,
  connected,
  /// Waiting before the next attempt of automatic reconnect.
  waiting_to_retry,
  /// `close` was called; the object cannot be used again.
  closed,
};

const char* to_string(ConnectionState state) noexcept;

/// What `SingleConnection` and `SingleConnectionCable` have in common: a client of one server that
/// sends messages, makes requests and receives pushes.
///
/// Thread-safety: every member function may be called from any thread at any time, also from
/// inside any handler; only destruction must not run at the same time as another call.
/// Handlers run on the client's I/O thread, one at a time for one connection, never while the
/// library holds a lock. A handler may send, close, disconnect, throw (the error event tells),
/// replace handlers, and destroy the client. Blocking calls inside a handler fail with
/// `Errc::would_deadlock`; sends there never wait, they fail with `Errc::would_block`.
///
/// Every operation has a form that throws `system_error` and one that sets an `error_code`;
/// asynchronous ones take a completion token as Asio's do.
class MessageClient {
 public:
  using Handler = boost::asio::any_completion_handler<void(error_code)>;
  using ReplyHandler = boost::asio::any_completion_handler<void(error_code, Bytes)>;

  MessageClient(const MessageClient&) = delete;
  MessageClient& operator=(const MessageClient&) = delete;

  /// Raised when the connection is up, at every reconnect too.
  void on_connected(std::function<void()> handler);
  /// Raised for every message the server pushes, and for its requests (`Message::wants_reply`).
  void on_received(std::function<void(Message&)> handler);
  /// Raised once when an established connection ends, with the reason: `Errc::end_of_stream`,
  /// `Errc::closed_by_user`, `Errc::protocol_violation`, or an error of the system.
  void on_disconnected(std::function<void(error_code)> handler);
  /// Raised for failures that belong to no call: protocol violations, exceptions of handlers,
  /// messages that could not leave.
  void on_error(std::function<void(const ErrorEvent&)> handler);
  /// Raised when the outbound queue has room again after a send failed with `Errc::would_block`.
  void on_writable(std::function<void()> handler);

  /// Connects and waits until connected, up to `timeout`. Does nothing when connected already.
  /// With automatic reconnect a failed attempt is repeated until the timeout, and goes on behind
  /// it: the server may start later. Without, the error of the last attempt is reported.
  /// Errors: `Errc::timed_out`, `Errc::closed`, `Errc::would_deadlock`, errors of the resolver and
  /// of the system.
  void connect(Milliseconds timeout = std::chrono::seconds(30));
  void connect(Milliseconds timeout, error_code& ec);

  /// Starts connecting and returns at once; `on_connected` and `state` tell how it goes.
  void start();

  /// As `connect`, completing with `void(error_code)`. All cancellation types are accepted: they
  /// end the wait, not the attempt.
  template <typename CompletionToken>
  auto async_connect(Milliseconds timeout, CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(error_code)>(
        [this](auto handler, Milliseconds limit) { start_connect(limit, std::move(handler)); },
        token,
        timeout);
  }

  /// Cuts the connection and stops reconnecting; inside a handler, when that has returned. Messages
  /// still queued are reported by the error event `Errc::messages_unsent`. May be followed by
  /// `connect`.
  void disconnect();

  /// Lets queued messages leave for up to `timeout`, then closes for good and waits up to 1 s more
  /// for a handler that runs. Returns how many messages could not leave. Called inside a handler of
  /// this client it only starts closing, and returns 0.
  std::size_t close(Milliseconds timeout = std::chrono::seconds(5));

  /// Appends a message to the outbound queue; it is on its way when the call returns, not arrived.
  /// Messages of one thread over one connection arrive in the order of their calls.
  /// Errors: `Errc::message_too_large`, `Errc::not_connected`, `Errc::would_block`,
  /// `Errc::closed`.
  void async_send(std::uint32_t event, BytesView payload);
  void async_send(std::uint32_t event, BytesView payload, error_code& ec);

  /// Sends a request and waits for its reply. Any number of threads may do so at once.
  /// Errors: those of `async_send`, `Errc::timed_out`, `Errc::disconnected` (the connection was
  /// lost; the server may or may not have handled it), `Errc::remote_error`,
  /// `Errc::too_many_requests`, `Errc::would_deadlock`. A late reply is dropped.
  Bytes sync_send(std::uint32_t event,
                  BytesView payload,
                  Milliseconds timeout = std::chrono::seconds(30));
  Bytes sync_send(std::uint32_t event, BytesView payload, Milliseconds timeout, error_code& ec);
  /// The same with the reply in the caller's own buffer: nothing is allocated once it is large
  /// enough. On `Errc::remote_error` it holds the peer's text. Must not be the payload's memory.
  void sync_send(std::uint32_t event,
                 BytesView payload,
                 Bytes& reply,
                 Milliseconds timeout = std::chrono::seconds(30));
  void sync_send(std::uint32_t event,
                 BytesView payload,
                 Bytes& reply,
                 Milliseconds timeout,
                 error_code& ec);

  /// As `sync_send`, completing with `void(error_code, Reply)`. The payload is copied before the
  /// call returns. Never waits for room in the queue. Cancellation (terminal, partial, total)
  /// completes with `operation_aborted`; a request already written may still be handled.
  ///
  /// `Reply` is `Bytes`, or `BytesView` for a view into the read buffer that is valid until the
  /// handler returns: with a plain callback as the token nothing is allocated then. The view needs
  /// a handler that runs on the client's own I/O thread, i.e. one without an executor.
  template <typename Reply = Bytes, typename CompletionToken>
  requires std::same_as<Reply, Bytes> || std::same_as<Reply, BytesView>
  auto async_request(std::uint32_t event,
                     BytesView payload,
                     Milliseconds timeout,
                     CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(error_code, Reply)>(
        [this](auto handler, std::uint32_t number, BytesView bytes, Milliseconds limit) {
          using ActualHandler = decltype(handler);
          constexpr bool plain = detail::is_plain_handler<ActualHandler>;
          static_assert(plain || std::same_as<Reply, Bytes>,
                        "a view of the reply is for handlers without an executor");
          if constexpr (plain) {
            using PlainReply = detail::PlainReply<Reply, ActualHandler>;
            detail::ReplyCompletion completion(
                std::in_place_type<PlainReply>, *core_, std::move(handler));
            start_request(number, bytes, limit, std::move(completion));
          } else {
            start_request(number, bytes, limit, ReplyHandler(std::move(handler)));
          }
        },
        token,
        event,
        payload,
        timeout);
  }

  /// Completes with `void(error_code)` when the queue is at most half full, or with
  /// `Errc::not_connected` or `Errc::closed`. A message larger than half of the high-water mark may
  /// still find no room then.
  template <typename CompletionToken>
  auto async_wait_writable(CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(error_code)>(
        [this](auto handler) { start_wait_writable(std::move(handler)); }, token);
  }

  /// Waits until everything queued was written to the socket, up to `timeout`.
  /// Errors: `Errc::timed_out`, `Errc::disconnected`, `Errc::would_deadlock`.
  void flush(Milliseconds timeout = std::chrono::seconds(30));
  void flush(Milliseconds timeout, error_code& ec);

  ConnectionState state() const;
  bool connected() const { return state() == ConnectionState::connected; }
  /// Why the last attempt failed or the last connection ended; no error before the first failure.
  error_code last_error() const;
  /// Default-constructed while not connected.
  Endpoint remote_endpoint() const;
  Endpoint local_endpoint() const;
  Statistics statistics() const;

 protected:
  explicit MessageClient(std::shared_ptr<detail::ClientCore> core);
  ~MessageClient();

  detail::ClientCore& core() const noexcept { return *core_; }

 private:
  void start_connect(Milliseconds timeout, Handler handler);
  void start_request(std::uint32_t event,
                     BytesView payload,
                     Milliseconds timeout,
                     ReplyHandler handler);
  void start_request(std::uint32_t event,
                     BytesView payload,
                     Milliseconds timeout,
                     detail::ReplyCompletion&& completion);
  void start_wait_writable(Handler handler);

  std::shared_ptr<detail::ClientCore> core_;
};

}  // namespace ntcpmsg
