#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace client_test {

/// What the threads of a run and the one that watches over it tell each other.
class RunControl {
 public:
  bool stopping() const noexcept { return stop_.load(std::memory_order_relaxed); }
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

  /// Messages done so far, for the progress bar.
  void advance(std::uint64_t messages) noexcept {
    progress_.fetch_add(messages, std::memory_order_relaxed);
  }
  std::uint64_t progress() const noexcept { return progress_.load(std::memory_order_relaxed); }

  /// Stops the run. The first reason is kept.
  void fail(std::string reason);
  /// Keeps the first remark: details for the message if the run fails.
  void remark(std::string text);
  /// Reason and remark, empty unless the run failed.
  std::string failure() const;

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> progress_{0};
  mutable std::mutex mutex_;
  std::string reason_;
  std::string remark_;
};

}  // namespace client_test
