#pragma once

#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frames.hpp"
#include "session/send_queue.hpp"

namespace ntcpmsg::test {

/// A connection that takes as many bytes as it is told to and keeps a record of what is asked of
/// it. For one thread at a time.
class ScriptedTarget final : public detail::WriteTarget {
 public:
  static constexpr std::size_t everything = SIZE_MAX;

  /// From now on, so many bytes fit into the kernel's buffer.
  void take(std::size_t bytes) { room_ = bytes; }
  /// No write takes more than this at once.
  void take_at_most_at_once(std::size_t bytes) { most_at_once_ = bytes; }
  void fail(error_code ec) { failure_ = ec; }

  /// What was called since the last look, in words.
  std::vector<std::string> take_calls() { return std::exchange(calls_, {}); }
  const Bytes& received() const { return received_; }

  std::size_t write_some(BytesView bytes, error_code& ec) noexcept override {
    ec = failure_;
    if (!ec && room_ == 0) ec = boost::asio::error::would_block;
    if (ec) {
      calls_.push_back(failure_ ? "write fails" : "write blocks");
      return 0;
    }
    const std::size_t count = std::min({bytes.size(), room_, most_at_once_});
    if (room_ != everything) room_ -= count;
    received_.insert(
        received_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    calls_.push_back("write " + std::to_string(count));
    return count;
  }

  void schedule_flush(std::chrono::microseconds delay) override {
    calls_.push_back(delay.count() == 0 ? "schedule"
                                        : "schedule after " + std::to_string(delay.count()));
  }
  void wait_writable() override { calls_.emplace_back("wait writable"); }
  void write_failed(error_code /*ec*/) override { calls_.emplace_back("failed"); }
  void queue_drained() override { calls_.emplace_back("drained"); }
  void trim_later() override { ++trims_asked_; }
  int trims_asked() const { return trims_asked_; }

 private:
  std::size_t room_ = everything;
  std::size_t most_at_once_ = everything;
  error_code failure_;
  std::vector<std::string> calls_;
  int trims_asked_ = 0;
  Bytes received_;
};

/// The event numbers of a stream of whole frames.
inline std::vector<std::uint32_t> events_of(BytesView stream) {
  std::vector<std::uint32_t> events;
  for (const detail::Frame& frame : decode_whole(stream)) events.push_back(frame.header.event);
  return events;
}

/// A send queue with high-water mark 100 and batches of 1000 bytes unless told otherwise, and a
/// connection for it.
class QueueWithTarget {
 public:
  static detail::SendQueue::Config small() {
    return {.queue = {.high_water_mark = 100}, .batch = {.max_bytes = 1000}};
  }
  /// So large that nothing is refused.
  static detail::SendQueue::Config large() {
    return {.queue = {.high_water_mark = 1 << 30}, .batch = {.max_bytes = 1000}};
  }

  explicit QueueWithTarget(const detail::SendQueue::Config& config)
      : io_thread(std::make_shared<detail::IoThread>(0)), queue(config, io_thread) {}

  /// A message of so many bytes, header included.
  error_code append(std::uint32_t event,
                    std::size_t bytes,
                    const detail::AppendOptions& options = {}) {
    const Bytes payload(bytes - detail::frame_header_size, static_cast<std::byte>(event));
    return queue.append({.event = event}, payload, options);
  }

  void attach() { queue.attach(target); }

  /// Attaches a connection that takes nothing, and appends `bytes` in one message, number 1.
  void fill_up_to(std::size_t bytes) {
    attach();
    target.take(0);
    append(1, bytes);
    target.take_calls();
  }

  /// The kernel has room for so many bytes more.
  void make_room(std::size_t bytes) {
    target.take(bytes);
    queue.on_writable();
  }

  std::vector<std::uint32_t> received() const { return events_of(target.received()); }

  std::shared_ptr<detail::IoThread> io_thread;
  ScriptedTarget target;
  detail::SendQueue queue;
};

}  // namespace ntcpmsg::test
