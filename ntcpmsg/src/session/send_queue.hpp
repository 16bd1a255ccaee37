#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/biased_lock.hpp"
#include "base/deadline.hpp"
#include "batch/outbound_buffer.hpp"
#include "batch/write_machine.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/options.hpp"
#include "ntcpmsg/statistics.hpp"
#include "transport/io_thread.hpp"

namespace ntcpmsg::detail {

/// What a queue writes to: a live session. Called from any thread, never under the queue's lock,
/// and not after `detach` returned.
class WriteTarget {
 public:
  virtual std::size_t write_some(BytesView bytes, error_code& ec) noexcept = 0;
  /// Have the I/O thread call `flush` after `delay`.
  virtual void schedule_flush(std::chrono::microseconds delay) = 0;
  /// Have the I/O thread call `on_writable` when the peer takes more.
  virtual void wait_writable() = 0;
  /// The connection is broken. Must not call back at once.
  virtual void write_failed(error_code ec) = 0;
  /// The level asked for by `notify_at` was reached. Must not call back at once.
  virtual void queue_drained() = 0;
  /// Have the I/O thread call `trim` in a while.
  virtual void trim_later() = 0;

 protected:
  ~WriteTarget() = default;
};

/// How a message is appended.
struct AppendOptions {
  /// The sender waits for the answer: write at once rather than with the next batch.
  bool urgent = false;
  /// Others like this sender are at work: let them run before an urgent write, which takes along
  /// what they append. One write and one wake-up of the peer for all cost half of one for each.
  bool in_company = false;
  /// A reply: takes room even when there is none or new messages are refused, since what bounds
  /// replies is that their requests are no longer read.
  bool never_refused = false;
  /// May wait for room, as `QueueOptions` says, but not beyond `wait_deadline`. Never on an I/O
  /// thread.
  bool may_wait = true;
  TimePoint wait_deadline = TimePoint::max();
  /// Part of the hello, which the peer's limit does not concern.
  bool handshake = false;
  /// Accept the message when there is no connection, too.
  bool offline = false;
  /// The caller sees to it that the I/O thread calls `flush`: once for many messages and queues.
  bool flushed_by_caller = false;
};

/// Outbound messages of one connection: bounded, filled by any thread, written by whichever thread
/// has reason to. Outlives the sessions of a client that reconnects.
///
/// One thread at a time writes; the others' messages leave with its next write. Nothing is done
/// under the lock but to copy the message and to decide.
class SendQueue {
 public:
  struct Config {
    QueueOptions queue;
    BatchOptions batch;
    /// First number of the message counter that goes into the channel field.
    std::uint32_t channel_base = 0;
  };

  SendQueue(const Config& config, std::shared_ptr<IoThread> io_thread);

  /// Any thread. A header with channel 0 and without flag::sync gets the next message number.
  error_code append(const FrameHeader& header,
                    BytesView payload,
                    const AppendOptions& options = {});
  /// As `append`, telling whether this message completed a batch.
  error_code append(const FrameHeader& header,
                    BytesView payload,
                    const AppendOptions& options,
                    bool& batch_completed);
  /// The short way of a message in a burst, which nobody needs to act on. False, with nothing
  /// done, when it has to go the long way. Numbers a header as `append` does.
  ///
  /// Inlined by order and without a call, so that it needs no stack: the exchange of the lock waits
  /// for all stores before it, and saved registers were half of them.
  [[gnu::always_inline]] bool append_in_burst(const FrameHeader& header,
                                              BytesView payload) noexcept {
    if (!lock_.try_lock()) return false;
    const bool fits = buffer_.gathered() + frame_header_size + payload.size() <= burst_limit_ &&
                      payload.size() <= peer_max_message_size_;
    if (fits) buffer_.append_in_room(completed(header, payload), payload);
    messages_ += fits ? 1 : 0;
    lock_.unlock();
    return fits;
  }
  /// Appends whole frames that another queue had accepted, whatever room there is. I/O thread.
  void append_frames(BytesView frames);

  /// Any thread: waits until everything was written, else `timed_out`, or `disconnected` when it
  /// was taken away by `take_leftover`.
  error_code wait_empty(TimePoint deadline);

  /// I/O thread. From `attach` to `detach` the queue writes to the target. `detach` returns when no
  /// thread uses it any more; messages are still accepted then, until `take_leftover`.
  void attach(WriteTarget& target);
  /// Longest payload the peer accepts; 0: it did not say.
  void set_peer_limit(std::size_t max_message_size) noexcept;
  void detach() noexcept;
  /// What could not leave; from here on messages are refused unless they may wait
  /// for a connection.
  Leftover take_leftover();
  void put_back(Leftover leftover);
  /// No message is accepted from now on; those waiting still leave.
  void refuse(error_code reason) noexcept;
  /// The opposite: a client connects again.
  void accept_again() noexcept;

