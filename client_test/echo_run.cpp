#include "echo_run.hpp"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "test_support/test_events.hpp"

namespace client_test {
namespace {

constexpr std::chrono::seconds request_limit{30};

}  // namespace

EchoRun::EchoRun(const RunContext& context)
    : context_(context),
      limit_(context.options.count.value_or(std::numeric_limits<std::uint64_t>::max())) {
  const std::size_t count = context.options.window * context.options.connections();
  for (std::size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<Slot>(context.options.size));
  }
}

RunResult EchoRun::run() {
  const auto start = Clock::now();
  active_ = slots_.size();
  for (const auto& slot : slots_) start_next(*slot, Clock::now());

  std::unique_lock lock(mutex_);
  all_retired_.wait(lock, [this] { return active_ == 0; });
  result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::move(result_);
}

void EchoRun::start_next(Slot& slot, Clock::time_point now) {
  if (context_.control.stopping()) return retire(slot);
  const std::uint64_t number = issued_.fetch_add(1, std::memory_order_relaxed);
  if (number >= limit_) return retire(slot);
  slot.payload.set_number(number);
  slot.started = now;
  send(slot);
}

void EchoRun::send(Slot& slot) {
  // A completion never runs inside this call, so the chain of requests does not grow the stack.
  context_.client.async_request(
      test_support::events::sync_echo,
      slot.payload.view(),
      request_limit,
      [this, &slot](const ntcpmsg::error_code& ec, const ntcpmsg::Bytes& reply) {
        complete(slot, ec, reply);
      });
}

void EchoRun::send_when_writable(Slot& slot) {
  context_.client.async_wait_writable([this, &slot](const ntcpmsg::error_code& ec) {
    if (ec) return fail(slot, ec);
    send(slot);
  });
}

void EchoRun::complete(Slot& slot, const ntcpmsg::error_code& ec, ntcpmsg::BytesView reply) {
  if (ec == ntcpmsg::Errc::would_block) return send_when_writable(slot);
  if (ec) return fail(slot, ec);

  const auto now = Clock::now();
  if (!slot.payload.equals(reply)) ++slot.corrupt;
  slot.latencies[slot.latency_count++] = static_cast<std::uint64_t>((now - slot.started).count());
  if (slot.latency_count == slot.latencies.size()) store(slot);
  context_.control.advance(1);
  start_next(slot, now);
}

void EchoRun::fail(Slot& slot, const ntcpmsg::error_code& ec) {
  context_.control.fail(fmt::format("a request failed: {}", ec.message()));
  {
    const std::lock_guard lock(mutex_);
    ++result_.lost;
  }
  retire(slot);
}

void EchoRun::store(Slot& slot) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < slot.latency_count; ++i) result_.latency.record(slot.latencies[i]);
  result_.messages += slot.latency_count;
  result_.corrupt += slot.corrupt;
  slot.latency_count = 0;
  slot.corrupt = 0;
}

void EchoRun::retire(Slot& slot) {
  store(slot);
  const std::lock_guard lock(mutex_);
  // Under the lock: `run` returns, and this object ends, as soon as it can take it.
  if (--active_ == 0) all_retired_.notify_one();
}

}  // namespace client_test
