// How a listener ends.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

constexpr std::chrono::milliseconds slack = 800ms;

void ask(ScriptedPeer& peer, std::uint32_t event, std::uint32_t channel) {
  peer.send_frame({.flags = detail::flag::sync, .event = event, .channel = channel},
                  as_bytes("question"));
}

/// Pushes until the queue of a peer that does not read is full.
void fill(const SessionHandle& session) {
  for (error_code ec; !ec;) session.push(3, Bytes(64 * 1024), ec);
}

ListenerOptions refusing_when_full() {
  ListenerOptions options;
  options.queue.when_full = OverflowPolicy::fail;
  return options;
}

TEST(DrainTest, answers_what_was_received_and_ends_the_connections_in_good_order) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  // Holds the listener's thread until everything has arrived.
  Latch arrived;
  Latch entered;
  server.listener.on_received([&](Message& message) {
    entered.count_down();
    EXPECT_TRUE(arrived.wait());
    message.reply(message.payload());
  });
  ask(peer, event::echo, 0);
  ASSERT_TRUE(entered.wait());
  for (std::uint32_t i = 1; i < 100; ++i) ask(peer, event::echo, i);
  std::thread peer_side([&] {
    EXPECT_EQ(peer.receive_frames_until_end().size(), 100U);
    peer.close();
  });
  std::thread releasing([&] {
    EXPECT_TRUE(wait_until([&] { return server.listener.local_endpoints().empty(); }));
    arrived.count_down();
  });
  const auto result = server.listener.drain(patience);
  releasing.join();
  peer_side.join();
  EXPECT_EQ(result.sessions, 0U);
  EXPECT_EQ(result.messages_unsent, 0U);
  EXPECT_EQ(result.replies_owed, 0U);
  EXPECT_EQ(server.disconnected.at(0).reason, Errc::closed_by_user);
}

TEST(DrainTest, waits_for_deferred_replies) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask(peer, event::hold, 1);
  Responder responder = server.held.take();
  EventLog<Listener::DrainResult> results;
  std::thread draining([&] { results.add(server.listener.drain(patience)); });
  EXPECT_TRUE(wait_until([&] { return server.listener.local_endpoints().empty(); }));
  EXPECT_FALSE(results.wait_for(1, 30ms));
  responder.reply(as_bytes("deferred"));
  EXPECT_EQ(peer.receive_frame().text(), "deferred");
  peer.expect_end();
  peer.close();
  EXPECT_EQ(results.at(0).sessions, 0U);
  draining.join();
}

TEST(DrainTest, tells_at_the_deadline_what_was_left) {
  TestServer server(refusing_when_full());
  ScriptedPeer waiting = ScriptedPeer::connected_to(server.endpoint);
  ask(waiting, event::hold, 1);
  ask(waiting, event::hold, 2);
  ASSERT_TRUE(server.held.wait_for(2));
  const ScriptedPeer stuck = ScriptedPeer::connected_to(server.endpoint);
  const SessionHandle session = server.accepted.at(1);
  fill(session);
  const Stopwatch watch;
  const auto result = server.listener.drain(100ms);
  EXPECT_GE(watch.elapsed(), 100ms);
  EXPECT_LT(watch.elapsed(), 100ms + slack);
  EXPECT_EQ(result.sessions, 2U);
  EXPECT_EQ(result.replies_owed, 2U);
  EXPECT_GT(result.messages_unsent, 0U);
}

TEST(DrainTest, accepts_no_more_clients) {
  TestServer server;
  server.listener.drain(patience);
  EXPECT_THROW(ScriptedPeer::connected_to(server.endpoint), std::system_error);
  error_code ec;
  server.listener.listen(any_port(), ec);
  EXPECT_EQ(ec, Errc::closed);
}

TEST(DrainTest, ends_with_a_client_that_is_connected_and_idle) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  const Stopwatch watch;
  EXPECT_EQ(server.listener.drain(patience).sessions, 0U);
  EXPECT_LT(watch.elapsed(), 2s);
}

TEST(DrainTest, would_deadlock_inside_a_handler) {
  TestServer server;
  EventLog<error_code> outcomes;
  server.listener.on_received([&](Message&) {
    error_code ec;
    server.listener.drain(patience, ec);
    outcomes.add(ec);
  });
  SingleConnection client(server.endpoint);
  client.connect();
  client.async_send(event::note, {});
  EXPECT_EQ(outcomes.at(0), Errc::would_deadlock);
}

TEST(ListenerCloseTest, lets_queued_messages_leave) {
  TestServer server;
  ClientLog log;
  SingleConnection client(server.endpoint);
  log.watch(client);
  client.connect();
  for (int i = 0; i < 500; ++i) server.accepted.at(0).push(3, pattern(1024));
  server.listener.close();
  EXPECT_TRUE(log.received.wait_for(500));
  EXPECT_EQ(log.disconnected.at(0), Errc::end_of_stream);
}

TEST(ListenerCloseTest, returns_at_the_deadline_with_a_peer_that_does_not_read) {
  TestServer server(refusing_when_full());
  const ScriptedPeer stuck = ScriptedPeer::connected_to(server.endpoint);
  const SessionHandle session = server.accepted.at(0);
  fill(session);
  const Stopwatch watch;
  server.listener.close(100ms);
  EXPECT_LT(watch.elapsed(), 100ms + slack);
  EXPECT_EQ(server.errors.at(0).code, Errc::messages_unsent);
  EXPECT_GT(server.errors.at(0).count, 0U);
}

TEST(ListenerCloseTest, waits_until_no_handler_runs_any_more) {
  TestServer server;
  Latch entered;
  std::atomic<bool> left{false};
  server.listener.on_received([&](Message&) {
    entered.count_down();
    // Until the close is under way.
    EXPECT_TRUE(wait_until([&] { return server.listener.local_endpoints().empty(); }));
    left = true;
  });
  SingleConnection client(server.endpoint);
  client.connect();
  client.async_send(event::note, {});
  ASSERT_TRUE(entered.wait());
  server.listener.close();
  EXPECT_TRUE(left);
}

TEST(ListenerCloseTest, inside_a_handler_only_starts_closing) {
  TestServer server;
  server.listener.on_received([&](Message&) { server.listener.close(); });
  ClientLog log;
  SingleConnection client(server.endpoint);
  log.watch(client);
  client.connect();
  client.async_send(event::note, {});
  EXPECT_EQ(log.disconnected.at(0), Errc::end_of_stream);
}

TEST(ListenerCloseTest, destruction_inside_a_handler_ends_the_sessions) {
  auto listener = std::make_unique<Listener>();
  Latch destroyed;
  listener->on_received([&](Message&) {
    listener.reset();
    destroyed.count_down();
  });
  const Endpoint endpoint = listener->listen(any_port());
  ClientLog log;
  SingleConnection client(endpoint);
  log.watch(client);
  client.connect();
  client.async_send(event::note, {});
  EXPECT_TRUE(destroyed.wait());
  EXPECT_EQ(log.disconnected.at(0), Errc::end_of_stream);
}

}  // namespace
}  // namespace ntcpmsg::test
