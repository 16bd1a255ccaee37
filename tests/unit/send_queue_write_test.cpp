// Who writes what is appended to a send queue, and when.

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "on_io_thread.hpp"
#include "scripted_target.hpp"
#include "session/send_queue.hpp"

namespace ntcpmsg::detail {
namespace {

using std::chrono::milliseconds;
using test::QueueWithTarget;
using test::RunningIoThread;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr AppendOptions urgent{.urgent = true};

/// Appends messages of 20 bytes until one is not written at once, since the one before it was
/// written only some microseconds ago: from here on messages gather.
void begin_burst(QueueWithTarget& both) {
  for (int tries = 0; tries < 10'000; ++tries) {
    both.append(0, 20);
    if (both.target.take_calls() == std::vector<std::string>{"schedule"}) return;
  }
  FAIL() << "no burst comes about";
}

class SendQueueWrite : public testing::Test, public QueueWithTarget {
 public:
  SendQueueWrite() : QueueWithTarget(large()) { attach(); }
};

TEST_F(SendQueueWrite, leaves_a_connection_alone_when_nothing_waits) {
  EXPECT_THAT(target.take_calls(), IsEmpty());
  queue.flush();
  queue.on_writable();
  EXPECT_THAT(target.take_calls(), IsEmpty());
}

TEST_F(SendQueueWrite, writes_lone_messages_at_once_on_the_senders_thread) {
  for (std::uint32_t event = 1; event <= 5; ++event) {
    EXPECT_FALSE(append(event, 20));
    EXPECT_THAT(target.take_calls(), ElementsAre("write 20"));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_THAT(received(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(SendQueueWrite, gathers_a_burst_and_schedules_one_flush_for_all_of_it) {
  begin_burst(*this);
  for (std::uint32_t event = 1; event <= 10; ++event) append(event, 30);
  EXPECT_THAT(target.take_calls(), IsEmpty());
  queue.flush();
  EXPECT_THAT(target.take_calls(), ElementsAre("write 320"));
}

TEST_F(SendQueueWrite, lets_the_sender_that_completes_a_batch_write_it) {
  begin_burst(*this);
  append(1, 979);
  EXPECT_THAT(target.take_calls(), IsEmpty());
  append(2, 16);
  EXPECT_THAT(target.take_calls(), ElementsAre("write 1015"));
}

TEST_F(SendQueueWrite, completes_a_batch_with_exactly_max_bytes) {
  begin_burst(*this);
  bool batch_completed = true;
  queue.append({}, Bytes(979 - frame_header_size), {}, batch_completed);
  EXPECT_FALSE(batch_completed);
  queue.flush();
  target.take_calls();
  begin_burst(*this);
  queue.append({}, Bytes(980 - frame_header_size), {}, batch_completed);
  EXPECT_TRUE(batch_completed);
  EXPECT_THAT(target.take_calls(), ElementsAre("write 1000"));
}

TEST_F(SendQueueWrite, writes_an_urgent_message_at_once_with_all_that_gathered_before_it) {
  begin_burst(*this);
  append(1, 30);
  append(2, 40, urgent);
  EXPECT_THAT(target.take_calls(), ElementsAre("write 90"));
}

TEST_F(SendQueueWrite, writes_nothing_when_a_scheduled_flush_comes_too_late) {
  begin_burst(*this);
  append(1, 30, urgent);
  target.take_calls();
  queue.flush();
  EXPECT_THAT(target.take_calls(), IsEmpty());
}

TEST_F(SendQueueWrite, only_schedules_what_its_io_thread_appends) {
  RunningIoThread running(io_thread);
  running.run([this] {
    append(1, 20);
    append(2, 30);
  });
  EXPECT_THAT(target.take_calls(), ElementsAre("schedule"));
  running.run([this] { queue.flush(); });
  EXPECT_THAT(target.take_calls(), ElementsAre("write 50"));
}

TEST_F(SendQueueWrite, only_schedules_frames_that_another_queue_had_accepted) {
  Bytes frames;
  test::append_frame(frames, {.event = 1}, {});
  test::append_frame(frames, {.event = 2}, {});
  queue.append_frames(frames);
  EXPECT_THAT(target.take_calls(), ElementsAre("schedule"));
  queue.flush();
  EXPECT_THAT(received(), ElementsAre(1, 2));
}

TEST_F(SendQueueWrite, waits_until_writable_when_the_kernel_takes_a_part_and_then_writes_the_rest) {
  target.take(5);
  append(1, 20, urgent);
  EXPECT_THAT(target.take_calls(), ElementsAre("write 5", "write blocks", "wait writable"));
  make_room(100);
  EXPECT_THAT(target.take_calls(), ElementsAre("write 15"));
  EXPECT_THAT(received(), ElementsAre(1));
}

TEST_F(SendQueueWrite, lets_nobody_write_while_the_kernel_is_full) {
  target.take(0);
  append(1, 20);
  target.take_calls();
  append(2, 20, urgent);
  append(3, 2000);
  queue.flush();
  // A flush may look in again later, but does not write.
  EXPECT_THAT(target.take_calls(), Not(testing::Contains(testing::StartsWith("write"))));
  make_room(test::ScriptedTarget::everything);
  EXPECT_THAT(received(), ElementsAre(1, 2, 3));
}

TEST_F(SendQueueWrite, gives_way_to_others_after_eight_writes_in_a_row) {
  target.take_at_most_at_once(1);
  append(1, 20, urgent);
  std::vector<std::string> expected(8, "write 1");
  expected.emplace_back("schedule");
  EXPECT_EQ(target.take_calls(), expected);
  queue.flush();
  EXPECT_EQ(target.take_calls(), expected);
  queue.flush();
  EXPECT_EQ(target.take_calls(), std::vector<std::string>(4, "write 1"));
  EXPECT_THAT(received(), ElementsAre(1));
}

TEST_F(SendQueueWrite, tells_of_a_broken_connection_once_and_writes_no_more) {
  target.fail(boost::asio::error::connection_reset);
  append(1, 20);
  EXPECT_THAT(target.take_calls(), ElementsAre("write fails", "failed"));
  EXPECT_FALSE(append(2, 30, urgent));
  queue.on_writable();
  EXPECT_THAT(target.take_calls(), IsEmpty());
  queue.detach();
  EXPECT_THAT(test::events_of(queue.take_leftover().frames.view()), ElementsAre(1, 2));
}

TEST_F(SendQueueWrite, numbers_messages_in_the_channel_field_from_one) {
  append(1, 20);
  append(2, 20);
  queue.append({.flags = flag::sync, .event = 3, .channel = 77}, {});
  append(4, 20, urgent);
  const auto frames = test::decode_whole(target.received());
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[0].header.channel, 1U);
  EXPECT_EQ(frames[1].header.channel, 2U);
  EXPECT_EQ(frames[2].header.channel, 77U);
  EXPECT_EQ(frames[3].header.channel, 3U);
}

TEST_F(SendQueueWrite, counts_messages_bytes_and_writes) {
  target.take(30);
  append(1, 20, urgent);
  append(2, 50, urgent);
  queue.count_unsent(3);
  Statistics total;
  queue.add_to(total);
  EXPECT_EQ(total.messages_sent, 2U);
  EXPECT_EQ(total.bytes_sent, 30U);
  EXPECT_EQ(total.writes, 2U);
  EXPECT_EQ(total.bytes_queued, 40U);
  EXPECT_EQ(total.messages_unsent, 3U);
}

TEST(SendQueueOfAServer, numbers_messages_with_channels_of_servers) {
  QueueWithTarget both({.queue = {}, .batch = {}, .channel_base = first_server_channel});
  both.attach();
  both.append(1, 20);
  EXPECT_EQ(test::decode_whole(both.target.received())[0].header.channel, first_server_channel | 1);
}

SendQueue::Config with_delay() {
  return {.queue = {}, .batch = {.max_bytes = 1000, .max_delay = std::chrono::microseconds(5000)}};
}

TEST(SendQueueWithDelay, schedules_one_flush_after_the_delay) {
  QueueWithTarget both(with_delay());
  both.attach();
  both.append(1, 20);
  both.append(2, 30);
  EXPECT_THAT(both.target.take_calls(), ElementsAre("schedule after 5000"));
  both.queue.flush();
  EXPECT_THAT(both.target.take_calls(), ElementsAre("write 50"));
}

TEST(SendQueueWithDelay, does_not_delay_a_complete_batch_nor_an_urgent_message) {
  QueueWithTarget both(with_delay());
  both.attach();
  both.append(1, 1000);
  EXPECT_THAT(both.target.take_calls(), ElementsAre("write 1000"));
  both.append(2, 20, urgent);
  EXPECT_THAT(both.target.take_calls(), ElementsAre("write 20"));
}

}  // namespace
}  // namespace ntcpmsg::detail
