#include "test_client.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <memory>
#include <ntcpmsg/io_threads.hpp>
#include <stdexcept>
#include <string>

namespace client_test {
namespace {

constexpr std::chrono::milliseconds poll_interval{5};

ntcpmsg::ClientOptions client_options(const Options& options) {
  ntcpmsg::ClientOptions result;
  result.io_threads = std::make_shared<ntcpmsg::IoThreads>(options.io_threads);
  // Half of a queue has to hold one message, or waiting until it is half empty gives no room.
  constexpr std::size_t header_room = 64;
  result.queue.high_water_mark =
      std::max(result.queue.high_water_mark, 2 * (options.size + header_room));
  return result;
}

void stop_if_interrupted(bool interrupted) {
  if (interrupted) throw std::runtime_error("interrupted while connecting");
}

}  // namespace

TestClient::TestClient(const Options& options, RunControl& control) : options_(options) {
  const ntcpmsg::HostPort server = ntcpmsg::parse_host_port(options.server);
  if (options.single) {
    single_.emplace(server.host, server.port, client_options(options));
  } else {
    cable_.emplace(server.host, server.port, options.cable, client_options(options));
  }
  install_handlers(control);
}

void TestClient::install_handlers(RunControl& control) {
  messages().on_disconnected([&control](const ntcpmsg::error_code& reason) {
    if (reason == ntcpmsg::Errc::closed_by_user) return;
    control.fail(fmt::format("connection lost: {}", reason.message()));
  });
  messages().on_error([&control](const ntcpmsg::ErrorEvent& error) {
    control.remark(error.text.empty() ? error.code.message()
                                      : fmt::format("{}: {}", error.code.message(), error.text));
  });
}

ntcpmsg::MessageClient& TestClient::messages() noexcept {
  if (single_) return *single_;
  return *cable_;
}

void TestClient::connect(test_support::SignalWatch& signals) {
  const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
  wait_until_connected(signals);
  if (cable_) wait_for_other_connections(signals, deadline);
}

void TestClient::wait_until_connected(test_support::SignalWatch& signals) {
  const auto result = std::make_shared<std::promise<ntcpmsg::error_code>>();
  auto connected = result->get_future();
  messages().async_connect(options_.timeout,
                           [result](ntcpmsg::error_code ec) { result->set_value(ec); });
  while (connected.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    stop_if_interrupted(signals.wait(poll_interval));
  }
  if (const ntcpmsg::error_code ec = connected.get()) {
    throw std::runtime_error(
        fmt::format("cannot connect to {}: {}", options_.server, ec.message()));
  }
}

void TestClient::wait_for_other_connections(test_support::SignalWatch& signals,
                                            std::chrono::steady_clock::time_point deadline) const {
  while (cable_->connections() < cable_->capacity()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw std::runtime_error(fmt::format("only {} of {} connections to {} are up",
                                           cable_->connections(),
                                           cable_->capacity(),
                                           options_.server));
    }
    stop_if_interrupted(signals.wait(poll_interval));
  }
}

}  // namespace client_test
