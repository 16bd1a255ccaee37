#include "base/one_shot_event.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>

#include "thread_state.hpp"

namespace ntcpmsg::detail {
namespace {

using Clock = OneShotEvent::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto no_deadline = Clock::time_point::max();

TEST(OneShotEvent, is_not_set_at_first) { EXPECT_FALSE(OneShotEvent().is_set()); }

TEST(OneShotEvent, is_set_once_set) {
  OneShotEvent event;
  event.set();
  EXPECT_TRUE(event.is_set());
}

TEST(OneShotEvent, set_before_the_wait_ends_it_at_once) {
  OneShotEvent event;
  event.set();
  EXPECT_TRUE(event.wait_until(no_deadline));
}

TEST(OneShotEvent, set_before_the_wait_wins_over_a_deadline_that_has_passed) {
  OneShotEvent event;
  event.set();
  EXPECT_TRUE(event.wait_until(Clock::time_point{}));
}

/// Lets a thread fall asleep on an event, sets it, and tells whether that woke the thread in time.
bool set_wakes_a_sleeper(Clock::time_point deadline) {
  OneShotEvent event;
  std::atomic<pid_t> waiter_id{0};
  bool woken = false;
  std::thread waiter([&] {
    waiter_id = test::this_thread_id();
    woken = event.wait_until(deadline) && Clock::now() < deadline;
  });
  while (waiter_id == 0) std::this_thread::yield();
  const bool slept = test::await_sleep_of(waiter_id);
  event.set();
  waiter.join();
  return slept && woken;
}

TEST(OneShotEvent, set_during_the_wait_wakes_the_waiter_before_its_deadline) {
  EXPECT_TRUE(set_wakes_a_sleeper(Clock::now() + seconds(40)));
}

TEST(OneShotEvent, set_during_the_wait_wakes_a_waiter_without_a_deadline) {
  EXPECT_TRUE(set_wakes_a_sleeper(no_deadline));
}

TEST(OneShotEvent, that_nobody_sets_ends_the_wait_at_the_deadline_and_not_before) {
  OneShotEvent event;
  const auto deadline = Clock::now() + milliseconds(20);
  EXPECT_FALSE(event.wait_until(deadline));
  EXPECT_GE(Clock::now(), deadline);
}

TEST(OneShotEvent, that_nobody_sets_ends_a_wait_whose_deadline_has_passed) {
  OneShotEvent event;
  EXPECT_FALSE(event.wait_until(Clock::now() - seconds(1)));
  EXPECT_FALSE(event.wait_until(Clock::time_point{}));
}

TEST(OneShotEvent, that_nobody_sets_ends_a_wait_whose_deadline_lies_before_the_clocks_start) {
  OneShotEvent event;
  EXPECT_FALSE(event.wait_until(Clock::time_point{} - seconds(1)));
  EXPECT_FALSE(event.wait_until(Clock::time_point::min()));
}

TEST(OneShotEvent, can_be_waited_for_again_after_a_deadline) {
  OneShotEvent event;
  EXPECT_FALSE(event.wait_until(Clock::now()));
  event.set();
  EXPECT_TRUE(event.wait_until(no_deadline));
}

/// Hands events over to a thread that sets each and then says that it is done with it.
class Setter {
 public:
  Setter() : thread_([this] { run(); }) {}
  ~Setter() {
    stopped_ = true;
    thread_.join();
  }
  Setter(const Setter&) = delete;
  Setter& operator=(const Setter&) = delete;

  void hand_over(OneShotEvent& event) { event_ = &event; }

  void await_done() const {
    while (event_.load() != nullptr) std::this_thread::yield();
  }

 private:
  void run() {
    while (!stopped_) {
      if (OneShotEvent* const event = event_.load()) {
        event->set();
        event_ = nullptr;
      } else {
        std::this_thread::yield();
      }
    }
  }

  std::atomic<OneShotEvent*> event_{nullptr};
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

TEST(OneShotEvent, may_leave_the_stack_as_soon_as_the_wait_is_over) {
  constexpr std::byte poison{0xEE};
  Setter setter;
  for (int i = 0; i < 10'000; ++i) {
    alignas(OneShotEvent) std::array<std::byte, sizeof(OneShotEvent)> memory;
    auto* const event = std::construct_at(reinterpret_cast<OneShotEvent*>(memory.data()));
    setter.hand_over(*event);
    ASSERT_TRUE(event->wait_until(no_deadline)) << i;
    std::destroy_at(event);
    memory.fill(poison);
    setter.await_done();
    ASSERT_EQ(std::ranges::count(memory, poison), std::ptrdiff_t{sizeof(OneShotEvent)}) << i;
  }
}

}  // namespace
}  // namespace ntcpmsg::detail
