// How a client sends: over which link, as message or request, and how requests end.

#include <sched.h>

#include <memory>
#include <utility>

#include "face/client_core.hpp"
#include "face/client_core_turn.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::detail {
namespace {

// An original listener that does not answer the request for a cable id will not do so later.
constexpr Milliseconds cable_id_timeout{5000};

// Between the loss of a connection and the moment its order keys have a new one the I/O thread has
// a few instructions to do, for which it may have to wait for a core.
constexpr Milliseconds heir_patience{1000};

// Fewer callers that wait for replies are served sooner when each writes for itself.
constexpr std::size_t company = 3;

/// One of those counted by `count`, as long as it lives.
class OneMore {
 public:
  explicit OneMore(std::atomic<std::size_t>& count) noexcept
      : count_(count), others_(count.fetch_add(1, std::memory_order_relaxed)) {}
  OneMore(const OneMore&) = delete;
  OneMore& operator=(const OneMore&) = delete;
  ~OneMore() { count_.fetch_sub(1, std::memory_order_relaxed); }

  /// How many there were before.
  std::size_t others() const noexcept { return others_; }

 private:
  std::atomic<std::size_t>& count_;
  std::size_t others_;
};

}  // namespace

void run_later(ClientCore& core, InplaceFunction<void()> step) {
  core.post([step = std::move(step)](ClientCore& self) mutable {
    try {
      step();
    } catch (...) {
      self.report_exception(std::current_exception());
    }
  });
}

void report_thrown(ClientCore& core) noexcept { core.report_exception(std::current_exception()); }

AppendOptions ClientCore::append_options() const noexcept {
  return {.offline = options_.offline == OfflinePolicy::queue};
}

FrameHeader ClientCore::message_header(std::uint32_t event) const noexcept {
  return {.event = event, .cable_id = cable_id()};
}

error_code ClientCore::send(std::uint32_t event, BytesView payload) {
  if (!is_cable_) {
    return links_.front()->queue().append({.event = event}, payload, append_options());
  }
  return spread(message_header(event), payload);
}

error_code ClientCore::spread(const FrameHeader& header, BytesView payload) {
  const std::size_t tries = links_.size() + 1;
  for (std::size_t i = 0; i < tries && distribution_.up_count() != 0; ++i) {
    const std::size_t link = distribution_.current();
    error_code ec = Errc::not_connected;
    if (distribution_.is_up(link)) {
      if (links_[link]->queue().append_in_burst(header, payload)) return {};
      bool batch_completed = false;
      // Only when no connection has room does the sender wait, at the last of them.
      ec = links_[link]->queue().append(
          header, payload, {.may_wait = i + 1 == tries}, batch_completed);
      if (!ec) {
        if (batch_completed) distribution_.advance(link);
        return {};
      }
    }
    if (ec != Errc::not_connected && ec != Errc::would_block) return ec;
    if (ec == Errc::would_block && i + 1 == tries) return ec;
    distribution_.advance(link);
  }
  return send_offline(header, payload);
}

error_code ClientCore::send_offline(const FrameHeader& header, BytesView payload) {
  SendQueue& home = links_.front()->queue();
  const error_code ec = home.append(header, payload, append_options());
  if (!ec && distribution_.up_count() != 0) {
    // A connection came up in between and has missed this message.
    post([](ClientCore& self) {
      const auto up = self.distribution_.next_up(0);
      ClientLink& first = *self.links_.front();
      if (up && first.session() == nullptr) {
        self.move_frames(first.queue().take_leftover(), *self.links_[*up]);
      }
    });
  }
  return ec;
}

error_code ClientCore::send(std::uint32_t event, BytesView payload, OrderKey key) {
  TimePoint deadline{};
  for (;;) {
    const auto link = distribution_.for_key(key.value);
    if (!link) return send_offline(message_header(event), payload);
    const error_code ec = links_[*link]->queue().append(message_header(event), payload);
    if (ec != Errc::not_connected) return ec;
    const TimePoint now = Clock::now();
    if (deadline == TimePoint{}) deadline = now + heir_patience;
    if (now >= deadline) return ec;
    ::sched_yield();
  }
}

