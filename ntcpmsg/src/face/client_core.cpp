#include "face/client_core.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <limits>
#include <random>
#include <utility>

#include "base/checks.hpp"
#include "face/client_core_turn.hpp"
#include "face/message_dispatch.hpp"
#include "ntcpmsg/io_threads.hpp"

namespace ntcpmsg::detail {
namespace {

// What a blocking `close` allows the I/O thread beyond the time for flushing.
constexpr Milliseconds close_grace{1000};

std::uint64_t jitter_seed(const ReconnectOptions& options, std::size_t link) {
  if (options.seed) return *options.seed + link;
  std::random_device source;
  return (std::uint64_t{source()} << 32) ^ source();
}

ClientOptions link_options(ClientOptions options, bool is_cable) {
  // A cable's connections come back one by one; whether the whole comes back is decided above.
  if (is_cable) options.reconnect.enabled = true;
  return options;
}

}  // namespace

ClientCore::ClientCore(const ClientLink::Target& target,
                       ClientOptions options,
                       std::size_t links,
                       bool is_cable)
    : options_(std::move(options)),
      is_cable_(is_cable),
      io_threads_(options_.io_threads ? options_.io_threads : std::make_shared<IoThreads>(1)),
      io_thread_(io_threads_->next()),
      requests_(std::make_shared<RequestTable>(options_.max_requests, 0)),
      distribution_(links),
      request_timer_(io_thread_->context()),
      close_timer_(io_thread_->context()),
      request_timer_at_(never) {
  options_.io_threads.reset();
  for (std::size_t i = 0; i < links; ++i) {
    links_.push_back(std::make_unique<ClientLink>(i,
                                                  target,
                                                  link_options(options_, is_cable),
                                                  jitter_seed(options_.reconnect, i),
                                                  io_thread_,
                                                  requests_,
                                                  *this));
  }
  if (!is_cable) only_queue_ = &links_.front()->queue();
}

AsyncOperation<error_code>::OnThrow ClientCore::exception_reporter() {
  return [self = weak_from_this()](const std::exception_ptr& thrown) {
    if (const auto core = self.lock()) core->report_exception(thrown);
  };
}

void ClientCore::start() {
  post([](ClientCore& self) { self.begin_connect(); });
}

void ClientCore::begin_connect() {
  if (closing_ || closed_) return;
  wanted_ = true;
  // A cable's further connections join when the first has made it.
  const bool only_first = is_cable_ && distribution_.up_count() == 0;
  for (const auto& link : links_) {
    if (link->index() > 0 && only_first) break;
    link->start(shared_from_this());
  }
}

error_code ClientCore::connect(Milliseconds timeout) {
  if (io_thread_->running_in_this_thread()) {
    return state() == ConnectionState::connected ? error_code() : Errc::would_deadlock;
  }
  struct Outcome {
    OneShotEvent done;
    error_code ec;
  };
  auto outcome = std::make_shared<Outcome>();
  async_connect(timeout, [outcome](error_code ec) {
    outcome->ec = ec;
    outcome->done.set();
  });
  const auto limit = deadline_after(deadline_after(Clock::now(), timeout), close_grace);
  return outcome->done.wait_until(limit) ? outcome->ec : error_code(Errc::timed_out);
}

void ClientCore::async_connect(Milliseconds timeout, Handler handler) {
  auto operation = std::make_shared<Operation>(
      std::move(handler), io_thread_->context().get_executor(), exception_reporter());
  post([operation, timeout](ClientCore& self) {
    self.wait_for_connection(std::move(*operation), timeout);
  });
}

void ClientCore::wait_for_connection(Operation operation, Milliseconds timeout) {
  if (closing_ || closed_) return operation.complete(Errc::closed);
  if (state() == ConnectionState::connected) return operation.complete({});
  // Known by number: the timer of a waiter that is gone may still have a completion under way, and
  // a new waiter may have come to lie at its address.
  const std::uint64_t number = next_waiter_++;
  ConnectWaiter& waiter = connect_waiters_.emplace_back(ConnectWaiter{
      number, std::move(operation), boost::asio::steady_timer(io_thread_->context())});
  waiter.operation.on_cancel([self = weak_from_this(), number] {
    const auto core = self.lock();
    if (!core) return;
    core->post([number](ClientCore& c) {
      c.give_up_waiting(number, boost::asio::error::operation_aborted);
    });
  });
  waiter.timer.expires_at(deadline_after(Clock::now(), timeout));
  waiter.timer.async_wait([self = shared_from_this(), number](error_code ec) {
    if (!ec) self->give_up_waiting(number, Errc::timed_out);
  });
  begin_connect();
}

void ClientCore::give_up_waiting(std::uint64_t number, error_code reason) {
  const auto waiter = std::ranges::find(connect_waiters_, number, &ConnectWaiter::number);
  if (waiter == connect_waiters_.end()) return;
  // Taken out first: a waiter completes once.
  ConnectWaiters done;
  done.splice(done.begin(), connect_waiters_, waiter);
  done.front().operation.complete(reason);
  if (!options_.reconnect.enabled && reason == Errc::timed_out && connect_waiters_.empty() &&
      state() != ConnectionState::connected) {
    stop_links(Errc::timed_out);
  }
}

void ClientCore::complete_waiters(error_code ec) {
  ConnectWaiters done;
  done.swap(connect_waiters_);
  for (auto& waiter : done) waiter.operation.complete(ec);
}

void ClientCore::disconnect() {
  auto done = std::make_shared<OneShotEvent>();
  post([done](ClientCore& self) {
    if (!self.closing_ && !self.closed_) {
      self.stop_links(Errc::closed_by_user);
      self.complete_waiters(Errc::closed_by_user);
    }
    done->set();
  });
  if (io_thread_->running_in_this_thread()) return;
  done->wait_until(deadline_after(Clock::now(), options_.close_timeout));
}

void ClientCore::stop_links(error_code reason) {
  wanted_ = false;
  for (const auto& link : links_) link->stop(reason);
  for (const auto& link : links_) {
    settle(link->queue().take_leftover(), *link, std::nullopt);
    fail_requests(*link, Errc::disconnected);
  }
  update_state({});
}

std::size_t ClientCore::close(Milliseconds timeout) {
  struct Outcome {
    OneShotEvent done;
    std::size_t unsent = 0;
  };
  auto outcome = std::make_shared<Outcome>();
  const TimePoint deadline = deadline_after(Clock::now(), timeout);
  post([outcome, deadline](ClientCore& self) {
    self.close_waiters_.emplace_back([outcome](std::size_t unsent) {
      outcome->unsent = unsent;
      outcome->done.set();
    });
    self.begin_close(deadline);
  });
  if (io_thread_->running_in_this_thread()) return 0;
  outcome->done.wait_until(deadline_after(deadline, close_grace));
  return outcome->unsent;
}

void ClientCore::begin_close(TimePoint deadline) {
  if (closed_) return finish_close();
  closing_ = true;
  wanted_ = false;
  close_deadline_ = std::min(close_deadline_, deadline);
  for (const auto& link : links_) link->queue().refuse(Errc::closed);
  update_state({});
  close_timer_.expires_at(close_deadline_);
  close_timer_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec) self->say_goodbye();
  });
  continue_close();
}

