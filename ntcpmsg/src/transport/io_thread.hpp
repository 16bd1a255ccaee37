#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>

#include "base/deadline.hpp"
#include "base/one_shot_event.hpp"

namespace ntcpmsg::detail {

/// One event loop on one thread, and the read buffer its sessions share.
class IoThread : public std::enable_shared_from_this<IoThread> {
 public:
  explicit IoThread(std::size_t index);

  /// Position among the threads of its `IoThreads`.
  std::size_t index() const noexcept { return index_; }
  boost::asio::io_context& context() noexcept { return context_; }
  std::span<std::byte> read_buffer() noexcept { return {read_buffer_.get(), read_buffer_size}; }

  bool running_in_this_thread() const noexcept { return current() == this; }
  /// The I/O thread that calls, of whatever connection; null on a user's thread.
  static IoThread* current() noexcept;

  void start();
  /// Ends the loop and waits for the thread until `deadline`; a thread that is still busy in a
  /// handler then, or is the calling one, finishes on its own.
  void stop(TimePoint deadline);

 private:
  static constexpr std::size_t read_buffer_size = 256 * 1024;

  struct Context : boost::asio::io_context {
    using io_context::io_context;
    using io_context::shutdown;
  };

  /// The end of the loop. What is ready still runs, so that whatever ended is told of; what waits
  /// is thrown away: it owns clients and sessions, and they own this loop.
  void wind_up();

  std::size_t index_;
  Context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unique_ptr<std::byte[]> read_buffer_;
  OneShotEvent finished_;
  std::thread thread_;
};

}  // namespace ntcpmsg::detail
