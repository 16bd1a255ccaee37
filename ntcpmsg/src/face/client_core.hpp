#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/event_slot.hpp"
#include "face/async_operation.hpp"
#include "face/blocking_reply.hpp"
#include "ntcpmsg/message_client.hpp"
#include "ntcpmsg/single_connection_cable.hpp"
#include "policy/cable_machine.hpp"
#include "policy/client_link.hpp"
#include "policy/distribution.hpp"
#include "transport/handler_memory.hpp"

namespace ntcpmsg::detail {

/// The body of `SingleConnection` (one link, no cable) and `SingleConnectionCable`. All links live
/// on one I/O thread, which alone changes their state; senders on any thread meet them only in
/// their queues.
class ClientCore final : public LinkOwner, public std::enable_shared_from_this<ClientCore> {
 public:
  using Handler = MessageClient::Handler;
  using ReplyHandler = MessageClient::ReplyHandler;

  ClientCore(const ClientLink::Target& target,
             ClientOptions options,
             std::size_t links,
             bool is_cable);

  EventSlot<void()> connected;
  EventSlot<void(Message&)> received;
  EventSlot<void(error_code)> disconnected;
  EventSlot<void(const ErrorEvent&)> error;
  EventSlot<void()> writable;

  void start();
  error_code connect(Milliseconds timeout);
  void async_connect(Milliseconds timeout, Handler handler);
  void disconnect();
  std::size_t close(Milliseconds timeout);
  /// For the destructor of the face.
  void shut_down();

  /// Sends a message that needs nobody to act, as most in a burst; false when it has to go by
  /// `send`. Apart, because handing an error code through costs as much as the rest.
  [[gnu::always_inline]] bool send_in_burst(std::uint32_t event, BytesView payload) {
    return only_queue_ != nullptr && only_queue_->append_in_burst({.event = event}, payload);
  }
  error_code send(std::uint32_t event, BytesView payload);
  error_code send(std::uint32_t event, BytesView payload, OrderKey key);
  /// On `Errc::remote_error` the reply is the peer's text.
  error_code request(std::uint32_t event, BytesView payload, Milliseconds timeout, Bytes& reply);
  void async_request(std::uint32_t event,
                     BytesView payload,
                     Milliseconds timeout,
                     ReplyHandler handler);
  /// The channel the request has, 0 when it failed already.
  std::uint32_t start_request(std::uint32_t event,
                              BytesView payload,
                              Milliseconds timeout,
                              ReplyCompletion&& completion);
  void async_wait_writable(Handler handler);
  error_code flush(Milliseconds timeout);

  ConnectionState state() const noexcept { return state_.load(std::memory_order_acquire); }
  error_code last_error() const;
  Endpoint remote_endpoint() const;
  Endpoint local_endpoint() const;
  Statistics statistics() const;
  std::size_t links_up() const noexcept { return distribution_.up_count(); }
  std::size_t links() const noexcept { return links_.size(); }
  std::uint16_t cable_id() const noexcept { return cable_id_.load(std::memory_order_acquire); }

  Hello link_hello(ClientLink& link) override;
  bool link_says_hello(ClientLink& link) override;
  void on_link_state(ClientLink& link, error_code ec) override;
  void on_link_established(ClientLink& link, Session& session) override;
  std::size_t on_link_messages(ClientLink& link,
                               Session& session,
                               std::span<const Frame> frames) override;
  void on_link_writable(ClientLink& link) override;
  void on_link_error(ClientLink& link, error_code ec, std::string text) override;
  void on_link_lost(ClientLink& link, Session& session, error_code reason) override;

  /// Runs `step(*this)` on the I/O thread, not inside this call.
  template <typename Step>
  void post(Step step);
  /// Raises the error event for what a handler threw.
  void report_exception(const std::exception_ptr& thrown);

 private:
  using Operation = AsyncOperation<error_code>;

  /// Somebody who waits for the connection to be up.
  struct ConnectWaiter {
    std::uint64_t number;
    Operation operation;
    boost::asio::steady_timer timer;
  };
  using ConnectWaiters = std::list<ConnectWaiter>;

  AsyncOperation<error_code>::OnThrow exception_reporter();

