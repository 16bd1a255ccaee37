#pragma once

#include <atomic>
#include <cstdint>

namespace server_test {

/// Messages and bytes, counted by one thread and read by any.
class Tally {
 public:
  void add(std::uint64_t bytes) noexcept {
    increase(messages_, 1);
    increase(bytes_, bytes);
  }

  std::uint64_t messages() const noexcept { return messages_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  // With a single writer no locked instruction is needed.
  static void increase(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace server_test
