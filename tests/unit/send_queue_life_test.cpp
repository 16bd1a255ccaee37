// What becomes of messages when connections come and go, and of those who wait for them.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/one_shot_event.hpp"
#include "scripted_target.hpp"
#include "session/send_queue.hpp"

namespace ntcpmsg::detail {
namespace {

using std::chrono::milliseconds;
using test::events_of;
using test::QueueWithTarget;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr AppendOptions offline{.offline = true};
constexpr AppendOptions urgent{.urgent = true};
const error_code success;

/// The high-water mark is 100.
class SendQueueLife : public testing::Test, public QueueWithTarget {
 public:
  SendQueueLife() : QueueWithTarget(small()) {}
};

TEST_F(SendQueueLife, has_no_connection_at_first) {
  EXPECT_EQ(append(1, 20), Errc::not_connected);
  EXPECT_EQ(append(1, 20, {.never_refused = true}), Errc::not_connected);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(SendQueueLife, keeps_messages_for_a_connection_to_come_if_told_to) {
  EXPECT_EQ(append(1, 20, offline), success);
  EXPECT_EQ(append(2, 20, offline), success);
  attach();
  EXPECT_THAT(target.take_calls(), ElementsAre("schedule"));
  queue.flush();
  EXPECT_THAT(received(), ElementsAre(1, 2));
}

TEST_F(SendQueueLife, is_bounded_without_a_connection_too) {
  EXPECT_EQ(append(1, 100, offline), success);
  EXPECT_EQ(append(2, 16, {.may_wait = false, .offline = true}), Errc::would_block);
}

TEST_F(SendQueueLife, refuses_messages_with_the_reason_given_while_those_waiting_still_leave) {
  fill_up_to(50);
  queue.refuse(Errc::closed);
  EXPECT_EQ(append(2, 20), Errc::closed);
  make_room(1000);
  EXPECT_THAT(received(), ElementsAre(1));
}

TEST_F(SendQueueLife, accepts_messages_again_when_it_is_opened_again) {
  attach();
  queue.refuse(Errc::closed);
  queue.accept_again();
  EXPECT_EQ(append(1, 20), success);
  EXPECT_THAT(received(), ElementsAre(1));
}

TEST_F(SendQueueLife, accepts_messages_between_the_end_of_a_connection_and_its_settlement) {
  fill_up_to(50);
  queue.detach();
  EXPECT_EQ(append(2, 20, urgent), success);
  EXPECT_THAT(target.take_calls(), IsEmpty());
  EXPECT_THAT(events_of(queue.take_leftover().frames.view()), ElementsAre(1, 2));
  EXPECT_EQ(append(3, 20), Errc::not_connected);
}

TEST_F(SendQueueLife, leaves_over_whole_frames_from_the_one_begun_and_counts_them) {
  attach();
  target.take(25);
  append(1, 20, urgent);
  append(2, 30, urgent);
  append(3, 40, urgent);
  queue.detach();
  const Leftover leftover = queue.take_leftover();
  EXPECT_EQ(leftover.messages, 2U);
  EXPECT_EQ(leftover.frames.size(), 70U);
  EXPECT_THAT(events_of(leftover.frames.view()), ElementsAre(2, 3));
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(SendQueueLife, keeps_the_order_of_what_is_put_back_and_what_came_meanwhile) {
  attach();
  target.take(25);
  append(1, 20, urgent);
  append(2, 30, urgent);
  queue.detach();
  Leftover leftover = queue.take_leftover();
  append(3, 20, offline);
  queue.put_back(std::move(leftover));
  append(4, 20, offline);
  test::ScriptedTarget next;
  queue.attach(next);
  queue.flush();
  EXPECT_THAT(events_of(next.received()), ElementsAre(2, 3, 4));
}

TEST_F(SendQueueLife, writes_nothing_for_flushes_and_waits_of_a_connection_that_is_gone) {
  fill_up_to(50);
  queue.detach();
  queue.flush();
  queue.on_writable();
  EXPECT_THAT(target.take_calls(), IsEmpty());
}

TEST_F(SendQueueLife, schedules_anew_on_a_new_connection_what_the_old_one_had_not_flushed) {
  append(1, 20, offline);
  attach();
  queue.detach();
  queue.put_back(queue.take_leftover());
  test::ScriptedTarget next;
  queue.attach(next);
  EXPECT_THAT(next.take_calls(), ElementsAre("schedule"));
}

TEST_F(SendQueueLife, tells_once_when_no_more_than_the_bytes_asked_for_wait) {
  fill_up_to(100);
  queue.notify_at(30);
  make_room(69);
  EXPECT_THAT(target.take_calls(), Not(Contains("drained")));
  make_room(1);
  EXPECT_THAT(target.take_calls(), Contains("drained").Times(1));
  make_room(30);
  EXPECT_THAT(target.take_calls(), Not(Contains("drained")));
}

TEST_F(SendQueueLife, tells_at_once_when_no_more_than_the_bytes_asked_for_wait_already) {
  fill_up_to(30);
  queue.notify_at(29);
  EXPECT_THAT(target.take_calls(), IsEmpty());
  queue.notify_at(30);
  EXPECT_THAT(target.take_calls(), ElementsAre("drained"));
}

TEST_F(SendQueueLife, tells_when_the_first_of_several_levels_is_reached) {
  fill_up_to(100);
  queue.notify_at(0);
  queue.notify_at(50);
  queue.notify_at(10);
  make_room(50);
  EXPECT_THAT(target.take_calls(), Contains("drained").Times(1));
}

TEST_F(SendQueueLife, tells_nobody_when_there_is_no_connection) {
  queue.notify_at(50);
  fill_up_to(100);
  queue.notify_at(50);
  queue.detach();
  queue.take_leftover();
  EXPECT_THAT(target.take_calls(), IsEmpty());
}

/// A connection whose writes, or whose requests for a flush, last until they are let go.
class SlowTarget final : public WriteTarget {
 public:
  std::size_t write_some(BytesView bytes, error_code& /*ec*/) noexcept override {
    pause();
    return bytes.size();
  }
  void schedule_flush(std::chrono::microseconds /*delay*/) override { pause(); }
  void wait_writable() override {}
  void write_failed(error_code /*ec*/) override {}
  void queue_drained() override {}
  void trim_later() override {}

  void await_entry() { entered_.wait_until(TimePoint::max()); }
  void let_go() { let_go_.set(); }

 private:
  void pause() noexcept {
    entered_.set();
    let_go_.wait_until(TimePoint::max());
  }

  OneShotEvent entered_;
  OneShotEvent let_go_;
};

/// Detaches while `use`, on another thread, is inside a call of the target; tells whether `detach`
/// returned only after that call.
template <typename Use>
bool detach_waits_for(SendQueue& queue, SlowTarget& target, Use use) {
  std::thread user(use);
  target.await_entry();
  std::atomic<bool> detached{false};
  std::thread owner([&] {
    queue.detach();
    detached = true;
  });
  std::this_thread::sleep_for(milliseconds(20));
  const bool too_early = detached;
  target.let_go();
  owner.join();
  user.join();
  return !too_early;
}

TEST_F(SendQueueLife, is_detached_only_when_a_write_on_another_thread_is_over) {
  SlowTarget slow;
  queue.attach(slow);
  EXPECT_TRUE(detach_waits_for(queue, slow, [this] { append(1, 20); }));
  EXPECT_EQ(queue.take_leftover().messages, 0U);
}

TEST_F(SendQueueLife, is_detached_only_when_a_request_for_a_flush_on_another_thread_is_over) {
  SlowTarget slow;
  queue.attach(slow);
  EXPECT_TRUE(detach_waits_for(
      queue, slow, [this] { queue.append_frames(test::one_frame({.event = 1}, {})); }));
  EXPECT_EQ(queue.take_leftover().messages, 1U);
}

TEST_F(SendQueueLife, accepts_messages_while_another_thread_writes) {
  SlowTarget slow;
  queue.attach(slow);
  std::thread writer([this] { append(1, 20); });
  slow.await_entry();
  EXPECT_EQ(append(2, 20, urgent), success);
  EXPECT_EQ(queue.size(), 40U);
  slow.let_go();
  writer.join();
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace ntcpmsg::detail
