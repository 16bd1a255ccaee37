#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <ntcpmsg/message.hpp>
#include <ntcpmsg/session_handle.hpp>
#include <thread>

namespace server_test {

/// What a client asked for by `events::start_push`.
struct PushOrder {
  /// 0: until stopped.
  std::uint64_t count = 0;
  std::size_t size = 0;
};

/// Pushes messages to one session as fast as it takes them, on a thread of its own that may wait
/// for room in the queue.
class PushJob {
 public:
  PushJob(ntcpmsg::SessionHandle session, const PushOrder& order);
  ~PushJob() = default;
  PushJob(const PushJob&) = delete;
  PushJob& operator=(const PushJob&) = delete;

  /// Ends the job, without waiting for that.
  void stop();
  /// Ends the job; `responder` tells the count as soon as no further message can follow.
  void stop(ntcpmsg::Responder responder);

  std::uint64_t pushed() const noexcept { return pushed_.load(std::memory_order_relaxed); }
  bool done() const;

 private:
  void run(const std::stop_token& stop);
  void push_all(const std::stop_token& stop);
  void answer(ntcpmsg::Responder& responder) const;

  ntcpmsg::SessionHandle session_;
  PushOrder order_;
  std::atomic<std::uint64_t> pushed_{0};
  mutable std::mutex mutex_;
  bool done_ = false;
  ntcpmsg::Responder responder_;
  // The last member: the thread uses the others.
  std::jthread thread_;
};

}  // namespace server_test
