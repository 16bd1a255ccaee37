#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ntcpmsg/ntcpmsg.hpp"

namespace ntcpmsg::test {

using namespace std::chrono_literals;

/// No event of these tests takes this long, also under a sanitizer on a busy machine.
inline constexpr std::chrono::seconds patience{10};

inline Endpoint loopback() { return {boost::asio::ip::address_v4::loopback(), 0}; }

/// Values that threads change and a test waits for.
template <typename Values>
class Monitor {
 public:
  template <typename Change>
  void change(Change apply) {
    // Told under the lock: whoever waits may destroy the monitor as soon as it has what it wants.
    const std::lock_guard guard(mutex_);
    apply(values_);
    changed_.notify_all();
  }

  /// True when `ready(values)` came true in time.
  template <typename Ready>
  bool await(Ready ready, std::chrono::milliseconds timeout = patience) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return ready(values_); });
  }

  Values get() const {
    const std::lock_guard guard(mutex_);
    return values_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Values values_{};
};

/// For conditions nobody tells of, such as `state()`: looks until it is true or time is up.
template <typename Ready>
bool await_true(Ready ready, std::chrono::milliseconds timeout = patience) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!ready()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Aborts the process with a message when the test makes no step for too long.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit = std::chrono::seconds(10))
      : limit_(limit), thread_([this] { run(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard guard(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void step(std::string what) {
    const std::lock_guard guard(mutex_);
    what_ = std::move(what);
    ++steps_;
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!done_) {
      const auto seen = steps_;
      if (changed_.wait_for(lock, limit_, [&] { return done_ || steps_ != seen; })) continue;
      std::fprintf(stderr, "watchdog: stuck in %s\n", what_.c_str());
      std::abort();
    }
  }

  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "the first step";
  std::uint64_t steps_ = 0;
  bool done_ = false;
  std::thread thread_;
};

/// How often to do what is done `full` times in a full run; NTCPMSG_FAULT_PERCENT makes it less.
inline int iterations(int full) {
  const char* const percent = std::getenv("NTCPMSG_FAULT_PERCENT");
  return std::max(1, percent != nullptr ? full * std::atoi(percent) / 100 : full);
}

/// The kernel completes connections to it; nobody ever reads or answers.
class SilentServer {
 public:
  explicit SilentServer(int backlog = 4096)
      : acceptor_(context_, boost::asio::ip::tcp::v4()), local_(bind(backlog)) {}

  const Endpoint& endpoint() const noexcept { return local_; }

 protected:
  boost::asio::io_context context_;

 private:
  Endpoint bind(int backlog) {
    acceptor_.bind(loopback());
    acceptor_.listen(backlog);
    return acceptor_.local_endpoint();
  }

  boost::asio::ip::tcp::acceptor acceptor_;
  Endpoint local_;
};

/// Connecting to it neither succeeds nor fails: its backlog is full, so the kernel drops what asks.
class FullServer : public SilentServer {
 public:
  FullServer() : SilentServer(0) {
    for (int i = 0; i < 4; ++i) {
      auto& socket = fillers_.emplace_back(context_);
      // Begins at once; that it ended would be told by a loop that never runs.
      socket.async_connect(endpoint(), [](error_code) {});
    }
  }

 private:
  std::vector<boost::asio::ip::tcp::socket> fillers_;
};

/// Connecting to it is refused, and its port is nobody else's.
class ClosedPort {
 public:
  ClosedPort() : socket_(context_, loopback()), local_(socket_.local_endpoint()) {}

  const Endpoint& endpoint() const noexcept { return local_; }

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_;
  Endpoint local_;
};

}  // namespace ntcpmsg::test
