// What a send queue refuses, and how senders wait for room.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "on_io_thread.hpp"
#include "scripted_target.hpp"
#include "session/send_queue.hpp"
#include "thread_state.hpp"

namespace ntcpmsg::detail {
namespace {

using std::chrono::milliseconds;
using test::QueueWithTarget;
using test::RunningIoThread;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr AppendOptions no_wait{.may_wait = false};
const error_code success;

SendQueue::Config with(OverflowPolicy policy, Milliseconds timeout) {
  auto config = QueueWithTarget::small();
  config.queue.when_full = policy;
  config.queue.block_timeout = timeout;
  return config;
}

/// The high-water mark is 100.
class SendQueueBounds : public testing::Test, public QueueWithTarget {
 public:
  SendQueueBounds() : QueueWithTarget(small()) {}
};

TEST_F(SendQueueBounds, takes_messages_up_to_the_high_water_mark) {
  fill_up_to(50);
  EXPECT_EQ(append(2, 50, no_wait), success);
  EXPECT_EQ(queue.size(), 100U);
  EXPECT_FALSE(queue.above_high_water());
}

TEST_F(SendQueueBounds, refuses_a_message_that_goes_one_byte_beyond_the_high_water_mark) {
  fill_up_to(50);
  EXPECT_EQ(append(2, 51, no_wait), Errc::would_block);
  EXPECT_EQ(queue.size(), 50U);
}

TEST_F(SendQueueBounds, takes_one_larger_message_when_it_is_empty) {
  fill_up_to(500);
  EXPECT_EQ(queue.size(), 500U);
  EXPECT_TRUE(queue.above_high_water());
  EXPECT_EQ(append(2, 16, no_wait), Errc::would_block);
}

TEST_F(SendQueueBounds, counts_what_was_written_of_a_message_as_room) {
  fill_up_to(100);
  EXPECT_EQ(append(2, 20, no_wait), Errc::would_block);
  make_room(20);
  EXPECT_EQ(append(2, 20, no_wait), success);
}

TEST_F(SendQueueBounds, remembers_once_that_it_refused_a_message) {
  fill_up_to(100);
  EXPECT_FALSE(queue.take_refused());
  append(2, 20, no_wait);
  append(3, 20, no_wait);
  EXPECT_TRUE(queue.take_refused());
  EXPECT_FALSE(queue.take_refused());
}

TEST_F(SendQueueBounds, tells_when_it_is_half_empty_after_it_refused_a_message) {
  fill_up_to(100);
  append(2, 20, no_wait);
  make_room(49);
  EXPECT_THAT(target.take_calls(), ElementsAre("write 49", "write blocks", "wait writable"));
  make_room(1);
  EXPECT_THAT(target.take_calls(),
              ElementsAre("write 1", "drained", "write blocks", "wait writable"));
}

TEST_F(SendQueueBounds, never_makes_a_sender_on_an_io_thread_wait) {
  fill_up_to(100);
  RunningIoThread other;
  error_code ec;
  const TimePoint before = Clock::now();
  other.run([&] { ec = append(2, 20); });
  EXPECT_EQ(ec, Errc::would_block);
  EXPECT_LT(Clock::now() - before, QueueOptions().block_timeout);
}

TEST_F(SendQueueBounds, takes_replies_even_when_it_is_full_or_closed) {
  constexpr AppendOptions reply{.never_refused = true};
  fill_up_to(100);
  EXPECT_EQ(append(2, 20, reply), success);
  queue.refuse(Errc::closed);
  EXPECT_EQ(append(3, 20, reply), success);
  EXPECT_EQ(queue.size(), 140U);
}

TEST_F(SendQueueBounds, takes_frames_another_queue_had_accepted_even_when_it_is_full) {
  fill_up_to(100);
  queue.append_frames(test::one_frame({.event = 2}, {}));
  make_room(1000);
  EXPECT_THAT(received(), ElementsAre(1, 2));
}

TEST_F(SendQueueBounds, fails_at_once_when_the_policy_is_not_to_wait) {
  QueueWithTarget failing(with(OverflowPolicy::fail, no_timeout));
  failing.fill_up_to(100);
  EXPECT_EQ(failing.append(2, 20), Errc::would_block);
  EXPECT_TRUE(failing.queue.take_refused());
}

TEST(SendQueueLimit, refuses_what_is_longer_than_the_peer_accepts_and_writes_nothing) {
  QueueWithTarget both(QueueWithTarget::large());
  both.attach();
  both.queue.set_peer_limit(10);
  EXPECT_EQ(both.append(1, frame_header_size + 11), Errc::message_too_large);
  EXPECT_EQ(both.append(2, frame_header_size + 11, {.never_refused = true}),
            Errc::message_too_large);
  EXPECT_THAT(both.target.take_calls(), IsEmpty());
  EXPECT_EQ(both.append(3, frame_header_size + 10), success);
  EXPECT_THAT(both.received(), ElementsAre(3));
}

TEST(SendQueueLimit, is_what_a_frame_can_carry_when_the_peer_says_nothing_or_more) {
  for (const std::size_t limit : {std::size_t{0}, SIZE_MAX}) {
    QueueWithTarget both(QueueWithTarget::large());
    both.attach();
    both.queue.set_peer_limit(10);
    both.queue.set_peer_limit(limit);
    EXPECT_EQ(both.append(1, frame_header_size + max_payload_size + 1), Errc::message_too_large);
    EXPECT_EQ(both.append(2, frame_header_size + max_payload_size), success);
    EXPECT_THAT(both.received(), ElementsAre(2));
  }
}

TEST(SendQueueLimit, is_not_that_of_the_peer_before_when_a_new_connection_is_made) {
  QueueWithTarget both(QueueWithTarget::large());
  both.attach();
  both.queue.set_peer_limit(10);
  both.queue.detach();
  both.queue.take_leftover();
  both.attach();
  EXPECT_EQ(both.append(1, frame_header_size + 11), success);
}

/// A sender on a thread of its own, asleep until there is room for its message, number 9.
class SleepingSender {
 public:
  SleepingSender(QueueWithTarget& both, std::size_t bytes, const AppendOptions& options = {})
      : thread_([this, &both, bytes, options] {
          id_ = test::this_thread_id();
          result_ = both.append(9, bytes, options);
          done_ = true;
        }) {
    while (id_ == 0) std::this_thread::yield();
    test::await_sleep_of(id_);
  }
  ~SleepingSender() {
    if (thread_.joinable()) thread_.join();
  }
  SleepingSender(const SleepingSender&) = delete;
  SleepingSender& operator=(const SleepingSender&) = delete;