void ClientCore::continue_close() {
  bool something_waits = false;
  for (const auto& link : links_) {
    if (!distribution_.is_up(link->index())) {
      link->close(close_deadline_);
    } else if (link->queue().size() != 0) {
      something_waits = true;
      link->queue().notify_at(0);
    }
  }
  if (!something_waits) say_goodbye();
}

void ClientCore::say_goodbye() {
  if (closed_) return;
  for (const auto& link : links_) link->close(close_deadline_);
  finish_close();
}

void ClientCore::finish_close() {
  for (const auto& link : links_) {
    if (link->session() != nullptr) return;
  }
  if (!std::exchange(closed_, true)) {
    for (const auto& link : links_) {
      report_unsent(link->queue().take_leftover());
      fail_requests(*link, Errc::closed);
    }
    request_timer_.cancel();
    close_timer_.cancel();
    complete_waiters(Errc::closed);
    complete_writable_waiters(Errc::closed);
    update_state({});
  }
  for (const auto& waiter : std::exchange(close_waiters_, {})) waiter(unsent_at_close_);
}

void ClientCore::shut_down() {
  if (io_thread_->running_in_this_thread()) {
    silenced_.store(true, std::memory_order_release);
    const TimePoint deadline = deadline_after(Clock::now(), options_.close_timeout);
    post([deadline](ClientCore& self) {
      // Sessions do not own their client: it owns itself until `finish_close`.
      self.close_waiters_.emplace_back([core = self.shared_from_this()](std::size_t) {});
      self.begin_close(deadline);
    });
    return;
  }
  close(options_.close_timeout);
  silenced_.store(true, std::memory_order_release);
  const auto threads = std::move(io_threads_);
}