std::size_t ClientCore::link_for_request() const noexcept {
  std::size_t best = 0;
  std::size_t least = SIZE_MAX;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (!distribution_.is_up(i)) continue;
    const std::size_t waiting = links_[i]->queue().size();
    if (waiting < least) {
      least = waiting;
      best = i;
    }
  }
  return best;
}

std::uint32_t ClientCore::send_request(ReplyCompletion& completion,
                                       std::uint32_t event,
                                       BytesView payload,
                                       TimePoint table_deadline,
                                       const AppendOptions& options,
                                       error_code& ec) {
  ClientLink& link = *links_[is_cable_ ? link_for_request() : 0];
  const std::uint32_t channel = requests_->add(std::move(completion), link.tag(), table_deadline);
  if (channel == 0) {
    ec = Errc::too_many_requests;
    return 0;
  }
  const FrameHeader header{
      .flags = flag::sync, .event = event, .cable_id = cable_id(), .channel = channel};
  if (options.urgent || !link.queue().append_in_burst(header, payload)) {
    ec = link.queue().append(header, payload, options);
  }
  return channel;
}

bool ClientCore::try_another_link(error_code ec, std::size_t tries) const noexcept {
  return ec == Errc::not_connected && is_cable_ && tries < links_.size() &&
         distribution_.up_count() != 0;
}

error_code ClientCore::request(std::uint32_t event,
                               BytesView payload,
                               Milliseconds timeout,
                               Bytes& reply) {
  if (io_thread_->running_in_this_thread()) return Errc::would_deadlock;
  const TimePoint deadline = deadline_after(Clock::now(), timeout);
  const OneMore caller(blocked_callers_);
  AppendOptions options = append_options();
  options.urgent = true;
  options.in_company = caller.others() >= company;
  options.wait_deadline = deadline;
  for (std::size_t tries = 0;; ++tries) {
    BlockingReply outcome(reply);
    ReplyCompletion completion = outcome.completion();
    error_code ec;
    const std::uint32_t channel =
        send_request(completion, event, payload, TimePoint::max(), options, ec);
    if (!ec) return outcome.wait(*requests_, channel, deadline);
    if (channel != 0) outcome.withdraw(*requests_, channel);
    if (!try_another_link(ec, tries)) return ec;
  }
}

std::uint32_t ClientCore::start_request(std::uint32_t event,
                                        BytesView payload,
                                        Milliseconds timeout,
                                        ReplyCompletion&& completion) {
  const TimePoint deadline = deadline_after(coarse_now() + coarse_tick, timeout);
  AppendOptions options = append_options();
  options.may_wait = false;
  for (std::size_t tries = 0;; ++tries) {
    error_code ec;
    const std::uint32_t channel = send_request(completion, event, payload, deadline, options, ec);
    if (!ec) {
      watch_deadline(deadline);
      return channel;
    }
    if (channel != 0) {
      completion = requests_->take(channel);
      // Somebody took it out meanwhile, and completes it.
      if (!completion) return 0;
    }
    if (try_another_link(ec, tries)) continue;
    completion(ec, {});
    return 0;
  }
}

void ClientCore::async_request(std::uint32_t event,
                               BytesView payload,
                               Milliseconds timeout,
                               ReplyHandler handler) {
  const auto channel_for_cancel = std::make_shared<std::atomic<std::uint32_t>>(0);
  AsyncOperation<error_code, Bytes> operation(
      std::move(handler), io_thread_->context().get_executor(), exception_reporter());
  operation.on_cancel([self = weak_from_this(), channel_for_cancel] {
    if (const auto core = self.lock()) core->cancel_request(channel_for_cancel->load());
  });
  const std::uint32_t channel = start_request(
      event,
      payload,
      timeout,
      [operation = std::move(operation)](const error_code& ec, BytesView reply) mutable {
        if (ec) return operation.complete(ec, {});
        operation.complete_here({}, Bytes(reply.begin(), reply.end()));
      });
  channel_for_cancel->store(channel);
}

