#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fault_proxy.hpp"
#include "fault_support.hpp"

namespace ntcpmsg::test {

/// A client of one connection, or a cable of three, as a test of their common part needs it.
class Subject {
 public:
  Subject(bool cable, const Endpoint& server, const ClientOptions& options) {
    if (cable) {
      cable_.emplace(server, 3U, options);
    } else {
      single_.emplace(server, options);
    }
  }
  Subject(bool cable, const std::string& host, std::uint16_t port, const ClientOptions& options) {
    if (cable) {
      cable_.emplace(host, port, 3U, options);
    } else {
      single_.emplace(host, port, options);
    }
  }

  MessageClient& operator*() {
    return single_ ? static_cast<MessageClient&>(*single_) : static_cast<MessageClient&>(*cable_);
  }
  MessageClient* operator->() { return &**this; }

 private:
  std::optional<SingleConnection> single_;
  std::optional<SingleConnectionCable> cable_;
};

/// Threads that do something until told to stop, or until it fails for good.
class Crowd {
 public:
  Crowd() = default;
  ~Crowd() { stop(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  /// `step` returns false when there is nothing more to do.
  template <typename Step>
  void run(int threads, Step step) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, step]() mutable {
        while (!done_ && step()) std::this_thread::yield();
      });
    }
  }

  void stop() {
    done_ = true;
    join();
  }
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

}  // namespace ntcpmsg::test
