#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ntcpmsg/error.hpp>
#include <optional>
#include <thread>

#include "run_mode.hpp"
#include "test_support/numbered_payload.hpp"
#include "test_support/test_events.hpp"

namespace client_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll_interval{1};
constexpr std::chrono::seconds request_limit{30};

/// Counts what is pushed. One session pushes, so there is one writer, and the order is kept.
class Arrivals {
 public:
  explicit Arrivals(std::size_t size) : size_(size) {}

  void receive(const ntcpmsg::Message& message) noexcept {
    if (message.event() != test_support::events::push_data) return;
    const std::uint64_t number = messages();
    const ntcpmsg::BytesView payload = message.payload();
    const bool intact =
        payload.size() == size_ &&
        test_support::NumberedPayload::number_in(payload).value_or(number) == number;
    if (!intact) corrupt_.fetch_add(1, std::memory_order_relaxed);
    messages_.store(number + 1, std::memory_order_relaxed);
  }

  std::uint64_t messages() const noexcept { return messages_.load(std::memory_order_relaxed); }
  std::uint64_t corrupt() const noexcept { return corrupt_.load(std::memory_order_relaxed); }

 private:
  std::size_t size_;
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> corrupt_{0};
};

/// Waits until `wanted` messages arrived, until nothing arrives any more, or while `go_on` says so.
template <typename GoOn>
void await(const Arrivals& arrivals, std::uint64_t wanted, RunControl& control, GoOn go_on) {
  auto last_progress = Clock::now();
  std::uint64_t seen = arrivals.messages();
  while (seen < wanted && go_on() && Clock::now() - last_progress < stall_limit) {
    std::this_thread::sleep_for(poll_interval);
    const std::uint64_t now_seen = arrivals.messages();
    if (now_seen == seen) continue;
    control.advance(now_seen - seen);
    seen = now_seen;
    last_progress = Clock::now();
  }
}

bool start_pushing(const RunContext& context) {
  const nlohmann::json order = {{"count", context.options.count.value_or(0)},
                                {"size", context.options.size}};
  const std::string text = order.dump();
  ntcpmsg::error_code ec;
  context.client.sync_send(
      test_support::events::start_push, ntcpmsg::as_bytes(text), request_limit, ec);
  if (ec) context.control.fail(fmt::format("the server does not push: {}", ec.message()));
  return !ec;
}

/// How many messages the server pushed, once it pushes no more.
std::optional<std::uint64_t> stop_pushing(const RunContext& context) {
  ntcpmsg::error_code ec;
  const ntcpmsg::Bytes reply = context.client.sync_send(
      test_support::events::stop_push, ntcpmsg::BytesView(), request_limit, ec);
  const auto json = nlohmann::json::parse(ntcpmsg::as_text(reply), nullptr, false);
  if (!ec && json.is_object() && json.contains("pushed")) {
    return json["pushed"].get<std::uint64_t>();
  }
  context.control.fail(fmt::format("the server does not tell how many messages it pushed{}{}",
                                   ec ? ": " : "",
                                   ec ? ec.message() : ""));
  return std::nullopt;
}

}  // namespace

RunResult run_push(const RunContext& context) {
  const auto arrivals = std::make_shared<Arrivals>(context.options.size);
  context.client.on_received(
      [arrivals](const ntcpmsg::Message& message) { arrivals->receive(message); });

  RunResult result;
  const auto start = Clock::now();
  if (!start_pushing(context)) return result;
  const std::uint64_t wanted =
      context.options.count.value_or(std::numeric_limits<std::uint64_t>::max());
  await(*arrivals, wanted, context.control, [&] { return !context.control.stopping(); });
  auto end = Clock::now();
  const bool stalled = arrivals->messages() < wanted && !context.control.stopping();

  const std::optional<std::uint64_t> pushed = stop_pushing(context);
  if (arrivals->messages() < wanted) {
    await(
        *arrivals, pushed.value_or(0), context.control, [&] { return context.client.connected(); });
    end = Clock::now();
  }
  result.seconds = std::chrono::duration<double>(end - start).count();
  result.messages = arrivals->messages();
  result.corrupt = arrivals->corrupt();
  result.lost = pushed ? *pushed - std::min(*pushed, result.messages) : 0;
  if (stalled) context.control.fail(fmt::format("nothing arrived for {} s", stall_limit.count()));
  return result;
}

}  // namespace client_test
