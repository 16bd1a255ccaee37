#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ntcpmsg/options.hpp"
#include "policy/reconnect_machine.hpp"
#include "session/session.hpp"

namespace ntcpmsg::detail {

class ClientLink;

/// Whom a link tells what happens to it. I/O thread only.
class LinkOwner {
 public:
  /// What the hello of the next session says besides features and limits.
  virtual Hello link_hello(ClientLink& link) = 0;
  /// Ask for extensions at all?
  virtual bool link_says_hello(ClientLink& link) = 0;
  /// The state changed; `ec` tells why when something failed.
  virtual void on_link_state(ClientLink& link, error_code ec) = 0;
  virtual void on_link_established(ClientLink& link, Session& session) = 0;
  /// As `SessionOwner::on_messages`.
  virtual std::size_t on_link_messages(ClientLink& link,
                                       Session& session,
                                       std::span<const Frame> frames) = 0;
  virtual void on_link_writable(ClientLink& link) = 0;
  virtual void on_link_error(ClientLink& link, error_code ec, std::string text) = 0;
  /// An established session ended. The link tries again, or not, when this returns.
  virtual void on_link_lost(ClientLink& link, Session& session, error_code reason) = 0;

 protected:
  ~LinkOwner() = default;
};

/// One connection of a client: a session, and the machine that makes it again. Lives inside its
/// owner and on one I/O thread; only `queue` and `add_to` are for
/// any thread.
class ClientLink final : public SessionOwner {
 public:
  struct Target {
    std::string host;
    std::uint16_t port = 0;
  };

  ClientLink(std::size_t index,
             Target target,
             const ClientOptions& options,
             std::uint64_t seed,
             std::shared_ptr<IoThread> io_thread,
             std::shared_ptr<RequestTable> requests,
             LinkOwner& owner);

  /// `keep_alive` owns this link; operations in flight hold it.
  void start(const std::shared_ptr<void>& keep_alive);
  /// Ends attempts and waits; cuts the session, if there is one.
  void stop(error_code reason);
  /// Lets the session leave in good order; ends everything else.
  void close(TimePoint deadline);
  /// Ends the session and tries again.
  void restart(error_code reason);

  std::size_t index() const noexcept { return index_; }
  /// The request table knows requests of this link by this number.
  RequestTable::Link tag() const noexcept { return index_ + 1; }
  SendQueue& queue() const noexcept { return *queue_; }
  ReconnectMachine::State state() const noexcept { return machine_.state(); }
  /// Null while there is none.
  const std::shared_ptr<Session>& session() const noexcept { return session_; }
  void add_to(Statistics& total) const;

  void on_established(Session& session) override;
  std::size_t on_messages(Session& session, std::span<const Frame> frames) override;
  Hello on_hello(Session& session, const Hello& request) override;
  std::uint16_t on_cable_id_request(Session& session) override;
  void on_error(Session& session, error_code ec, std::string text) override;
  void on_writable(Session& session) override;
  void on_closed(Session& session, error_code reason) override;

 private:
  using Tcp = boost::asio::ip::tcp;

  void carry_out(const ReconnectMachine::Action& action, error_code ec);
  void resolve();
  void connect(std::size_t address);
  void open_session();
  void wait(Milliseconds duration);
  /// While nobody listens on a port of this machine's own range, TCP may join both ends of one
  /// socket (simultaneous open).
  bool connected_to_itself() const noexcept;
  /// Makes completions of operations begun before now find nobody.
  void abandon_operations();
  /// A completion handler for the operation begun now.
  template <typename Step>
  auto when_done(Step step);

  std::size_t index_;
  Target target_;
  ClientOptions options_;
  std::shared_ptr<IoThread> io_thread_;
  std::shared_ptr<RequestTable> requests_;
  LinkOwner& owner_;
  std::weak_ptr<void> keep_alive_;
  ReconnectMachine machine_;
  std::shared_ptr<SendQueue> queue_;
  Tcp::resolver resolver_;
  boost::asio::steady_timer timer_;
  std::vector<Endpoint> addresses_;
  std::optional<Tcp::socket> socket_;
  std::uint64_t operation_ = 0;

  // Written on the I/O thread only; the mutex is for `add_to` on other threads.
  mutable std::mutex statistics_mutex_;
  std::shared_ptr<Session> session_;
  std::uint64_t sessions_made_ = 0;
  Statistics received_before_;
  bool established_ = false;
};

}  // namespace ntcpmsg::detail
