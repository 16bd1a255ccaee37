#include "session/session.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

#include "session/session_turn.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::detail {
namespace {

// A peer may keep its side open for long. Once its system has confirmed all we sent, we need not
// stay for that; looked at this often.
constexpr Milliseconds goodbye_poll{20};

constexpr Milliseconds trim_interval{1000};

/// Where a text is cut to what an error reply carries, not inside a UTF-8 character.
std::size_t end_of_text(std::string_view text) noexcept {
  constexpr std::size_t most = 1024;
  if (text.size() <= most) return text.size();
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return end;
}

}  // namespace

Session::Session(Parts parts, SessionConfig config)
    : stream_(std::move(parts.stream)),
      io_thread_(std::move(parts.io_thread)),
      queue_(std::move(parts.queue)),
      requests_(std::move(parts.requests)),
      owner_(std::move(parts.owner)),
      config_(std::move(config)),
      hello_(config_.hello ? std::make_unique<HelloMachine>(config_.hello_timeout) : nullptr) {}

void Session::start() {
  run_turn([this] {
    if (hello_) return on_hello_action(hello_->start(Clock::now()));
    establish();
  });
}

void Session::on_hello_action(HelloMachine::Action action) {
  switch (action) {
    case HelloMachine::Action::none: return;
    case HelloMachine::Action::agreed:
      peer_hello_ = hello_->peer();
      features_.store(config_.hello->features & peer_hello_->features, std::memory_order_release);
      return establish();
    case HelloMachine::Action::plain: return establish();
    case HelloMachine::Action::send: break;
  }
  const Bytes payload = encode(*config_.hello);
  FrameHeader header{.flags = flag::sync | flag::inner,
                     .event = inner_event::hello,
                     .channel = hello_channel,
                     .length = static_cast<std::uint32_t>(payload.size())};
  Bytes frame(frame_header_size + payload.size());
  encode_frame(header, payload, frame.data());
  error_code ec;
  // The first bytes of a fresh connection always fit into the kernel's buffer.
  if (stream_->write_some(frame, ec) != frame.size()) return end(ec ? ec : Errc::disconnected);
  arm_timer(hello_->deadline());
}

void Session::establish() {
  phase_ = Phase::open;
  arm_timer(TimePoint::max());
  queue_->attach(*this);
  if (peer_hello_) queue_->set_peer_limit(peer_hello_->max_message_size);
  turn_owner_->on_established(*this);
  const ByteBuffer held = std::move(held_);
  for_each_frame(held.view(), [&](const FrameHeader& header, BytesView bytes) {
    if (phase_ != Phase::ended) dispatch(Frame{header, bytes.subspan(frame_header_size)});
  });
}

void Session::abort(error_code reason) {
  run_turn([&] { end(reason); });
}

void Session::close(CloseOptions options) {
  post([options](Session& self) { self.run_turn([&] { self.begin_close(options); }); });
}

void Session::begin_close(CloseOptions options) {
  if (phase_ == Phase::ended) return;
  if (phase_ == Phase::negotiating) return end(Errc::closed_by_user);
  if (phase_ == Phase::closing && options.deadline >= close_deadline_) return;
  queue_->refuse(Errc::closed);
  phase_ = Phase::closing;
  finish_received_ = options.finish_received;
  discarding_ = !finish_received_;
  if (discarding_) paused_ = false;
  close_deadline_ = options.deadline;
  arm_timer(close_deadline_);
  if (finish_received_ && !paused_) read_turn();
}

void Session::try_finish() {
  if (phase_ != Phase::closing && !peer_ended_) return;
  const bool answers = phase_ == Phase::open || finish_received_;
  if (answers && (paused_ || deferred_replies() != 0)) return;
  if (queue_->size() != 0) return queue_->notify_at(0);
  if (peer_ended_) {
    return end(phase_ == Phase::closing ? Errc::closed_by_user : Errc::end_of_stream);
  }
  discarding_ = true;
  if (std::exchange(said_goodbye_, true)) return;
  stream_->shutdown_send();
  arm_timer(std::min(close_deadline_, Clock::now() + goodbye_poll));
}

void Session::end(error_code reason) {
  if (phase_ == Phase::ended) return;
  const bool was_negotiating = phase_ == Phase::negotiating;
  phase_ = Phase::ended;
  ended_.store(true, std::memory_order_release);
  stream_->shutdown();
  if (!was_negotiating) queue_->detach();
  for (const auto& timer : {&timer_, &flush_timer_, &trim_timer_}) {
    if (*timer) (*timer)->cancel();
  }
  stream_->close();
  if (const auto owner = owner_.lock()) owner->on_closed(*this, reason);
}

boost::asio::steady_timer& Session::make(std::unique_ptr<boost::asio::steady_timer>& timer) {
  if (!timer) timer = std::make_unique<boost::asio::steady_timer>(io_thread_->context());
  return *timer;
}

void Session::arm_timer(TimePoint deadline) {
  timer_deadline_ = deadline;
  if (deadline == TimePoint::max()) {
    if (timer_) timer_->cancel();
    return;
  }
  make(timer_).expires_at(deadline);
  timer_->async_wait([self = shared_from_this()](error_code ec) {
    if (!ec) self->run_turn([&] { self->on_timer(); });
  });
}

