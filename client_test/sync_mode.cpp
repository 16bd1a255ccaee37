#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <ntcpmsg/error.hpp>
#include <thread>
#include <vector>

#include "run_mode.hpp"
#include "test_support/numbered_payload.hpp"
#include "test_support/test_events.hpp"

namespace client_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds request_limit{30};

class SyncRun {
 public:
  explicit SyncRun(const RunContext& context)
      : context_(context),
        limit_(context.options.count.value_or(std::numeric_limits<std::uint64_t>::max())) {}

  RunResult run() {
    const auto start = Clock::now();
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < context_.options.threads; ++i) {
      threads.emplace_back([this] { run_thread(); });
    }
    threads.clear();
    result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void run_thread() {
    test_support::NumberedPayload payload(context_.options.size);
    RunResult own;
    while (!context_.control.stopping()) {
      const std::uint64_t number = issued_.fetch_add(1, std::memory_order_relaxed);
      if (number >= limit_) break;
      payload.set_number(number);
      if (!request(payload, own)) break;
    }
    const std::lock_guard lock(mutex_);
    result_.messages += own.messages;
    result_.lost += own.lost;
    result_.corrupt += own.corrupt;
    result_.latency.merge(own.latency);
  }

  bool request(const test_support::NumberedPayload& payload, RunResult& own) {
    const auto start = Clock::now();
    ntcpmsg::error_code ec;
    const ntcpmsg::Bytes reply = context_.client.sync_send(
        test_support::events::sync_echo, payload.view(), request_limit, ec);
    if (ec) {
      ++own.lost;
      context_.control.fail(fmt::format("a request failed: {}", ec.message()));
      return false;
    }
    own.latency.record(static_cast<std::uint64_t>((Clock::now() - start).count()));
    if (!payload.equals(reply)) ++own.corrupt;
    ++own.messages;
    context_.control.advance(1);
    return true;
  }

  const RunContext& context_;
  std::uint64_t limit_;
  std::atomic<std::uint64_t> issued_{0};
  std::mutex mutex_;
  RunResult result_;
};

}  // namespace

RunResult run_sync(const RunContext& context) { return SyncRun(context).run(); }

}  // namespace client_test