  void begin_connect();
  void wait_for_connection(Operation operation, Milliseconds timeout);
  void give_up_waiting(std::uint64_t number, error_code reason);
  void complete_waiters(error_code ec);
  void stop_links(error_code reason);
  void begin_close(TimePoint deadline);
  /// Waits until every link has written what it has: while they all live, one can still take what
  /// another is lost with.
  void continue_close();
  void say_goodbye();
  void finish_close();
  void let_go_of_threads();

  void link_ready(ClientLink& link, Session& session);
  void request_cable_id(ClientLink& link);
  void on_cable_id(std::size_t link, BytesView payload, error_code ec);
  void settle(Leftover leftover, ClientLink& lost, std::optional<std::size_t> heir);
  /// The requests among these frames travel with them.
  void move_requests(const Leftover& leftover, RequestTable::Link link);
  void move_frames(Leftover leftover, ClientLink& to);
  void keep_for_later(Leftover leftover, ClientLink& lost);
  void report_unsent(const Leftover& leftover);
  void fail_requests(ClientLink& link, error_code reason);
  void update_state(error_code ec);
  ConnectionState derive_state() const noexcept;
  void remember_endpoints(const Session* session);

  AppendOptions append_options() const noexcept;
  FrameHeader message_header(std::uint32_t event) const noexcept;
  error_code spread(const FrameHeader& header, BytesView payload);
  error_code send_offline(const FrameHeader& header, BytesView payload);
  std::size_t link_for_request() const noexcept;
  /// Moves the request into the table and the queue; returns its channel. `completion` is left
  /// alone on an error with channel 0. `ec` is only set on an error.
  std::uint32_t send_request(ReplyCompletion& completion,
                             std::uint32_t event,
                             BytesView payload,
                             TimePoint table_deadline,
                             const AppendOptions& options,
                             error_code& ec);
  /// The link of a cable was lost between being chosen and taking the request.
  bool try_another_link(error_code ec, std::size_t tries) const noexcept;
  void watch_deadline(TimePoint deadline);
  void arm_request_timer();
  void on_request_timer();
  void cancel_request(std::uint32_t channel);
  void complete_writable_waiters(error_code ec);

  template <typename Signature, typename... Args>
  void raise(const EventSlot<Signature>& slot, Args&&... args);
  void raise_error(const ErrorEvent& event);
  void report_exception(std::string text);

  ClientOptions options_;
  bool is_cable_;
  std::shared_ptr<IoThreads> io_threads_;
  std::shared_ptr<IoThread> io_thread_;
  HandlerMemory handler_memory_;
  std::shared_ptr<RequestTable> requests_;
  std::vector<std::unique_ptr<ClientLink>> links_;
  /// The queue of the only link; null for a cable.
  SendQueue* only_queue_ = nullptr;
  Distribution distribution_;
  CableMachine cable_;
  HandlerCache<void(Message&)> received_cache_;

  /// Callers of `request` that wait.
  std::atomic<std::size_t> blocked_callers_{0};
  std::atomic<ConnectionState> state_{ConnectionState::disconnected};
  std::atomic<std::uint16_t> cable_id_{0};
  /// No handler is called any more.
  std::atomic<bool> silenced_{false};

  // I/O thread only.
  bool wanted_ = false;
  bool closing_ = false;
  bool closed_ = false;
  TimePoint close_deadline_ = TimePoint::max();
  std::size_t unsent_at_close_ = 0;
  ConnectWaiters connect_waiters_;
  std::uint64_t next_waiter_ = 0;
  std::vector<std::function<void(std::size_t)>> close_waiters_;
  std::vector<Operation> writable_waiters_;
  boost::asio::steady_timer request_timer_;
  boost::asio::steady_timer close_timer_;

  /// When the request timer fires, as a count of the clock; `never` when it is not set.
  std::atomic<Clock::rep> request_timer_at_;

  mutable std::mutex mutex_;
  error_code last_error_;
  Endpoint remote_;
  Endpoint local_;
};

/// Checks the options and makes a core.
std::shared_ptr<ClientCore> make_client_core(const ClientLink::Target& target,
                                             ClientOptions options,
                                             std::size_t links,
                                             bool is_cable);

}  // namespace ntcpmsg::detail