  bool sleeps() const {
    std::this_thread::sleep_for(milliseconds(20));
    return !done_;
  }
  /// What the sender was told, after it was woken in time.
  error_code result() {
    thread_.join();
    EXPECT_LT(Clock::now() - started_, std::chrono::seconds(20)) << "nobody woke the sender";
    return result_;
  }

 private:
  const TimePoint started_ = Clock::now();
  std::atomic<pid_t> id_{0};
  std::atomic<bool> done_{false};
  error_code result_;
  std::thread thread_;
};

TEST_F(SendQueueBounds, lets_a_sender_sleep_until_the_queue_is_half_empty) {
  fill_up_to(100);
  SleepingSender sender(*this, 20);
  make_room(49);
  EXPECT_TRUE(sender.sleeps());
  make_room(1);
  EXPECT_EQ(sender.result(), success);
  make_room(1000);
  EXPECT_THAT(received(), ElementsAre(1, 9));
}

TEST_F(SendQueueBounds, wakes_all_senders_that_sleep) {
  fill_up_to(100);
  SleepingSender first(*this, 20);
  SleepingSender second(*this, 20);
  make_room(50);
  EXPECT_EQ(first.result(), success);
  EXPECT_EQ(second.result(), success);
}

TEST_F(SendQueueBounds, does_not_count_a_message_as_refused_that_was_taken_after_a_wait) {
  fill_up_to(100);
  SleepingSender sender(*this, 20);
  make_room(50);
  sender.result();
  EXPECT_FALSE(queue.take_refused());
}

TEST_F(SendQueueBounds, ends_the_wait_of_a_sender_when_messages_are_refused) {
  fill_up_to(100);
  SleepingSender sender(*this, 20);
  queue.refuse(Errc::closed);
  EXPECT_EQ(sender.result(), Errc::closed);
}

TEST_F(SendQueueBounds, ends_the_wait_of_a_sender_when_the_connection_is_gone) {
  fill_up_to(100);
  SleepingSender sender(*this, 20);
  queue.detach();
  EXPECT_TRUE(sender.sleeps());
  queue.take_leftover();
  EXPECT_EQ(sender.result(), Errc::not_connected);
}

TEST_F(SendQueueBounds, takes_the_message_of_a_sleeping_sender_offline_if_told_to) {
  fill_up_to(100);
  SleepingSender sender(*this, 20, {.offline = true});
  queue.detach();
  queue.put_back(queue.take_leftover());
  // The leftover is put back behind the sender's back: either way the message comes second.
  target.take(1000);
  attach();
  queue.flush();
  EXPECT_EQ(sender.result(), success);
  queue.flush();
  EXPECT_THAT(received(), ElementsAre(1, 9));
}

TEST(SendQueueTimeout, ends_the_wait_of_a_sender_after_the_time_of_the_queue) {
  QueueWithTarget both(with(OverflowPolicy::block, Milliseconds(20)));
  both.fill_up_to(100);
  const TimePoint before = Clock::now();
  EXPECT_EQ(both.append(2, 20), Errc::would_block);
  EXPECT_GE(Clock::now() - before, milliseconds(20));
}

TEST(SendQueueTimeout, ends_the_wait_of_a_sender_at_its_own_deadline_if_that_is_earlier) {
  QueueWithTarget both(with(OverflowPolicy::block, no_timeout));
  both.fill_up_to(100);
  const TimePoint deadline = Clock::now() + milliseconds(20);
  EXPECT_EQ(both.append(2, 20, {.wait_deadline = deadline}), Errc::would_block);
  EXPECT_GE(Clock::now(), deadline);
}

TEST(SendQueueTimeout, counts_a_message_whose_wait_ended_as_refused_and_tells_when_there_is_room) {
  QueueWithTarget both(with(OverflowPolicy::block, Milliseconds(1)));
  both.fill_up_to(100);
  both.append(2, 20);
  EXPECT_TRUE(both.queue.take_refused());
  both.make_room(50);
  EXPECT_THAT(both.target.take_calls(), testing::Contains("drained"));
}

TEST_F(SendQueueBounds, waits_until_everything_is_written) {
  fill_up_to(100);
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    EXPECT_EQ(queue.wait_empty(TimePoint::max()), success);
    done = true;
  });
  make_room(99);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(done);
  make_room(1);
  waiter.join();
}

TEST_F(SendQueueBounds, tells_when_not_everything_was_written_in_time) {
  fill_up_to(100);
  EXPECT_EQ(queue.wait_empty(Clock::now() + milliseconds(10)), Errc::timed_out);
}

TEST_F(SendQueueBounds, tells_who_waits_until_everything_is_written_that_it_was_taken_away) {
  fill_up_to(100);
  std::atomic<pid_t> id{0};
  std::thread waiter([&] {
    id = test::this_thread_id();
    EXPECT_EQ(queue.wait_empty(Clock::now() + std::chrono::seconds(20)), Errc::disconnected);
  });
  while (id == 0) std::this_thread::yield();
  test::await_sleep_of(id);
  queue.detach();
  queue.take_leftover();
  waiter.join();
}

TEST_F(SendQueueBounds, has_nothing_to_wait_for_when_it_is_empty) {
  attach();
  EXPECT_EQ(queue.wait_empty(TimePoint{}), success);
}

}  // namespace
}  // namespace ntcpmsg::detail
