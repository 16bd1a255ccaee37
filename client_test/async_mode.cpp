#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <ntcpmsg/error.hpp>
#include <thread>
#include <vector>

#include "counter_query.hpp"
#include "run_mode.hpp"
#include "test_support/numbered_payload.hpp"
#include "test_support/test_events.hpp"

namespace client_test {
namespace {

using Clock = std::chrono::steady_clock;

// Messages between two looks at the control.
constexpr std::uint64_t block_size = 256;

/// Returns how many of `count` messages were accepted; all unless `ec` is set.
std::uint64_t send_block(ntcpmsg::MessageClient& client,
                         test_support::NumberedPayload& payload,
                         std::uint64_t first,
                         std::uint64_t count,
                         ntcpmsg::error_code& ec) {
  for (std::uint64_t i = 0; i < count; ++i) {
    payload.set_number(first + i);
    client.async_send(test_support::events::async_data, payload.view(), ec);
    if (ec) return i;
  }
  return count;
}

/// Sends up to `quota` messages and returns how many were accepted.
std::uint64_t send_quota(const RunContext& context, std::uint64_t quota) {
  test_support::NumberedPayload payload(context.options.size);
  ntcpmsg::error_code ec;
  std::uint64_t sent = 0;
  while (sent < quota && !context.control.stopping()) {
    const std::uint64_t wanted = std::min(block_size, quota - sent);
    const std::uint64_t accepted = send_block(context.client, payload, sent, wanted, ec);
    sent += accepted;
    context.control.advance(accepted);
    if (ec) {
      context.control.fail(fmt::format("cannot send: {}", ec.message()));
      break;
    }
  }
  return sent;
}

/// The part of the count that thread `index` sends.
std::uint64_t quota_of(const Options& options, std::size_t index) {
  if (!options.count) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t rest = *options.count % options.threads;
  return *options.count / options.threads + (index < rest ? 1 : 0);
}

std::uint64_t send_all(const RunContext& context) {
  std::atomic<std::uint64_t> sent{0};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < context.options.threads; ++i) {
    threads.emplace_back([&context, &sent, quota = quota_of(context.options, i)] {
      sent.fetch_add(send_quota(context, quota));
    });
  }
  threads.clear();
  return sent;
}

/// Asks the server until it received `sent` messages or receives no more. The connections of a
/// cable overtake each other: the answer may come before the last messages do.
test_support::ServerCounters await_arrival(const RunContext& context, std::uint64_t sent) {
  constexpr std::chrono::milliseconds pause{1};
  test_support::ServerCounters arrived;
  auto last_progress = Clock::now();
  for (;;) {
    ntcpmsg::error_code ec;
    const auto counters = ask_counters(context.client, ec);
    if (!counters) {
      context.control.fail(fmt::format("cannot ask what arrived: {}", ec.message()));
      return arrived;
    }
    const auto now_arrived = counters->since(context.before);
    const auto now = Clock::now();
    if (now_arrived.messages > arrived.messages) last_progress = now;
    arrived = now_arrived;
    if (arrived.messages >= sent || now - last_progress > stall_limit) return arrived;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

RunResult run_async(const RunContext& context) {
  const auto start = Clock::now();
  const std::uint64_t sent = send_all(context);
  const auto arrived = await_arrival(context, sent);

  RunResult result;
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.messages = arrived.messages;
  result.lost = sent - std::min(sent, arrived.messages);
  const std::uint64_t bytes = arrived.messages * context.options.size;
  if (arrived.messages > sent) {
    context.control.fail(
        fmt::format("{} messages arrived although {} were sent", arrived.messages, sent));
  } else if (arrived.bytes != bytes) {
    context.control.fail(
        fmt::format("{} bytes arrived in messages of {} bytes", arrived.bytes, bytes));
  }
  return result;
}

}  // namespace client_test
