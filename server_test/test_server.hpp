#pragma once

#include <chrono>
#include <memory>
#include <ntcpmsg/listener.hpp>
#include <optional>
#include <string>
#include <vector>

#include "broadcaster.hpp"
#include "client_counters.hpp"
#include "echo_sender.hpp"
#include "options.hpp"
#include "push_jobs.hpp"
#include "totals.hpp"

namespace server_test {

/// The listener with everything that client_test can ask of it.
class TestServer {
 public:
  explicit TestServer(const Options& options);
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  /// Throws `std::runtime_error` with a message for the user.
  std::vector<ntcpmsg::Endpoint> listen(const std::vector<std::string>& addresses);

  ntcpmsg::Statistics statistics() const { return listener_->statistics(); }

  /// Lets everything that was accepted be finished for up to `limit`, then cuts. Returns the
  /// totals.
  Totals shut_down(std::chrono::milliseconds limit);

 private:
  void install_handlers();
  void receive(ntcpmsg::Message& message);
  void answer(ntcpmsg::Message& message);
  void answer_counters(ntcpmsg::Message& message);

  bool echo_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ClientCounters counters_;
  EchoSender echo_sender_;
  PushJobs push_jobs_;
  // After all that its handlers use.
  std::unique_ptr<ntcpmsg::Listener> listener_;
  std::optional<Broadcaster> broadcaster_;
};

}  // namespace server_test
