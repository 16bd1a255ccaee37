#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/policies.hpp"
#include "transport/io_thread.hpp"

namespace ntcpmsg::detail {

/// Whom an acceptor tells. Called on the acceptor's I/O thread.
class AcceptorEvents {
 public:
  /// The I/O thread of the next connection; null when there will be none.
  virtual std::shared_ptr<IoThread> next_io_thread() = 0;
  virtual void on_accepted(boost::asio::ip::tcp::socket socket,
                           std::shared_ptr<IoThread> io_thread) = 0;
  /// `Errc::accept_paused` once when descriptors have run out; other errors as they come.
  virtual void on_accept_error(const Endpoint& local, error_code ec) = 0;

 protected:
  ~AcceptorEvents() = default;
};

/// Accepts connections on one endpoint until closed. When the process is out of descriptors or
/// memory it pauses instead of spinning, and goes on by itself.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<IoThread> io_thread,
           std::weak_ptr<AcceptorEvents> events,
           Milliseconds pause);

  /// Binds and listens. Before `start`.
  void open(const Endpoint& endpoint, int backlog, error_code& ec);
  void start();
  /// Any thread; `done` runs on the I/O thread once the endpoint is free and no event follows.
  void close(std::function<void()> done);
  const Endpoint& local_endpoint() const noexcept { return local_; }

 private:
  void accept();
  void pause();

  std::shared_ptr<IoThread> io_thread_;
  std::weak_ptr<AcceptorEvents> events_;
  Milliseconds pause_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer timer_;
  Endpoint local_;
  bool paused_ = false;
};

}  // namespace ntcpmsg::detail
