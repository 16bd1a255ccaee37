#include "session/send_queue.hpp"

#include <sched.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <optional>
#include <utility>

namespace ntcpmsg::detail {
namespace {

// A connection not written to for this long is idle: its next message leaves at once, on the
// sender's own thread. Within a burst messages gather instead.
constexpr std::chrono::microseconds quiet_after{20};

// While senders complete batches and write them themselves, the I/O thread only looks in this often
// for what a pause of theirs leaves behind. Waking it for each batch costs a third of the speed.
constexpr std::chrono::microseconds burst_watch{100};

// Writes in a row before the writer lets others have their turn.
constexpr int writes_per_turn = 8;

constexpr std::size_t no_notification = SIZE_MAX;

// An idle connection keeps buffers of this size; larger ones go when it was idle for this long.
constexpr std::size_t idle_capacity = 1024;
constexpr std::chrono::seconds idle_after{1};

}  // namespace

SendQueue::SendQueue(const Config& config, std::shared_ptr<IoThread> io_thread)
    : config_(config),
      io_thread_(std::move(io_thread)),
      machine_(config.batch),
      next_channel_(config.channel_base),
      notify_at_(no_notification) {}

error_code SendQueue::append(const FrameHeader& header,
                             BytesView payload,
                             const AppendOptions& options) {
  bool ignored = false;
  return append(header, payload, options, ignored);
}

error_code SendQueue::append(const FrameHeader& header,
                             BytesView payload,
                             const AppendOptions& options,
                             bool& batch_completed) {
  const std::size_t bytes = frame_header_size + payload.size();
  TimePoint deadline{};
  for (;;) {
    Lock lock(*this);
    if (payload.size() > peer_max_message_size_ && !options.handshake)
      return Errc::message_too_large;
    if (const error_code ec = refusal(options)) return ec;
    if (options.never_refused || fits(bytes)) {
      buffer_.append(completed(header, payload), payload);
      ++messages_;
      note_size();
      const bool on_io_thread = io_thread_->running_in_this_thread();
      const bool idle = machine_.state() == WriteMachine::State::idle;
      const bool may_write = !on_io_thread && !options.flushed_by_caller;
      const bool quiet = idle && may_write && Clock::now() - last_write_ >= quiet_after;
      const std::size_t gathered = buffer_.gathered();
      const std::size_t batch = config_.batch.max_bytes;
      const bool full = gathered >= batch;
      if (full) batches_written_.store(true, std::memory_order_relaxed);
      // Behind a write that is under way several batches gather; each is completed once.
      batch_completed = full && gathered / batch != (gathered - bytes) / batch;
      const auto action = machine_.on_append({gathered, options.urgent, on_io_thread, quiet});
      if (action == WriteMachine::Action::schedule && options.flushed_by_caller) return {};
      if (action == WriteMachine::Action::write && options.in_company) let_others_append(lock);
      carry_out(action, lock);
      return {};
    }
    lock.unlock();
    const bool wait = options.may_wait && config_.queue.when_full == OverflowPolicy::block &&
                      IoThread::current() == nullptr;
    if (!wait) return refuse_for_lack_of_room();
    if (deadline == TimePoint{}) {
      deadline = std::min(options.wait_deadline,
                          deadline_after(Clock::now(), config_.queue.block_timeout));
    }
    const error_code ec = wait_for_room(bytes, options, deadline);
    if (ec == Errc::would_block) return refuse_for_lack_of_room();
    if (ec) return ec;
  }
}

std::size_t SendQueue::find_burst_limit() const noexcept {
  if (refuse_reason_) return 0;
  const std::size_t waiting = buffer_.size() - buffer_.gathered();
  const std::size_t high_water_mark = config_.queue.high_water_mark;
  const std::size_t room = high_water_mark > waiting ? high_water_mark - waiting : 0;
  return std::min({room, machine_.gather_limit(), buffer_.gathered() + buffer_.room()});
}

error_code SendQueue::refuse_for_lack_of_room() {
  {
    const Lock lock(*this);
    refused_ = true;
  }
  notify_at(low_water_mark());
  return Errc::would_block;
}

void SendQueue::append_frames(BytesView frames) {
  Lock lock(*this);
  buffer_.append_frames(frames);
  note_size();
  carry_out(machine_.on_append({.gathered = buffer_.gathered(), .on_io_thread = true}), lock);
}

error_code SendQueue::refusal(const AppendOptions& options) const noexcept {
  if (refuse_reason_ && !options.never_refused) return refuse_reason_;
  if (!online() && !between_sessions_ && !options.offline) return Errc::not_connected;
  return {};
}

void SendQueue::carry_out(WriteMachine::Action action, Lock& lock) {
  switch (action) {
    case WriteMachine::Action::none: return;
    case WriteMachine::Action::write: return write_until_blocked(lock);
    case WriteMachine::Action::schedule: return schedule_flush({}, lock);
    case WriteMachine::Action::schedule_delayed:
      return schedule_flush(config_.batch.max_delay, lock);
    case WriteMachine::Action::wait_writable:
      return call_target(lock, [](WriteTarget& target) { target.wait_writable(); });
  }
}

void SendQueue::schedule_flush(std::chrono::microseconds delay, Lock& lock) {
  if (std::exchange(flush_pending_, true)) return;
  call_target(lock, [delay](WriteTarget& target) { target.schedule_flush(delay); });
}

template <typename Call>
void SendQueue::call_target(Lock& lock, Call call) {
  ++target_users_;
  WriteTarget& target = *target_;
  lock.unlock();
  call(target);
  lock.lock();
  --target_users_;
}

void SendQueue::let_others_append(Lock& lock) noexcept {
  ++target_users_;
  lock.unlock();
  ::sched_yield();
  lock.lock();
  --target_users_;
}

void SendQueue::write_until_blocked(Lock& lock) {
  ++target_users_;
  WriteTarget& target = *target_;
  auto action = WriteMachine::Action::write;
  for (int turn = 1; action == WriteMachine::Action::write; ++turn) {
    const BytesView chunk = buffer_.next_chunk();
    lock.unlock();
    error_code ec;
    const std::size_t written = chunk.empty() ? 0 : target.write_some(chunk, ec);
    const TimePoint now = Clock::now();
    lock.lock();
    buffer_.consume(written);
    note_size();
    last_write_ = now;
    if (written != 0) {
      ++writes_;
      bytes_written_ += written;
    }
    if (ec && ec != boost::asio::error::would_block) {
      // Stays in the writing state: nobody else tries, and the session is about to end.
      lock.unlock();
      target.write_failed(ec);
      lock.lock();
      break;
    }
    action =
        ec ? machine_.on_blocked() : machine_.on_written(!buffer_.empty(), turn < writes_per_turn);
    if (notification_due()) {
      lock.unlock();
      target.queue_drained();
      lock.lock();
    }
    wake_waiters(lock);
  }
  if (action != WriteMachine::Action::write) carry_out(action, lock);
  if (trim_due()) {
    lock.unlock();
    target.trim_later();
    lock.lock();
  }
  --target_users_;
}

bool SendQueue::trim_due() noexcept {
  const bool idle = machine_.state() == WriteMachine::State::idle;
  return idle && buffer_.capacity() > idle_capacity && !std::exchange(trim_pending_, true);
}

void SendQueue::trim() {
  Lock lock(*this);
  if (!online()) return;
  const bool idle = machine_.state() == WriteMachine::State::idle;
  if (!idle || Clock::now() - last_write_ < idle_after) {
    return call_target(lock, [](WriteTarget& target) { target.trim_later(); });
  }
  trim_pending_ = false;
  buffer_.release();
}

bool SendQueue::notification_due() noexcept {
  if (notify_at_ == no_notification || buffer_.size() > notify_at_) return false;
  notify_at_ = no_notification;
  return true;
}

void SendQueue::wake_waiters(Lock& lock) noexcept {
  if (waiters_.load(std::memory_order_relaxed) == 0) return;
  if (online() && !refuse_reason_ && buffer_.size() > low_water_mark()) return;
  lock.unlock();
  // Under the mutex, so that a waiter is either before its look at the queue or asleep.
  waiters_mutex_.lock();
  waiters_mutex_.unlock();
  progress_.notify_all();
  lock.lock();
}

template <typename Ready>
error_code SendQueue::wait_for(TimePoint deadline, error_code on_timeout, Ready ready) {
  std::unique_lock waiting(waiters_mutex_);
  waiters_.fetch_add(1, std::memory_order_relaxed);
  std::optional<error_code> result;
  for (;;) {
    {
      const Lock lock(*this);
      result = ready();
    }
    if (result) break;
    if (Clock::now() >= deadline) {
      result = on_timeout;
      break;
    }
    if (deadline == TimePoint::max()) {
      progress_.wait(waiting);
    } else {
      progress_.wait_until(waiting, deadline);
    }
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  return *result;
}

error_code SendQueue::wait_for_room(std::size_t bytes,
                                    const AppendOptions& options,
                                    TimePoint deadline) {
  return wait_for(deadline, Errc::would_block, [&]() -> std::optional<error_code> {
    if (const error_code ec = refusal(options)) return ec;
    if (fits(bytes)) return error_code();
    return std::nullopt;
  });
}

error_code SendQueue::wait_empty(TimePoint deadline) {
  std::optional<std::uint64_t> losses;
  return wait_for(deadline, Errc::timed_out, [&]() -> std::optional<error_code> {
    if (!losses) losses = losses_;
    if (*losses != losses_) return Errc::disconnected;
    const bool written = buffer_.empty() && machine_.state() != WriteMachine::State::writing;
    return written ? std::optional(error_code()) : std::nullopt;
  });
}

void SendQueue::attach(WriteTarget& target) {
  Lock lock(*this);
  target_ = &target;
  between_sessions_ = false;
  flush_pending_ = false;
  trim_pending_ = false;
  batches_written_.store(false, std::memory_order_relaxed);
  last_write_ = {};
  carry_out(machine_.on_attached(!buffer_.empty()), lock);
}

void SendQueue::set_peer_limit(std::size_t max_message_size) noexcept {
  const Lock lock(*this);
  peer_max_message_size_ =
      max_message_size == 0 ? max_payload_size : std::min(max_message_size, max_payload_size);
}

void SendQueue::detach() noexcept {
  Lock lock(*this);
  machine_.on_detached();
  between_sessions_ = true;
  // Writes never wait, so whoever is in one is out of it in a moment.
  while (target_users_ != 0) {
    lock.unlock();
    ::sched_yield();
    lock.lock();
  }
  target_ = nullptr;
  notify_at_ = no_notification;
}

Leftover SendQueue::take_leftover() {
  Lock lock(*this);
  between_sessions_ = false;
  peer_max_message_size_ = max_payload_size;
  Leftover leftover = buffer_.take_leftover();
  note_size();
  if (leftover.messages != 0) ++losses_;
  wake_waiters(lock);
  return leftover;
}

void SendQueue::put_back(Leftover leftover) {
  const Lock lock(*this);
  buffer_.put_back(std::move(leftover));
  note_size();
}

void SendQueue::refuse(error_code reason) noexcept {
  Lock lock(*this);
  refuse_reason_ = reason;
  wake_waiters(lock);
}

void SendQueue::accept_again() noexcept {
  const Lock lock(*this);
  refuse_reason_ = {};
}

void SendQueue::flush() {
  // A look at a burst that goes on leaves the lock to the sender.
  if (target_ != nullptr && batches_written_.exchange(false, std::memory_order_relaxed)) {
    return target_->schedule_flush(burst_watch);
  }
  Lock lock(*this);
  flush_pending_ = false;
  if (!online()) return;
  carry_out(machine_.on_flush(), lock);
}

void SendQueue::on_writable() {
  Lock lock(*this);
  carry_out(machine_.on_writable(), lock);
}

void SendQueue::notify_at(std::size_t bytes) noexcept {
  Lock lock(*this);
  notify_at_ = notify_at_ == no_notification ? bytes : std::max(notify_at_, bytes);
  if (!online() || !notification_due()) return;
  call_target(lock, [](WriteTarget& target) { target.queue_drained(); });
}

std::size_t SendQueue::size() const noexcept {
  const std::lock_guard guard(lock_);
  return buffer_.size();
}

bool SendQueue::take_refused() noexcept {
  const std::lock_guard guard(lock_);
  return std::exchange(refused_, false);
}

void SendQueue::count_unsent(std::size_t messages) noexcept {
  const std::lock_guard guard(lock_);
  unsent_ += messages;
}

void SendQueue::add_to(Statistics& total) const noexcept {
  const std::lock_guard guard(lock_);
  total.messages_sent += messages_;
  total.bytes_sent += bytes_written_;
  total.writes += writes_;
  total.messages_unsent += unsent_;
  total.bytes_queued += buffer_.size();
}

}  // namespace ntcpmsg::detail
