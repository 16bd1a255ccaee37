// Messages on their way out: without a connection, too large, into a full queue, from many threads.

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/use_future.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <thread>

#include "base/byte_order.hpp"
#include "hex.hpp"
#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

constexpr std::size_t kilobyte = 1024;

ClientOptions queueing() {
  ClientOptions options;
  options.offline = OfflinePolicy::queue;
  return options;
}

/// A client connected to a script.
struct ScriptedConnection {
  explicit ScriptedConnection(ClientOptions options, const detail::Hello& answer = {})
      : client(listener.endpoint(), closing_soon(std::move(options))) {
    log.watch(client);
    client.start();
    peer = listener.accept();
    peer.answer_hello(answer);
    EXPECT_TRUE(log.connected.wait_for(1));
  }

  ClientLog log;
  ScriptedListener listener;
  ScriptedPeer peer{Descriptor()};
  SingleConnection client;
};

TEST(OfflineTest, a_message_fails_when_not_told_to_queue) {
  SingleConnection client("127.0.0.1", 1);
  error_code ec;
  client.async_send(event::note, {}, ec);
  EXPECT_EQ(ec, Errc::not_connected);
  EXPECT_THROW(client.async_send(event::note, {}), system_error);
}

TEST(OfflineTest, queued_messages_leave_in_order_when_connected) {
  TestServer server;
  SingleConnection client(server.endpoint, queueing());
  for (int i = 0; i < 100; ++i) client.async_send(event::note, as_bytes(std::to_string(i)));
  client.connect();
  ASSERT_TRUE(server.received.wait_for(100));
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(server.received.at(i).text, std::to_string(i));
}

TEST(OfflineTest, queued_messages_survive_a_loss) {
  ScriptedListener listener;
  ClientOptions options = reconnecting();
  options.offline = OfflinePolicy::queue;
  ClientLog log;
  SingleConnection client(listener.endpoint(), options);
  log.watch(client);
  client.start();
  listener.accept().answer_hello();
  ASSERT_TRUE(log.disconnected.wait_for(1));
  ScriptedPeer peer = listener.accept();
  client.async_send(event::note, as_bytes("still here"));
  peer.answer_hello();
  EXPECT_EQ(peer.receive_frame().text(), "still here");
}

TEST(OfflineTest, what_never_left_is_counted_by_the_error_event) {
  ClientLog log;
  SingleConnection client("127.0.0.1", 1, queueing());
  log.watch(client);
  for (int i = 0; i < 7; ++i) client.async_send(event::note, {});
  EXPECT_EQ(client.close(), 7U);
  EXPECT_EQ(log.errors.at(0).code, Errc::messages_unsent);
  EXPECT_EQ(log.errors.at(0).count, 7U);
}

TEST(OfflineTest, disconnect_reports_what_was_queued) {
  ClientLog log;
  SingleConnection client("127.0.0.1", 1, queueing());
  log.watch(client);
  for (int i = 0; i < 3; ++i) client.async_send(event::note, {});
  client.disconnect();
  EXPECT_EQ(log.errors.at(0).count, 3U);
  EXPECT_EQ(client.statistics().bytes_queued, 0U);
}

TEST(OfflineTest, the_queue_is_bounded) {
  ClientOptions options = small_queue();
  options.offline = OfflinePolicy::queue;
  SingleConnection client("127.0.0.1", 1, options);
  const std::size_t accepted = send_until_refused(client, pattern(kilobyte));
  EXPECT_LE(accepted * (kilobyte + detail::frame_header_size), options.queue.high_water_mark);
  EXPECT_GE((accepted + 1) * (kilobyte + detail::frame_header_size), options.queue.high_water_mark);
}

TEST(TooLargeTest, a_payload_beyond_the_frame_fails_and_not_a_byte_of_it_leaves) {
  ScriptedConnection at({});
  error_code ec;
  at.client.async_send(event::note, Bytes(max_payload_size + 1), ec);
  EXPECT_EQ(ec, Errc::message_too_large);
  at.client.sync_send(event::echo, Bytes(max_payload_size + 1), patience, ec);
  EXPECT_EQ(ec, Errc::message_too_large);
  at.client.async_send(event::note, as_bytes("x"));
  at.peer.expect_hex("a5a5 00 0000000a 0000 00000001 000001 78");
}

