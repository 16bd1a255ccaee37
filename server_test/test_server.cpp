#include "test_server.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "listen_addresses.hpp"
#include "test_support/process_usage.hpp"
#include "test_support/server_counters.hpp"
#include "test_support/test_events.hpp"

namespace server_test {
namespace {

ntcpmsg::ListenerOptions listener_options(const Options& options) {
  ntcpmsg::ListenerOptions result;
  result.threads = options.threads;
  // The threads that push look for a request to stop this often.
  result.queue.block_timeout = std::chrono::milliseconds(200);
  return result;
}

void log_error(const ntcpmsg::ErrorEvent& error) {
  spdlog::warn(
      "{}: {}{}{}{}",
      error.remote_endpoint.port() == 0 ? "listener" : ntcpmsg::to_string(error.remote_endpoint),
      error.code.message(),
      error.text.empty() ? "" : ": ",
      error.text,
      error.count == 0 ? "" : fmt::format(" ({})", error.count));
}

}  // namespace

TestServer::TestServer(const Options& options)
    : echo_(options.echo),
      listener_(std::make_unique<ntcpmsg::Listener>(listener_options(options))) {
  install_handlers();
  if (options.push_interval.count() != 0) {
    broadcaster_.emplace(*listener_, options.push_interval, options.push_text);
  }
}

void TestServer::install_handlers() {
  listener_->on_received([this](ntcpmsg::Message& message) { receive(message); });
  listener_->on_disconnected([this](const ntcpmsg::DisconnectedEvent& event) {
    // The counters of a cable stay: a lost connection of it comes back.
    if (event.cable_id == 0) counters_.forget(ClientKey::of(0, event.remote_endpoint));
  });
  listener_->on_error(log_error);
}

std::vector<ntcpmsg::Endpoint> TestServer::listen(const std::vector<std::string>& addresses) {
  std::vector<ntcpmsg::Endpoint> listening;
  for (const std::string& address : addresses) {
    std::ranges::copy(listen_on(*listener_, address), std::back_inserter(listening));
  }
  return listening;
}

void TestServer::receive(ntcpmsg::Message& message) {
  if (message.wants_reply()) {
    answer(message);
    return;
  }
  counters_.add(message);
  if (echo_) echo_sender_.send_back(message);
}

void TestServer::answer(ntcpmsg::Message& message) {
  switch (message.event()) {
    case test_support::events::counters: answer_counters(message); break;
    case test_support::events::start_push: push_jobs_.start(message); break;
    case test_support::events::stop_push: push_jobs_.stop(message); break;
    default: message.reply(message.payload());
  }
}

void TestServer::answer_counters(ntcpmsg::Message& message) {
  const auto client = counters_.sum(ClientKey::of(message));
  const ntcpmsg::Statistics all = listener_->statistics();
  test_support::ServerCounters counters;
  counters.messages = client.messages;
  counters.bytes = client.bytes;
  counters.total_messages = all.messages_received;
  counters.reads = all.reads;
  counters.writes = all.writes;
  counters.cpu_seconds = test_support::process_cpu_seconds();
  counters.echo_dropped = echo_sender_.dropped();
  const std::string text = nlohmann::json(counters).dump();
  message.reply(ntcpmsg::as_bytes(text));
}

Totals TestServer::shut_down(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + limit;
  if (broadcaster_) broadcaster_->stop();
  push_jobs_.stop_all();
  echo_sender_.wait_until_empty(deadline);

  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  Totals totals;
  ntcpmsg::error_code ec;
  totals.drain = listener_->drain(std::max(left, std::chrono::milliseconds(0)), ec);
  if (ec) spdlog::warn("cannot drain: {}", ec.message());
  echo_sender_.stop();

  totals.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  totals.cpu_seconds = test_support::process_cpu_seconds();
  totals.statistics = listener_->statistics();
  totals.echo_dropped = echo_sender_.dropped();
  totals.pushed = push_jobs_.pushed();
  totals.broadcast = broadcaster_ ? broadcaster_->sent() : 0;
  return totals;
}

}  // namespace server_test
