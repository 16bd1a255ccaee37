#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <ntcpmsg/bytes.hpp>
#include <ntcpmsg/message.hpp>
#include <ntcpmsg/session_handle.hpp>
#include <thread>

namespace server_test {

/// Sends messages back to where they came from, in order. A handler must not wait for room in a
/// full queue, so what finds it full goes over a thread that may. Dropped, and counted as such, is
/// only what waits for a client that is gone or reads nothing for `give_up_after`, and what exceeds
/// `max_waiting_bytes`.
class EchoSender {
 public:
  static constexpr std::size_t max_waiting_bytes = 256UL * 1024 * 1024;
  static constexpr std::chrono::seconds give_up_after{30};

  EchoSender();
  ~EchoSender() = default;
  EchoSender(const EchoSender&) = delete;
  EchoSender& operator=(const EchoSender&) = delete;

  /// In a handler only.
  void send_back(const ntcpmsg::Message& message);

  /// Waits until nothing waits for room any more. False when the deadline comes first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline);

  /// Ends the thread; what still waits is dropped.
  void stop();

  /// Messages that could not be sent back.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    ntcpmsg::SessionHandle session;
    std::uint32_t event = 0;
    ntcpmsg::Bytes payload;

    std::size_t cost() const noexcept { return sizeof(Waiting) + payload.size(); }
  };

  void enqueue(const ntcpmsg::Message& message, ntcpmsg::SessionHandle session);
  void run(const std::stop_token& stop);
  bool send(const Waiting& waiting, const std::stop_token& stop) const;

  std::atomic<std::uint64_t> dropped_{0};
  // Messages in the queue or in the hands of the thread: as long as there are any, later ones queue
  // behind them.
  std::atomic<std::size_t> waiting_count_{0};
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Waiting> queue_;
  std::size_t queued_bytes_ = 0;
  std::jthread thread_;
};

}  // namespace server_test
