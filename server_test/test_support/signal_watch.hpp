#pragma once

#include <chrono>
#include <csignal>

namespace test_support {

/// Waits for SIGINT and SIGTERM. Make it before any thread is started: threads inherit the blocked
/// signals, which then only `wait` receives.
class SignalWatch {
 public:
  SignalWatch();

  /// Waits up to `limit` and returns true once a signal has arrived. From then on it returns at
  /// once, and the next signal ends the process.
  bool wait(std::chrono::nanoseconds limit);

 private:
  sigset_t signals_{};
  bool arrived_ = false;
};

}  // namespace test_support
