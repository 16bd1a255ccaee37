#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/event_slot.hpp"
#include "ntcpmsg/listener.hpp"
#include "policy/registry.hpp"
#include "session/request_table.hpp"
#include "session/session_owner.hpp"
#include "transport/acceptor.hpp"
#include "transport/handler_memory.hpp"

namespace ntcpmsg::detail {

/// The body of `Listener`: acceptors, and the owner of all their sessions.
class ListenerCore final : public SessionOwner,
                           public AcceptorEvents,
                           public std::enable_shared_from_this<ListenerCore> {
 public:
  explicit ListenerCore(ListenerOptions options);

  EventSlot<void(SessionHandle)> accepted;
  EventSlot<void(Message&)> received;
  EventSlot<void(const DisconnectedEvent&)> disconnected;
  EventSlot<void(const ErrorEvent&)> error;
  EventSlot<void(SessionHandle)> writable;

  std::vector<Endpoint> listen(const std::vector<Endpoint>& endpoints, error_code& ec);
  std::vector<Endpoint> local_endpoints() const;
  void close(Milliseconds timeout);
  Listener::DrainResult drain(Milliseconds timeout, error_code& ec);
  /// For the destructor of the face.
  void shut_down();

  std::size_t broadcast(std::uint32_t event, BytesView payload);
  const Registry& registry() const noexcept { return registry_; }
  Statistics statistics() const;

  void on_established(Session& session) override;
  std::size_t on_messages(Session& session, std::span<const Frame> frames) override;
  Hello on_hello(Session& session, const Hello& request) override;
  std::uint16_t on_cable_id_request(Session& session) override;
  void on_error(Session& session, error_code ec, std::string text) override;
  void on_writable(Session& session) override;
  void on_closed(Session& session, error_code reason) override;

  std::shared_ptr<IoThread> next_io_thread() override;
  void on_accepted(boost::asio::ip::tcp::socket socket,
                   std::shared_ptr<IoThread> io_thread) override;
  void on_accept_error(const Endpoint& local, error_code ec) override;

 private:
  void open_session(boost::asio::ip::tcp::socket socket,
                    const std::shared_ptr<IoThread>& io_thread);
  void stop_accepting();
  void close_sessions(CloseOptions options);
  /// An acceptor or session is gone; `counter` counts those left. What is returned must be let go
  /// of without the lock: it may be the last owner of this object.
  std::shared_ptr<ListenerCore> one_less(std::size_t& counter);
  /// Waits until every acceptor and session is gone and every thread has left its handlers.
  bool wait_quiet(TimePoint deadline);

  /// Has each I/O thread flush its sessions once, after any number of broadcasts.
  void flush_sessions_soon();
  void flush_sessions(std::size_t thread);

  template <typename Signature, typename... Args>
  void raise(const EventSlot<Signature>& slot, const Endpoint& remote, Args&&... args);
  void raise_error(const ErrorEvent& event);

  ListenerOptions options_;
  std::shared_ptr<IoThreads> io_threads_;
  std::shared_ptr<RequestTable> requests_;
  Registry registry_;
  std::vector<HandlerCache<void(Message&)>> received_caches_;
  /// By I/O thread: it was told to flush its sessions and has not begun yet.
  std::unique_ptr<std::atomic<bool>[]> flush_pending_;
  std::unique_ptr<HandlerMemory[]> flush_memory_;
  std::atomic<std::uint64_t> next_session_id_{1};
  std::atomic<std::uint64_t> sessions_total_{0};
  std::atomic<bool> closing_{false};
  std::atomic<bool> silenced_{false};

  mutable std::mutex mutex_;
  std::condition_variable quiet_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  std::size_t acceptors_open_ = 0;
  /// Sessions accepted and not yet ended.
  std::size_t sessions_open_ = 0;
  CloseOptions close_options_;
  Statistics ended_;
  Listener::DrainResult unfinished_;
  /// This object, when its face is gone and sessions still flush.
  std::shared_ptr<ListenerCore> until_quiet_;
};

}  // namespace ntcpmsg::detail
