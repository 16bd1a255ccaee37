#include "transport/acceptor.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <utility>

namespace ntcpmsg::detail {
namespace {

bool out_of_resources(error_code ec) noexcept {
  namespace errc = boost::system::errc;
  return ec == errc::too_many_files_open || ec == errc::too_many_files_open_in_system ||
         ec == errc::no_buffer_space || ec == errc::not_enough_memory;
}

}  // namespace

Acceptor::Acceptor(std::shared_ptr<IoThread> io_thread,
                   std::weak_ptr<AcceptorEvents> events,
                   Milliseconds pause)
    : io_thread_(std::move(io_thread)),
      events_(std::move(events)),
      pause_(pause),
      acceptor_(io_thread_->context()),
      timer_(io_thread_->context()) {}

void Acceptor::open(const Endpoint& endpoint, int backlog, error_code& ec) {
  acceptor_.open(endpoint.protocol(), ec);
  if (ec) return;
  acceptor_.set_option(boost::asio::socket_base::reuse_address(true), ec);
  if (!ec && endpoint.address().is_v6()) {
    acceptor_.set_option(boost::asio::ip::v6_only(true), ec);
  }
  if (!ec) acceptor_.bind(endpoint, ec);
  if (!ec) acceptor_.listen(backlog, ec);
  if (!ec) local_ = acceptor_.local_endpoint(ec);
  error_code ignored;
  if (ec) acceptor_.close(ignored);
}

void Acceptor::start() {
  boost::asio::post(io_thread_->context(), [self = shared_from_this()] { self->accept(); });
}

void Acceptor::close(std::function<void()> done) {
  boost::asio::post(io_thread_->context(), [self = shared_from_this(), done = std::move(done)] {
    error_code ignored;
    self->acceptor_.close(ignored);
    self->timer_.cancel();
    done();
  });
}

void Acceptor::accept() {
  const auto events = events_.lock();
  if (!events || !acceptor_.is_open()) return;
  auto target = events->next_io_thread();
  if (!target) return;
  auto& context = target->context();
  acceptor_.async_accept(context,
                         [self = shared_from_this(), target = std::move(target)](
                             error_code ec, boost::asio::ip::tcp::socket socket) mutable {
                           if (!self->acceptor_.is_open()) return;
                           const auto owner = self->events_.lock();
                           if (!owner) return;
                           if (!ec) {
                             self->paused_ = false;
                             owner->on_accepted(std::move(socket), std::move(target));
                           } else if (out_of_resources(ec)) {
                             if (!std::exchange(self->paused_, true)) {
                               owner->on_accept_error(self->local_, Errc::accept_paused);
                             }
                             return self->pause();
                           } else if (ec != boost::asio::error::connection_aborted) {
                             owner->on_accept_error(self->local_, ec);
                             return self->pause();
                           }
                           self->accept();
                         });
}

void Acceptor::pause() {
  timer_.expires_after(pause_);
  timer_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec) self->accept();
  });
}

}  // namespace ntcpmsg::detail
