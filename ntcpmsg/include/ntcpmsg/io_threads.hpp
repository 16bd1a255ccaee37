#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace ntcpmsg {

namespace detail {
class IoThread;
}

/// Threads that do the I/O and run the handlers, each with its own event loop. A connection or
/// session stays on one of them for life. May be shared by any number of clients and listeners.
///
/// Thread-safe. The last owner may let go of it anywhere, also inside a handler.
class IoThreads {
 public:
  /// Starts `count` threads (at least 1).
  explicit IoThreads(std::size_t count = 1);
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  std::size_t size() const noexcept { return threads_.size(); }

  /// True when called from one of these threads.
  bool running_in_this_thread() const noexcept;

  /// The event loop of thread `index % size()`, e.g. to run a timer beside the handlers.
  boost::asio::io_context& context(std::size_t index) noexcept;

  /// For the library: the thread that the next connection goes to, round robin.
  std::shared_ptr<detail::IoThread> next() noexcept;
  /// For the library: thread `index % size()`.
  const std::shared_ptr<detail::IoThread>& at(std::size_t index) const noexcept;

 private:
  std::vector<std::shared_ptr<detail::IoThread>> threads_;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ntcpmsg
