#include "policy/client_link.hpp"

#include <boost/asio/error.hpp>
#include <utility>

#include "transport/tcp_stream.hpp"

namespace ntcpmsg::detail {

ClientLink::ClientLink(std::size_t index,
                       Target target,
                       const ClientOptions& options,
                       std::uint64_t seed,
                       std::shared_ptr<IoThread> io_thread,
                       std::shared_ptr<RequestTable> requests,
                       LinkOwner& owner)
    : index_(index),
      target_(std::move(target)),
      options_(options),
      io_thread_(std::move(io_thread)),
      requests_(std::move(requests)),
      owner_(owner),
      machine_(options.reconnect, seed),
      queue_(std::make_shared<SendQueue>(
          SendQueue::Config{.queue = options.queue, .batch = options.batch},
          io_thread_)),
      resolver_(io_thread_->context()),
      timer_(io_thread_->context()) {}

template <typename Step>
auto ClientLink::when_done(Step step) {
  return [this, alive = keep_alive_.lock(), operation = operation_, step = std::move(step)](
             error_code ec, auto&&... results) {
    if (operation == operation_) step(ec, std::forward<decltype(results)>(results)...);
  };
}

void ClientLink::abandon_operations() {
  ++operation_;
  resolver_.cancel();
  timer_.cancel();
  socket_.reset();
}

void ClientLink::start(const std::shared_ptr<void>& keep_alive) {
  keep_alive_ = keep_alive;
  if (machine_.state() == ReconnectMachine::State::waiting) abandon_operations();
  queue_->accept_again();
  carry_out(machine_.start(), {});
}

void ClientLink::stop(error_code reason) {
  abandon_operations();
  machine_.stop();
  if (const auto session = session_) session->abort(reason);
}

void ClientLink::close(TimePoint deadline) {
  abandon_operations();
  const bool up = machine_.state() == ReconnectMachine::State::up;
  machine_.stop();
  const auto session = session_;
  if (session == nullptr) return;
  if (!up) return session->abort(Errc::closed_by_user);
  session->close({.deadline = deadline});
}

void ClientLink::restart(error_code reason) {
  if (const auto session = session_) session->abort(reason);
}

void ClientLink::carry_out(const ReconnectMachine::Action& action, error_code ec) {
  using Kind = ReconnectMachine::Action::Kind;
  owner_.on_link_state(*this, ec);
  // The owner may have stopped this link meanwhile.
  if (action.kind == Kind::wait && machine_.state() != ReconnectMachine::State::waiting) return;
  switch (action.kind) {
    case Kind::none:
    case Kind::give_up: return;
    case Kind::resolve: return resolve();
    case Kind::connect: return connect(action.address);
    case Kind::negotiate: return open_session();
    case Kind::wait: return wait(action.wait);
  }
}

void ClientLink::resolve() {
  error_code ec;
  const auto literal = boost::asio::ip::make_address(target_.host, ec);
  if (!ec) {
    addresses_ = {Endpoint(literal, target_.port)};
    return carry_out(machine_.on_resolved(1), {});
  }
  timer_.expires_after(options_.attempt_timeout);
  timer_.async_wait(when_done([this](error_code failure) {
    if (failure) return;
    abandon_operations();
    carry_out(machine_.on_resolve_failed(), Errc::timed_out);
  }));
  resolver_.async_resolve(target_.host,
                          std::to_string(target_.port),
                          when_done([this](error_code failure, const auto& results) {
                            abandon_operations();
                            if (failure) return carry_out(machine_.on_resolve_failed(), failure);
                            addresses_.assign(results.begin(), results.end());
                            carry_out(machine_.on_resolved(addresses_.size()), {});
                          }));
}

void ClientLink::connect(std::size_t address) {
  const Endpoint& endpoint = addresses_[address];
  socket_.emplace(io_thread_->context());
  error_code ec;
  socket_->open(endpoint.protocol(), ec);
  if (!ec && options_.local_endpoint) {
    socket_->set_option(boost::asio::socket_base::reuse_address(true), ec);
    socket_->bind(*options_.local_endpoint, ec);
  }
  if (ec) return carry_out(machine_.on_connect_failed(), ec);
  if (const error_code refused = apply(options_.socket, *socket_)) {
    owner_.on_link_error(*this, refused, "a socket option was refused");
  }
  timer_.expires_after(options_.attempt_timeout);
  timer_.async_wait(when_done([this](error_code failure) {
    if (failure) return;
    abandon_operations();
    carry_out(machine_.on_connect_failed(), Errc::timed_out);
  }));
  socket_->async_connect(endpoint, when_done([this](error_code failure) {
                           if (failure) {
                             abandon_operations();
                             return carry_out(machine_.on_connect_failed(), failure);
                           }
                           timer_.cancel();
                           if (connected_to_itself()) {
                             abandon_operations();
                             return carry_out(machine_.on_connect_failed(),
                                              boost::asio::error::connection_refused);
                           }
                           carry_out(machine_.on_connected(), {});
                         }));
}

bool ClientLink::connected_to_itself() const noexcept {
  error_code ec;
  const Endpoint local = socket_->local_endpoint(ec);
  return !ec && local == socket_->remote_endpoint(ec);
}

void ClientLink::wait(Milliseconds duration) {
  timer_.expires_after(duration);
  timer_.async_wait(when_done([this](error_code ec) {
    if (!ec) carry_out(machine_.on_time(), {});
  }));
}

void ClientLink::open_session() {
  SessionConfig config{.id = (index_ << 32) + sessions_made_ + 1,
                       .link = tag(),
                       .max_message_size = options_.max_message_size,
                       .hello_timeout = options_.hello_timeout,
                       .answer_hello = false};
  if (options_.hello && owner_.link_says_hello(*this)) {
    Hello hello = owner_.link_hello(*this);
    hello.features = feature::all;
    hello.max_message_size = static_cast<std::uint32_t>(options_.max_message_size);
    config.hello = hello;
  }
  auto stream = std::make_unique<TcpStream>(std::move(*socket_));
  abandon_operations();
  const std::shared_ptr<SessionOwner> owner(keep_alive_.lock(), this);
  const auto session = std::make_shared<Session>(
      Session::Parts{std::move(stream), io_thread_, queue_, requests_, owner}, std::move(config));
  {
    const std::lock_guard guard(statistics_mutex_);
    session_ = session;
    ++sessions_made_;
  }
  session->start();
}

void ClientLink::on_established(Session& session) {
  machine_.on_established(Clock::now());
  {
    const std::lock_guard guard(statistics_mutex_);
    established_ = true;
  }
  owner_.on_link_established(*this, session);
}

std::size_t ClientLink::on_messages(Session& session, std::span<const Frame> frames) {
  return owner_.on_link_messages(*this, session, frames);
}

Hello ClientLink::on_hello(Session& /*session*/, const Hello& /*request*/) { return {}; }

std::uint16_t ClientLink::on_cable_id_request(Session& /*session*/) { return 0; }

void ClientLink::on_error(Session& /*session*/, error_code ec, std::string text) {
  owner_.on_link_error(*this, ec, std::move(text));
}

void ClientLink::on_writable(Session& /*session*/) { owner_.on_link_writable(*this); }

void ClientLink::on_closed(Session& session, error_code reason) {
  bool was_established = false;
  {
    const std::lock_guard guard(statistics_mutex_);
    session.add_to(received_before_);
    session_ = nullptr;
    was_established = std::exchange(established_, false);
  }
  const auto action = machine_.on_lost(Clock::now());
  if (was_established) owner_.on_link_lost(*this, session, reason);
  carry_out(action, reason);
}

void ClientLink::add_to(Statistics& total) const {
  queue_->add_to(total);
  const std::lock_guard guard(statistics_mutex_);
  total += received_before_;
  total.sessions_total += sessions_made_;
  if (session_) session_->add_to(total);
  if (established_) total.sessions += 1;
}

}  // namespace ntcpmsg::detail
