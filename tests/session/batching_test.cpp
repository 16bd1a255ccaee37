// How many system calls messages take, and how soon they leave.

#include <gtest/gtest.h>

#include <thread>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool measures_time = false;
#else
constexpr bool measures_time = true;
#endif

TEST(BatchingTest, a_hundred_thousand_small_messages_take_few_writes) {
  constexpr std::size_t count = 100'000;
  TestServer server;
  Latch all(count);
  server.listener.on_received([&](Message&) { all.count_down(); });
  SingleConnection client(server.endpoint);
  client.connect();
  const Bytes payload(4);
  for (std::size_t i = 0; i < count; ++i) client.async_send(event::note, payload);
  EXPECT_TRUE(all.wait());
  if (measures_time) {
    EXPECT_LT(client.statistics().writes, 2000U);
  }
}

TEST(BatchingTest, answers_to_pipelined_requests_leave_together) {
  constexpr std::uint32_t count = 10'000;
  TestServer server;
  server.listener.on_received([](Message& message) { message.reply(message.payload()); });
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  std::thread asking([&] {
    Bytes requests;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t at = requests.size();
      requests.resize(at + detail::frame_header_size);
      detail::encode_header({.flags = 1, .event = event::echo, .channel = i}, &requests[at]);
    }
    peer.send(requests);
  });
  peer.receive(std::size_t{count} * detail::frame_header_size);
  asking.join();
  if (measures_time) {
    EXPECT_LT(server.listener.statistics().writes, 500U);
  }
}

TEST(BatchingTest, a_lone_message_arrives_without_any_other_event) {
  ScriptedListener listener;
  SingleConnection client(listener.endpoint(), closing_soon());
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.answer_hello();
  ASSERT_TRUE(wait_until([&] { return client.connected(); }));
  for (int i = 0; i < 20; ++i) {
    // Idle: longer than any burst.
    ASSERT_TRUE(peer.silent_for(2ms));
    const Stopwatch watch;
    client.async_send(event::note, as_bytes("lone"));
    EXPECT_EQ(peer.receive_frame().text(), "lone");
    if (measures_time) {
      EXPECT_LT(watch.elapsed(), 50ms);
    }
  }
}

TEST(BatchingTest, a_push_arrives_without_any_other_event) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  const SessionHandle session = server.accepted.at(0);
  for (int i = 0; i < 20; ++i) {
    const Stopwatch watch;
    session.push(3, as_bytes("lone"));
    EXPECT_EQ(peer.receive_frame().text(), "lone");
    if (measures_time) {
      EXPECT_LT(watch.elapsed(), 50ms);
    }
  }
}

class MaxDelayTest : public testing::Test {
 protected:
  static ClientOptions gathering() {
    ClientOptions options = closing_soon();
    options.batch.max_delay = 60ms;
    options.batch.max_bytes = 1000;
    return options;
  }

  MaxDelayTest() {
    client.start();
    peer = listener.accept();
    peer.answer_hello();
    EXPECT_TRUE(wait_until([this] { return client.connected(); }));
  }

  ScriptedListener listener;
  SingleConnection client{listener.endpoint(), gathering()};
  ScriptedPeer peer{Descriptor()};
};

TEST_F(MaxDelayTest, gathers_messages_into_one_write) {
  const Stopwatch watch;
  for (int i = 0; i < 5; ++i) {
    client.async_send(event::note, as_bytes("x"));
    if (i == 0) {
      EXPECT_TRUE(peer.silent_for(10ms));
    }
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(peer.receive_frame().text(), "x");
  EXPECT_GE(watch.elapsed(), 59ms);
  // Counted when the write has returned, which the peer need not wait for.
  EXPECT_TRUE(wait_until([this] { return client.statistics().writes == 1; }));
}

TEST_F(MaxDelayTest, ends_when_a_batch_is_full) {
  const Stopwatch watch;
  client.async_send(event::note, Bytes(500));
  client.async_send(event::note, Bytes(500));
  peer.receive_frame();
  peer.receive_frame();
  EXPECT_LT(watch.elapsed(), 60ms);
}

TEST_F(MaxDelayTest, does_not_hold_up_a_request) {
  const Stopwatch watch;
  std::thread answering([&] {
    WireFrame request = peer.receive_frame();
    peer.send_frame(request.header, as_bytes("quick"));
  });
  EXPECT_EQ(as_text(client.sync_send(event::echo, {})), "quick");
  if (measures_time) {
    EXPECT_LT(watch.elapsed(), 50ms);
  }
  answering.join();
}

TEST_F(MaxDelayTest, does_not_keep_a_message_from_leaving_before_the_end) {
  client.async_send(event::note, as_bytes("last"));
  EXPECT_EQ(client.close(100ms), 0U);
  EXPECT_EQ(peer.receive_frame().text(), "last");
}

}  // namespace
}  // namespace ntcpmsg::test
