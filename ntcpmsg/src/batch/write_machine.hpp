#pragma once

#include <cstddef>

#include "ntcpmsg/policies.hpp"

namespace ntcpmsg::detail {

/// Who may write to a connection, and when. Decides only: no socket, no clock, no lock.
///
///     offline -> idle -> scheduled -> writing -> idle
///                   \______________/ |      \-> armed -> writing
///                                    \-> scheduled (handed over)
class WriteMachine {
 public:
  enum class State {
    /// There is no connection.
    offline,
    /// Everything was written.
    idle,
    /// Something waits, and the I/O thread was told to write it.
    scheduled,
    /// A thread is writing; what is appended leaves with its next write.
    writing,
    /// The kernel's buffer is full; the I/O thread waits until it takes more.
    armed,
  };

  enum class Action {
    none,
    /// The asking thread writes, now.
    write,
    /// Tell the I/O thread to flush.
    schedule,
    /// Tell the I/O thread to flush after `max_delay`.
    schedule_delayed,
    /// Tell the I/O thread to wait for writability.
    wait_writable,
  };

  /// What is known about an append besides its size.
  struct Append {
    /// Bytes gathered, this message included.
    std::size_t gathered = 0;
    /// The sender waits for the answer, so it had better write at once.
    bool urgent = false;
    /// The sender is the connection's own I/O thread, which flushes at the end of its turn.
    bool on_io_thread = false;
    /// The last write was long ago: this is no burst.
    bool quiet = false;
  };

  explicit WriteMachine(const BatchOptions& options) noexcept : options_(options) {}

  State state() const noexcept { return state_; }

  /// Up to so many gathered bytes nobody needs to act on a message: the short way of most messages
  /// in a burst. 0 when each needs the long way.
  std::size_t gather_limit() const noexcept {
    return state_ >= State::scheduled && options_.max_bytes != 0 ? options_.max_bytes - 1 : 0;
  }

  Action on_attached(bool something_waits) noexcept;
  void on_detached() noexcept { state_ = State::offline; }
  Action on_append(const Append& append) noexcept;
  /// The I/O thread carries out a scheduled flush.
  Action on_flush() noexcept;
  /// A write took all it was given. `may_go_on`: the writer has not yet done its share.
  Action on_written(bool something_waits, bool may_go_on) noexcept;
  /// A write took less than it was given.
  Action on_blocked() noexcept;
  Action on_writable() noexcept;

 private:
  Action write() noexcept {
    state_ = State::writing;
    return Action::write;
  }
  Action schedule() noexcept {
    state_ = State::scheduled;
    return Action::schedule;
  }

  Action on_append_when_idle(const Append& append) noexcept;

  BatchOptions options_;
  State state_ = State::offline;
};

}  // namespace ntcpmsg::detail