TEST(TooLargeTest, a_payload_beyond_the_limit_of_the_peer_fails) {
  ScriptedConnection at({}, {.max_message_size = 5});
  error_code ec;
  at.client.async_send(event::note, as_bytes("123456"), ec);
  EXPECT_EQ(ec, Errc::message_too_large);
  at.client.async_send(event::note, as_bytes("12345"), ec);
  EXPECT_FALSE(ec);
  EXPECT_EQ(at.peer.receive_frame().text(), "12345");
}

TEST(TooLargeTest, the_largest_payload_arrives) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  const Bytes payload = pattern(max_payload_size);
  EXPECT_EQ(client.sync_send(event::echo, payload), payload);
}

TEST(FullQueueTest, a_send_inside_a_handler_fails_and_the_writable_event_tells_when_there_is_room) {
  ScriptedConnection at([] {
    ClientOptions options;
    options.queue.high_water_mark = 256 * kilobyte;
    return options;
  }());
  EventLog<std::size_t> accepted;
  at.client.on_received(
      [&](Message&) { accepted.add(send_until_refused(at.client, pattern(kilobyte))); });
  at.peer.send_frame({.event = 1});
  const std::size_t count = accepted.at(0);
  EXPECT_EQ(at.log.writable.size(), 0U);
  for (std::size_t i = 0; i < count; ++i) at.peer.receive_frame();
  EXPECT_TRUE(at.log.writable.wait_for(1));
  EXPECT_EQ(at.client.statistics().bytes_queued, 0U);
}

TEST(FullQueueTest, async_wait_writable_completes_when_there_is_room) {
  ScriptedConnection at(small_queue());
  const std::size_t count = fill_queue(at.client, pattern(kilobyte));
  auto writable = at.client.async_wait_writable(boost::asio::use_future);
  EXPECT_EQ(writable.wait_for(50ms), std::future_status::timeout);
  for (std::size_t i = 0; i < count; ++i) at.peer.receive_frame();
  ASSERT_EQ(writable.wait_for(patience), std::future_status::ready);
  writable.get();
}

TEST(FullQueueTest, async_wait_writable_completes_at_once_when_nothing_waits) {
  TestServer server;
  SingleConnection client(server.endpoint);
  auto refused = client.async_wait_writable(boost::asio::use_future);
  EXPECT_THROW(refused.get(), system_error);
  client.connect();
  client.async_wait_writable(boost::asio::use_future).get();
}

TEST(FullQueueTest, a_sender_waits_for_room_up_to_its_time_limit) {
  ScriptedConnection at([] {
    ClientOptions options;
    options.queue = {.high_water_mark = 64 * kilobyte, .block_timeout = 100ms};
    return options;
  }());
  Stopwatch watch;
  error_code ec;
  while (!ec) {
    watch = {};
    at.client.async_send(event::note, pattern(kilobyte), ec);
  }
  EXPECT_EQ(ec, Errc::would_block);
  EXPECT_GE(watch.elapsed(), 100ms);
}

TEST(FullQueueTest, a_waiting_sender_goes_on_when_the_peer_reads) {
  ScriptedConnection at([] {
    ClientOptions options;
    options.queue.high_water_mark = 64 * kilobyte;
    return options;
  }());
  constexpr std::size_t count = 10'000;
  std::thread sender([&] {
    for (std::size_t i = 0; i < count; ++i) at.client.async_send(event::note, pattern(kilobyte));
  });
  for (std::size_t i = 0; i < count; ++i) at.peer.receive_frame();
  sender.join();
}

