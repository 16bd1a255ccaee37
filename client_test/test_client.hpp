#pragma once

#include <ntcpmsg/message_client.hpp>
#include <ntcpmsg/single_connection.hpp>
#include <ntcpmsg/single_connection_cable.hpp>
#include <optional>

#include "options.hpp"
#include "run_control.hpp"
#include "test_support/signal_watch.hpp"

namespace client_test {

/// The single connection or the cable of a run.
class TestClient {
 public:
  /// A lost connection fails the run. `control` must live longer.
  TestClient(const Options& options, RunControl& control);
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  /// Waits until all connections are up. Throws `std::runtime_error` with a message for the user.
  void connect(test_support::SignalWatch& signals);

  ntcpmsg::MessageClient& messages() noexcept;

 private:
  void install_handlers(RunControl& control);
  void wait_until_connected(test_support::SignalWatch& signals);
  void wait_for_other_connections(test_support::SignalWatch& signals,
                                  std::chrono::steady_clock::time_point deadline) const;

  const Options& options_;
  std::optional<ntcpmsg::SingleConnection> single_;
  std::optional<ntcpmsg::SingleConnectionCable> cable_;
};

}  // namespace client_test