ConnectionState ClientCore::derive_state() const noexcept {
  if (closing_ || closed_) return ConnectionState::closed;
  if (distribution_.up_count() != 0) return ConnectionState::connected;
  auto best = ReconnectMachine::State::stopped;
  for (const auto& link : links_) {
    const auto state = link->state();
    // The further links of a cable rest while the first one tries.
    if (state == ReconnectMachine::State::stopped) continue;
    // An established link of a cable waits for the cable's id.
    if (state == ReconnectMachine::State::up) return ConnectionState::negotiating;
    if (state == ReconnectMachine::State::waiting && best != ReconnectMachine::State::stopped) {
      continue;
    }
    if (best == ReconnectMachine::State::waiting || state > best) best = state;
  }
  switch (best) {
    case ReconnectMachine::State::stopped: return ConnectionState::disconnected;
    case ReconnectMachine::State::resolving: return ConnectionState::resolving;
    case ReconnectMachine::State::connecting: return ConnectionState::connecting;
    case ReconnectMachine::State::negotiating:
    case ReconnectMachine::State::up: return ConnectionState::negotiating;
    case ReconnectMachine::State::waiting: return ConnectionState::waiting_to_retry;
  }
  return ConnectionState::disconnected;
}

void ClientCore::update_state(error_code ec) {
  if (ec) {
    const std::lock_guard guard(mutex_);
    last_error_ = ec;
  }
  state_.store(derive_state(), std::memory_order_release);
}

void ClientCore::remember_endpoints(const Session* session) {
  const std::lock_guard guard(mutex_);
  remote_ = session != nullptr ? session->remote_endpoint() : Endpoint();
  local_ = session != nullptr ? session->local_endpoint() : Endpoint();
}

error_code ClientCore::last_error() const {
  const std::lock_guard guard(mutex_);
  return last_error_;
}

Endpoint ClientCore::remote_endpoint() const {
  const std::lock_guard guard(mutex_);
  return remote_;
}

Endpoint ClientCore::local_endpoint() const {
  const std::lock_guard guard(mutex_);
  return local_;
}

Statistics ClientCore::statistics() const {
  Statistics total;
  for (const auto& link : links_) link->add_to(total);
  return total;
}

void ClientCore::raise_error(const ErrorEvent& event) {
  if (silenced_.load(std::memory_order_acquire)) return;
  const auto handler = error.get();
  if (!handler) return;
  try {
    (*handler)(event);
  } catch (...) {
    // There is nobody left to tell.
  }
}

void ClientCore::report_exception(std::string text) {
  raise_error({Errc::handler_threw, remote_endpoint(), std::move(text), 0});
}

void ClientCore::report_exception(const std::exception_ptr& thrown) {
  report_exception(describe(thrown));
}

std::shared_ptr<ClientCore> make_client_core(const ClientLink::Target& target,
                                             ClientOptions options,
                                             std::size_t links,
                                             bool is_cable) {
  require(links >= 1 && links <= 1024, "a cable has 1 to 1024 connections");
  require(!target.host.empty(), "the host must not be empty");
  require(options.max_message_size <= max_payload_size, "max_message_size is at most 16777215");
  require(options.queue.high_water_mark > 0, "high_water_mark must be above 0");
  require(options.batch.max_bytes > 0, "batch.max_bytes must be above 0");
  require(options.max_requests > 0, "max_requests must be above 0");
  require(options.reconnect.base.count() >= 0 && options.reconnect.cap.count() >= 0,
          "reconnect.base and reconnect.cap must not be negative");
  return std::make_shared<ClientCore>(target, std::move(options), links, is_cable);
}

}  // namespace ntcpmsg::detail