TEST(FullQueueTest, a_waiting_sender_fails_when_the_connection_is_lost) {
  ScriptedConnection at([] {
    ClientOptions options;
    options.queue.high_water_mark = 64 * kilobyte;
    return options;
  }());
  EventLog<error_code> outcome;
  std::thread sender([&] {
    error_code ec;
    while (!ec) at.client.async_send(event::note, pattern(kilobyte), ec);
    outcome.add(ec);
  });
  EXPECT_TRUE(wait_until([&] { return at.client.statistics().bytes_queued > 32 * kilobyte; }));
  at.peer.reset();
  EXPECT_EQ(outcome.at(0), Errc::not_connected);
  sender.join();
}

TEST(FlushTest, returns_when_everything_was_written) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  for (int i = 0; i < 1000; ++i) client.async_send(event::note, pattern(kilobyte));
  client.flush();
  EXPECT_EQ(client.statistics().bytes_queued, 0U);
  EXPECT_TRUE(server.received.wait_for(1000));
}

TEST(FlushTest, times_out_with_a_peer_that_does_not_read) {
  ScriptedConnection at(small_queue());
  fill_queue(at.client, pattern(kilobyte));
  error_code ec;
  at.client.flush(50ms, ec);
  EXPECT_EQ(ec, Errc::timed_out);
}

TEST(FlushTest, fails_when_the_connection_is_lost_meanwhile) {
  ScriptedConnection at(small_queue());
  fill_queue(at.client, pattern(kilobyte));
  EventLog<error_code> outcome;
  std::thread flusher([&] {
    error_code ec;
    at.client.flush(patience, ec);
    outcome.add(ec);
  });
  EXPECT_FALSE(outcome.wait_for(1, 50ms));
  at.peer.reset();
  EXPECT_EQ(outcome.at(0), Errc::disconnected);
  flusher.join();
}

TEST(FlushTest, would_deadlock_inside_a_handler) {
  ScriptedConnection at({});
  EventLog<error_code> outcome;
  at.client.on_received([&](Message&) {
    error_code ec;
    at.client.flush(patience, ec);
    outcome.add(ec);
  });
  at.peer.send_frame({.event = 1});
  EXPECT_EQ(outcome.at(0), Errc::would_deadlock);
}

/// Payload: number of the thread, a counter of its own, a filling that depends on both, the sum.
Bytes checked_payload(std::uint32_t thread, std::uint32_t counter) {
  Bytes payload(16 + counter % 100);
  for (std::size_t i = 12; i < payload.size(); ++i) {
    payload[i] = static_cast<std::byte>(thread * 7 + counter + i);
  }
  detail::store_big(payload.data(), thread);
  detail::store_big(payload.data() + 4, counter);
  std::uint32_t sum = 0;
  for (const std::byte b : BytesView(payload).subspan(12)) sum += std::to_integer<unsigned>(b);
  detail::store_big(payload.data() + 8, sum);
  return payload;
}

TEST(ThreadsTest, messages_of_eight_threads_arrive_whole_and_in_the_order_of_each_thread) {
  constexpr std::uint32_t threads = 8;
  constexpr std::uint32_t each = 5000;
  std::array<std::uint32_t, threads> next{};
  std::uint32_t wrong = 0;
  Latch all(threads * each);
  TestServer server;
  server.listener.on_received([&](Message& message) {
    const auto thread = detail::load_big<std::uint32_t>(message.payload().data());
    const auto counter = detail::load_big<std::uint32_t>(message.payload().data() + 4);
    const Bytes expected = checked_payload(thread, counter);
    const bool same = std::ranges::equal(message.payload(), expected);
    if (!same || counter != next.at(thread)++) ++wrong;
    all.count_down();
  });
  SingleConnection client(server.endpoint);
  client.connect();
  std::vector<std::thread> senders;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    senders.emplace_back([&client, thread] {
      for (std::uint32_t i = 0; i < each; ++i) {
        client.async_send(event::note, checked_payload(thread, i));
      }
    });
  }
  for (auto& sender : senders) sender.join();
  EXPECT_TRUE(all.wait());
  server.listener.close();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace ntcpmsg::test