  /// I/O thread: writes what was scheduled.
  void flush();
  void on_writable();
  /// I/O thread: gives back the memory of a burst when nothing was written for long.
  void trim();

  /// Have the target's `queue_drained` called once when at most `bytes` wait.
  void notify_at(std::size_t bytes) noexcept;

  std::size_t size() const noexcept;
  /// Any thread, without waiting for anybody.
  bool above_high_water() const noexcept {
    return above_high_water_.load(std::memory_order_relaxed);
  }
  std::size_t low_water_mark() const noexcept { return config_.queue.high_water_mark / 2; }
  /// True once since the last call if a message was refused for lack of room.
  bool take_refused() noexcept;
  void add_to(Statistics& total) const noexcept;
  void count_unsent(std::size_t messages) noexcept;

 private:
  /// The lock for all but the short way, to which it leaves how far that may go.
  class Lock {
   public:
    explicit Lock(SendQueue& queue) noexcept : queue_(queue) { lock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() {
      if (locked_) unlock();
    }

    void lock() noexcept {
      queue_.lock_.lock();
      locked_ = true;
    }
    void unlock() noexcept {
      queue_.burst_limit_ = queue_.find_burst_limit();
      locked_ = false;
      queue_.lock_.unlock();
    }

   private:
    SendQueue& queue_;
    bool locked_ = false;
  };

  bool fits(std::size_t bytes) const noexcept {
    return buffer_.empty() || buffer_.size() + bytes <= config_.queue.high_water_mark;
  }
  bool online() const noexcept { return machine_.state() != WriteMachine::State::offline; }
  std::size_t find_burst_limit() const noexcept;
  error_code refusal(const AppendOptions& options) const noexcept;
  /// Remembers it, and tells the target when there is room again.
  error_code refuse_for_lack_of_room();
  std::uint32_t next_message_number() noexcept {
    return next_channel_ = config_.channel_base | ((next_channel_ + 1) & ~first_server_channel);
  }
  /// With the length and, if it has none, a number.
  [[gnu::always_inline]] FrameHeader completed(const FrameHeader& header,
                                               BytesView payload) noexcept {
    const bool numbered = header.channel != 0 || (header.flags & flag::sync) != 0;
    return {.flags = header.flags,
            .event = header.event,
            .cable_id = header.cable_id,
            .channel = numbered ? header.channel : next_message_number(),
            .length = static_cast<std::uint32_t>(payload.size())};
  }
  void note_size() noexcept {
    const bool above = buffer_.size() > config_.queue.high_water_mark;
    if (above != above_high_water()) above_high_water_.store(above, std::memory_order_relaxed);
  }
  void carry_out(WriteMachine::Action action, Lock& lock);
  void schedule_flush(std::chrono::microseconds delay, Lock& lock);
  void write_until_blocked(Lock& lock);
  void let_others_append(Lock& lock) noexcept;
  bool trim_due() noexcept;
  bool notification_due() noexcept;
  void wake_waiters(Lock& lock) noexcept;
  error_code wait_for_room(std::size_t bytes, const AppendOptions& options, TimePoint deadline);
  /// Sleeps until `ready`, called under the lock, has a result.
  template <typename Ready>
  error_code wait_for(TimePoint deadline, error_code on_timeout, Ready ready);
  /// Runs `call(target)` without the lock; `detach` waits for it.
  template <typename Call>
  void call_target(Lock& lock, Call call);

  Config config_;
  std::shared_ptr<IoThread> io_thread_;

  mutable BiasedLock lock_;
  OutboundBuffer buffer_;
  /// Bytes up to which the short way may fill the buffer; 0: not at all.
  std::size_t burst_limit_ = 0;
  WriteMachine machine_;
  // Changed by the I/O thread, which alone may read it without the lock.
  WriteTarget* target_ = nullptr;
  std::size_t peer_max_message_size_ = max_payload_size;
  std::uint32_t next_channel_;
  std::uint32_t target_users_ = 0;
  bool between_sessions_ = false;
  bool refused_ = false;
  /// The I/O thread was told to flush and has not done so yet.
  bool flush_pending_ = false;
  /// It was told to trim, and has not.
  bool trim_pending_ = false;
  /// Senders have written batches themselves since the I/O thread last looked in.
  std::atomic<bool> batches_written_{false};
  /// `size() > high_water_mark`. Set under the lock.
  std::atomic<bool> above_high_water_{false};
  error_code refuse_reason_;
  std::size_t notify_at_;
  TimePoint last_write_{};
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t unsent_ = 0;
  /// How often messages that waited were taken away unwritten.
  std::uint64_t losses_ = 0;

  // Senders that wait for room, off the path of those that need not.
  std::atomic<int> waiters_{0};
  std::mutex waiters_mutex_;
  std::condition_variable progress_;
};

}  // namespace ntcpmsg::detail