void ClientCore::cancel_request(std::uint32_t channel) {
  ReplyCompletion completion = requests_->take(channel);
  if (completion) completion(boost::asio::error::operation_aborted, {});
}

void ClientCore::watch_deadline(TimePoint deadline) {
  const Clock::rep at = deadline.time_since_epoch().count();
  Clock::rep set = request_timer_at_.load(std::memory_order_acquire);
  while (at < set) {
    if (request_timer_at_.compare_exchange_weak(set, at, std::memory_order_acq_rel)) {
      return post([](ClientCore& self) { self.arm_request_timer(); });
    }
  }
}

void ClientCore::arm_request_timer() {
  const Clock::rep at = request_timer_at_.load(std::memory_order_acquire);
  if (at == never || closed_) return;
  request_timer_.expires_at(TimePoint(Clock::duration(at)));
  request_timer_.async_wait([self = weak_from_this()](error_code ec) {
    const auto core = self.lock();
    if (!ec && core) core->on_request_timer();
  });
}

void ClientCore::on_request_timer() {
  request_timer_at_.store(never, std::memory_order_release);
  RequestTable::Expired expired = requests_->take_expired(Clock::now());
  if (expired.next != TimePoint::max()) watch_deadline(expired.next);
  for (auto& completion : expired.completions) completion(Errc::timed_out, {});
}

void ClientCore::request_cable_id(ClientLink& link) {
  const TimePoint deadline = deadline_after(Clock::now(), cable_id_timeout);
  const auto channel = requests_->add(
      [self = weak_from_this(), index = link.index()](const error_code& ec, BytesView reply) {
        if (const auto core = self.lock()) core->on_cable_id(index, reply, ec);
      },
      link.tag(),
      deadline);
  if (channel == 0) return link.restart(Errc::too_many_requests);
  const FrameHeader header{
      .flags = flag::sync | flag::inner, .event = inner_event::processor_id, .channel = channel};
  const auto payload = encode(ProcessorIdRequest{});
  const error_code ec = link.queue().append(header, payload, {.never_refused = true});
  if (!ec) return watch_deadline(deadline);
  if (ReplyCompletion completion = requests_->take(channel)) completion(ec, {});
}

void ClientCore::on_cable_id(std::size_t index, BytesView payload, error_code ec) {
  ClientLink& link = *links_[index];
  if (link.session() == nullptr) return;
  const auto reply = ec ? std::nullopt : decode_processor_id_reply(payload);
  const std::uint16_t id = reply ? reply->cable_id : 0;
  switch (cable_.on_id(index, id)) {
    case CableMachine::Action::accept:
      if (!distribution_.is_up(index)) return link_ready(link, *link.session());
      cable_id_.store(id, std::memory_order_release);
      return;
    case CableMachine::Action::reject: return link.restart(ec ? ec : Errc::not_supported);
    case CableMachine::Action::none:
    case CableMachine::Action::request_id: return;
  }
}

void ClientCore::async_wait_writable(Handler handler) {
  auto operation = std::make_shared<Operation>(
      std::move(handler), io_thread_->context().get_executor(), exception_reporter());
  post([operation](ClientCore& self) {
    if (self.closing_ || self.closed_) return operation->complete(Errc::closed);
    if (self.distribution_.up_count() == 0) return operation->complete(Errc::not_connected);
    self.writable_waiters_.push_back(std::move(*operation));
    for (const auto& link : self.links_) {
      if (link->session()) link->queue().notify_at(link->queue().low_water_mark());
    }
  });
}

void ClientCore::complete_writable_waiters(error_code ec) {
  for (auto& waiter : std::exchange(writable_waiters_, {})) waiter.complete(ec);
}

error_code ClientCore::flush(Milliseconds timeout) {
  if (io_thread_->running_in_this_thread()) return Errc::would_deadlock;
  const TimePoint deadline = deadline_after(Clock::now(), timeout);
  for (const auto& link : links_) {
    if (const error_code ec = link->queue().wait_empty(deadline)) return ec;
  }
  return {};
}

}  // namespace ntcpmsg::detail
