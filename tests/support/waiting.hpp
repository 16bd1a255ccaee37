#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace ntcpmsg::test {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

/// No event of a working library takes this long, also under a sanitizer on a busy machine.
inline constexpr std::chrono::seconds patience{10};

/// For conditions nobody tells of, such as `state()`: looks until it is true or time is up.
template <typename Condition>
bool wait_until(Condition condition, std::chrono::milliseconds timeout = patience) {
  const auto deadline = SteadyClock::now() + timeout;
  while (!condition()) {
    if (SteadyClock::now() >= deadline) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

/// How long something takes.
class Stopwatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start_);
  }

 private:
  SteadyClock::time_point start_ = SteadyClock::now();
};

/// Opens when it was counted down often enough.
class Latch {
 public:
  explicit Latch(std::size_t count = 1) : count_(count) {}

  void count_down() {
    // Told under the lock: who waits may destroy the latch at once.
    const std::lock_guard guard(mutex_);
    if (count_ != 0) --count_;
    opened_.notify_all();
  }

  /// False when it did not open in time.
  bool wait(std::chrono::milliseconds timeout = patience) {
    std::unique_lock lock(mutex_);
    return opened_.wait_for(lock, timeout, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  std::size_t count_;
};

/// What happened, in order; filled by any thread.
template <typename Event>
class EventLog {
 public:
  void add(Event event) {
    const std::lock_guard guard(mutex_);
    events_.push_back(std::move(event));
    added_.notify_all();
  }

  std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return events_.size();
  }

  /// False when fewer than `count` came in time.
  bool wait_for(std::size_t count, std::chrono::milliseconds timeout = patience) const {
    std::unique_lock lock(mutex_);
    return added_.wait_for(lock, timeout, [&] { return events_.size() >= count; });
  }

  std::vector<Event> all() const {
    const std::lock_guard guard(mutex_);
    return events_;
  }

  /// Event number `index`; waits for it, throws when it does not come.
  Event at(std::size_t index) const {
    if (!wait_for(index + 1)) throw std::runtime_error("an expected event did not come");
    const std::lock_guard guard(mutex_);
    return events_[index];
  }

  /// Takes the last event out, after waiting for one.
  Event take() {
    if (!wait_for(1)) throw std::runtime_error("an expected event did not come");
    const std::lock_guard guard(mutex_);
    Event event = std::move(events_.back());
    events_.pop_back();
    return event;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable added_;
  std::vector<Event> events_;
};

}  // namespace ntcpmsg::test
