#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ntcpmsg/bytes.hpp>
#include <ntcpmsg/error.hpp>
#include <vector>

#include "run_mode.hpp"
#include "run_result.hpp"
#include "test_support/numbered_payload.hpp"

namespace client_test {

/// Keeps a window of requests in flight: the completion of each starts the next.
class EchoRun {
 public:
  explicit EchoRun(const RunContext& context);
  EchoRun(const EchoRun&) = delete;
  EchoRun& operator=(const EchoRun&) = delete;

  RunResult run();

 private:
  using Clock = std::chrono::steady_clock;

  /// One request in flight after the other. Completions may run on different threads, but those of
  /// one slot never at the same time.
  struct Slot {
    explicit Slot(std::size_t size) : payload(size) {}

    test_support::NumberedPayload payload;
    Clock::time_point started;
    // Results that wait for the lock, so that it is taken once for many.
    std::array<std::uint64_t, 64> latencies{};
    std::size_t latency_count = 0;
    std::uint64_t corrupt = 0;
  };

  void start_next(Slot& slot, Clock::time_point now);
  void send(Slot& slot);
  void send_when_writable(Slot& slot);
  void complete(Slot& slot, const ntcpmsg::error_code& ec, ntcpmsg::BytesView reply);
  void fail(Slot& slot, const ntcpmsg::error_code& ec);
  void store(Slot& slot);
  void retire(Slot& slot);

  const RunContext& context_;
  std::uint64_t limit_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<std::uint64_t> issued_{0};
  std::mutex mutex_;
  std::condition_variable all_retired_;
  std::size_t active_ = 0;
  RunResult result_;
};

}  // namespace client_test