void Session::on_timer() {
  // An expiry that was under way when the timer was set anew.
  if (Clock::now() < timer_deadline_) return;
  if (phase_ == Phase::negotiating) return on_hello_action(hello_->on_time(Clock::now()));
  if (phase_ == Phase::closing) {
    const bool arrived = said_goodbye_ && stream_->all_acknowledged();
    if (!arrived && Clock::now() < close_deadline_) {
      return arm_timer(std::min(close_deadline_, Clock::now() + goodbye_poll));
    }
    cut_short_ = !arrived;
    return end(Errc::closed_by_user);
  }
  if (peer_ended_) end(Errc::end_of_stream);
}

error_code Session::push(std::uint32_t event, BytesView payload, const AppendOptions& options) {
  if (!open()) return Errc::unknown_peer;
  const FrameHeader header{.event = event, .cable_id = cable_id()};
  if (!options.urgent && queue_->append_in_burst(header, payload)) return {};
  const error_code ec = queue_->append(header, payload, options);
  return ec == Errc::not_connected || ec == Errc::closed ? Errc::unknown_peer : ec;
}

error_code Session::reply(const FrameHeader& request, BytesView payload) {
  if (!open()) return Errc::unknown_peer;
  const error_code ec = queue_->append(reply_header(request), payload, {.never_refused = true});
  return ec == Errc::not_connected ? Errc::unknown_peer : ec;
}

void Session::reply_error(const FrameHeader& request, std::string_view text) {
  if (!open()) return;
  FrameHeader header = reply_header(request);
  BytesView payload;
  if ((features() & feature::error_replies) != 0) {
    header.flags |= flag::error;
    payload = as_bytes(text.substr(0, end_of_text(text)));
  }
  const AppendOptions reply{.never_refused = true};
  const error_code ec = queue_->append(header, payload, reply);
  // The peer accepts no text as long as this; that it failed counts more.
  if (ec == Errc::message_too_large) queue_->append(header, {}, reply);
}

void Session::reply_settled() {
  const std::size_t before = deferred_.fetch_sub(1, std::memory_order_acq_rel);
  // Only these two numbers can matter: the last answer owed, and room below the bound again.
  if (before == 1 || before == config_.max_deferred_replies) {
    post([](Session& self) { self.reconsider(); });
  }
}

void Session::reconsider() {
  run_turn([this] {
    if (paused_ && !must_pause()) {
      paused_ = false;
      process_pending();
      if (!paused_ && phase_ != Phase::ended && !peer_ended_) read_turn();
    }
    if (phase_ == Phase::open && queue_->size() <= queue_->low_water_mark()) {
      turn_owner_->on_writable(*this);
    }
  });
}

std::size_t Session::write_some(BytesView bytes, error_code& ec) noexcept {
  return stream_->write_some(bytes, ec);
}

void Session::schedule_flush(std::chrono::microseconds delay) {
  const bool here = io_thread_->running_in_this_thread();
  if (here && delay.count() == 0 && turn_owner_ != nullptr) {
    flush_wanted_ = true;
    return;
  }
  if (here && delay.count() != 0) return flush_later(delay);
  if (delay.count() != 0) return post([delay](Session& self) { self.flush_later(delay); });
  // One under way sees all that was appended before it runs.
  if (flush_posted_.exchange(true, std::memory_order_acq_rel)) return;
  post([](Session& self) {
    self.flush_posted_.exchange(false, std::memory_order_acq_rel);
    self.flush();
  });
}

void Session::flush() {
  if (phase_ != Phase::ended) queue_->flush();
}

void Session::flush_later(std::chrono::microseconds delay) {
  if (phase_ == Phase::ended) return;
  make(flush_timer_).expires_after(delay);
  flush_timer_->async_wait([self = shared_from_this()](error_code ec) {
    if (!ec) self->flush();
  });
}

void Session::trim_later() {
  post([](Session& self) { self.start_trim_timer(); });
}

void Session::start_trim_timer() {
  if (phase_ == Phase::ended) return;
  make(trim_timer_).expires_after(trim_interval);
  trim_timer_->async_wait([self = shared_from_this()](error_code ec) {
    if (ec || self->phase_ == Phase::ended) return;
    self->trim_timer_.reset();
    self->queue_->trim();
  });
}

void Session::wait_writable() {
  post([](Session& self) {
    if (self.phase_ != Phase::ended) self.stream_->wait_writable(self.shared_from_this());
  });
}

void Session::write_failed(error_code ec) {
  post([ec](Session& self) { self.abort(ec); });
}

void Session::queue_drained() {
  post([](Session& self) { self.reconsider(); });
}

void Session::on_writable(error_code ec) {
  if (phase_ == Phase::ended) return;
  if (ec) return abort(ec);
  queue_->on_writable();
}

void Session::add_to(Statistics& total) const noexcept {
  total.messages_received += messages_received_.load(std::memory_order_relaxed);
  total.bytes_received += bytes_received_.load(std::memory_order_relaxed);
  total.reads += reads_.load(std::memory_order_relaxed);
}

}  // namespace ntcpmsg::detail
