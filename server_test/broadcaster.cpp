#include "broadcaster.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "test_support/test_events.hpp"

namespace server_test {

Broadcaster::Broadcaster(ntcpmsg::Listener& listener,
                         std::chrono::milliseconds interval,
                         std::string text)
    : listener_(listener),
      interval_(interval),
      text_(std::move(text)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Broadcaster::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Broadcaster::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  auto next = std::chrono::steady_clock::now() + interval_;
  while (!stop.stop_requested()) {
    stopped.wait_until(lock, stop, next, [] { return false; });
    if (stop.stop_requested()) return;
    sent_.fetch_add(listener_.broadcast(test_support::events::broadcast, ntcpmsg::as_bytes(text_)),
                    std::memory_order_relaxed);
    next += interval_;
  }
}

}  // namespace server_test
