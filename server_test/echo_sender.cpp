#include "echo_sender.hpp"

#include <ntcpmsg/error.hpp>
#include <utility>

namespace server_test {

EchoSender::EchoSender() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void EchoSender::send_back(const ntcpmsg::Message& message) {
  ntcpmsg::SessionHandle session = message.session();
  if (waiting_count_.load(std::memory_order_acquire) == 0) {
    ntcpmsg::error_code ec;
    session.push(message.event(), message.payload(), ec);
    if (!ec) return;
    if (ec != ntcpmsg::Errc::would_block) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  enqueue(message, std::move(session));
}

void EchoSender::enqueue(const ntcpmsg::Message& message, ntcpmsg::SessionHandle session) {
  const ntcpmsg::BytesView payload = message.payload();
  Waiting waiting{std::move(session), message.event(), {payload.begin(), payload.end()}};
  const std::size_t cost = waiting.cost();
  {
    const std::lock_guard lock(mutex_);
    if (queued_bytes_ + cost <= max_waiting_bytes) {
      queue_.push_back(std::move(waiting));
      queued_bytes_ += cost;
      waiting_count_.fetch_add(1, std::memory_order_relaxed);
      changed_.notify_all();
      return;
    }
  }
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

void EchoSender::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !queue_.empty(); }) && !stop.stop_requested()) {
    const Waiting waiting = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= waiting.cost();
    lock.unlock();
    if (!send(waiting, stop)) dropped_.fetch_add(1, std::memory_order_relaxed);
    lock.lock();
    if (waiting_count_.fetch_sub(1, std::memory_order_release) == 1) changed_.notify_all();
  }
  dropped_.fetch_add(queue_.size(), std::memory_order_relaxed);
  queue_.clear();
}

bool EchoSender::send(const Waiting& waiting, const std::stop_token& stop) const {
  const auto deadline = std::chrono::steady_clock::now() + give_up_after;
  ntcpmsg::error_code ec;
  do {
    // Waits for room for as long as the queue options of the listener say.
    waiting.session.push(waiting.event, waiting.payload, ec);
  } while (ec == ntcpmsg::Errc::would_block && !stop.stop_requested() &&
           std::chrono::steady_clock::now() < deadline);
  return !ec;
}

bool EchoSender::wait_until_empty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return waiting_count_.load() == 0; });
}

void EchoSender::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace server_test
