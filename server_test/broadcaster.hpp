#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ntcpmsg/listener.hpp>
#include <string>
#include <thread>

namespace server_test {

/// Sends a text to all clients again and again.
class Broadcaster {
 public:
  /// `listener` must live longer.
  Broadcaster(ntcpmsg::Listener& listener, std::chrono::milliseconds interval, std::string text);

  void stop();

  /// Messages queued for clients so far.
  std::uint64_t sent() const noexcept { return sent_.load(std::memory_order_relaxed); }

 private:
  void run(const std::stop_token& stop);

  ntcpmsg::Listener& listener_;
  std::chrono::milliseconds interval_;
  std::string text_;
  std::atomic<std::uint64_t> sent_{0};
  // The last member: the thread uses the others.
  std::jthread thread_;
};

}  // namespace server_test
