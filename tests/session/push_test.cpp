// What a listener sends of its own accord.

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

class PushTest : public testing::Test {
 protected:
  PushTest() {
    log.watch(client);
    client.connect();
    session = server.accepted.at(0);
  }

  TestServer server;
  ClientLog log;
  SingleConnection client{server.endpoint};
  SessionHandle session;
};

/// A cable that is completely up.
struct Cable {
  explicit Cable(const TestServer& server, std::size_t connections = 3)
      : client(server.endpoint, connections) {
    log.watch(client);
    client.connect();
    EXPECT_TRUE(wait_until([&] { return client.connections() == connections; }));
  }

  ClientLog log;
  SingleConnectionCable client;
};

TEST_F(PushTest, reaches_the_client_of_a_session) {
  session.push(3, as_bytes("hello"));
  EXPECT_EQ(log.received.at(0).event, 3U);
  EXPECT_EQ(log.received.at(0).text, "hello");
}

TEST_F(PushTest, reaches_the_client_with_an_endpoint) {
  server.listener.push(client.local_endpoint(), 3, as_bytes("hello"));
  EXPECT_EQ(log.received.at(0).text, "hello");
}

TEST_F(PushTest, reaches_a_cable_by_its_id) {
  const Cable cable(server);
  server.listener.push(cable.client.cable_id(), 3, as_bytes("hello"));
  EXPECT_EQ(cable.log.received.at(0).text, "hello");
  EXPECT_EQ(cable.log.received.at(0).cable_id, cable.client.cable_id());
}

TEST_F(PushTest, to_a_cable_keeps_its_order) {
  const Cable cable(server);
  for (int i = 0; i < 200; ++i) {
    server.listener.push(cable.client.cable_id(), 3, as_bytes(std::to_string(i)));
  }
  ASSERT_TRUE(cable.log.received.wait_for(200));
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(cable.log.received.at(i).text, std::to_string(i));
  }
}

TEST_F(PushTest, a_burst_begun_while_a_request_is_answered_leaves_to_its_last_message) {
  constexpr std::size_t messages = 2000;
  std::mutex mutex;
  std::vector<std::thread> pushing;
  server.listener.on_received([&](Message& message) {
    const std::lock_guard guard(mutex);
    pushing.emplace_back([this] {
      for (std::size_t i = 0; i < messages; ++i) session.push(event::note, as_bytes("x"));
    });
    message.reply({});
  });
  for (std::size_t round = 1; round <= 20; ++round) {
    client.sync_send(event::echo, as_bytes("go"));
    EXPECT_TRUE(log.received.wait_for(round * messages)) << "in round " << round;
  }
  const std::lock_guard guard(mutex);
  for (auto& thread : pushing) thread.join();
}

TEST_F(PushTest, fails_for_a_peer_that_is_not_there) {
  error_code ec;
  server.listener.push(Endpoint(any_port().address(), 1), 3, {}, ec);
  EXPECT_EQ(ec, Errc::unknown_peer);
  server.listener.push(std::uint16_t{77}, 3, {}, ec);
  EXPECT_EQ(ec, Errc::unknown_peer);
  SessionHandle().push(3, {}, ec);
  EXPECT_EQ(ec, Errc::unknown_peer);
  client.disconnect();
  ASSERT_TRUE(server.disconnected.wait_for(1));
  session.push(3, {}, ec);
  EXPECT_EQ(ec, Errc::unknown_peer);
}

TEST_F(PushTest, fails_when_larger_than_the_client_accepts) {
  ClientOptions options;
  options.max_message_size = 100;
  SingleConnection modest(server.endpoint, options);
  modest.connect();
  error_code ec;
  server.accepted.at(1).push(3, Bytes(101), ec);
  EXPECT_EQ(ec, Errc::message_too_large);
  EXPECT_TRUE(modest.connected());
}

TEST_F(PushTest, in_the_accepted_handler_arrives_although_the_client_still_negotiates) {
  server.listener.on_accepted([](const SessionHandle& s) { s.push(3, as_bytes("welcome")); });
  ClientLog other_log;
  SingleConnection other(server.endpoint);
  other_log.watch(other);
  other.connect();
  EXPECT_EQ(other_log.received.at(0).text, "welcome");
}

TEST_F(PushTest, an_exception_of_the_client_s_handler_is_told_by_its_error_event) {
  client.on_received([](Message&) { throw std::runtime_error("cannot take it"); });
  session.push(3, {});
  EXPECT_EQ(log.errors.at(0).code, Errc::handler_threw);
  EXPECT_EQ(log.errors.at(0).text, "cannot take it");
  EXPECT_TRUE(client.connected());
}

TEST_F(PushTest, broadcast_reaches_each_client_and_each_cable_once) {
  ClientLog other_log;
  SingleConnection other(server.endpoint);
  other_log.watch(other);
  other.connect();
  const Cable cable(server);
  ASSERT_TRUE(wait_until([&] { return server.listener.statistics().sessions == 5; }));
  EXPECT_EQ(server.listener.broadcast(3, as_bytes("all")), 3U);
  EXPECT_TRUE(log.received.wait_for(1));
  EXPECT_TRUE(other_log.received.wait_for(1));
  EXPECT_TRUE(cable.log.received.wait_for(1));
  // Everything that was sent before these has arrived with them.
  for (const SessionHandle& each : server.listener.sessions()) each.sync_push(4, {});
  EXPECT_EQ(log.received.size(), 2U);
  EXPECT_EQ(cable.log.received.size(), 1U + 3U);
}

TEST_F(PushTest, broadcast_passes_over_a_client_whose_queue_is_full) {
  const ScriptedPeer stuck = ScriptedPeer::connected_to(server.endpoint);
  ASSERT_TRUE(server.accepted.wait_for(2));
  const Bytes payload = pattern(1024 * 1024);
  std::size_t reached = 2;
  for (int i = 0; i < 100 && reached == 2; ++i) {
    reached = server.listener.broadcast(3, payload);
    ASSERT_TRUE(log.received.wait_for(static_cast<std::size_t>(i) + 1));
  }
  EXPECT_EQ(reached, 1U);
}

TEST_F(PushTest, the_writable_event_tells_when_a_session_has_room_again) {
  EventLog<std::uint64_t> writable;
  server.listener.on_writable([&](const SessionHandle& s) { writable.add(s.id()); });
  ScriptedPeer slow = ScriptedPeer::connected_to(server.endpoint);
  ASSERT_TRUE(server.accepted.wait_for(2));
  EventLog<std::size_t> accepted;
  server.listener.on_received([&](Message& message) {
    error_code ec;
    std::size_t count = 0;
    while (!ec) {
      message.session().push(3, pattern(64 * 1024), ec);
      if (!ec) ++count;
    }
    EXPECT_EQ(ec, Errc::would_block);
    accepted.add(count);
  });
  slow.send_frame({.event = event::note});
  const std::size_t count = accepted.at(0);
  for (std::size_t i = 0; i < count; ++i) slow.receive_frame();
  EXPECT_EQ(writable.at(0), server.accepted.at(1).id());
}

TEST_F(PushTest, sync_push_returns_the_reply_of_the_client) {
  client.on_received([](Message& message) { message.reply(as_bytes("fine")); });
  EXPECT_EQ(as_text(session.sync_push(3, as_bytes("how are you"))), "fine");
}

TEST_F(PushTest, sync_push_times_out) {
  EventLog<Responder> held;
  client.on_received([&](Message& message) { held.add(message.take_responder()); });
  error_code ec;
  session.sync_push(3, {}, 30ms, ec);
  EXPECT_EQ(ec, Errc::timed_out);
  held.take().reply(as_bytes("too late"));
  client.on_received([](Message& message) { message.reply(as_bytes("in time")); });
  EXPECT_EQ(as_text(session.sync_push(3, {})), "in time");
}

TEST_F(PushTest, sync_push_tells_that_the_client_s_handler_failed) {
  client.on_received([](Message&) { throw std::runtime_error("not today"); });
  error_code ec;
  EXPECT_EQ(as_text(session.sync_push(3, {}, patience, ec)), "not today");
  EXPECT_EQ(ec, Errc::remote_error);
}

TEST_F(PushTest, sync_push_fails_when_the_client_goes) {
  EventLog<Responder> held;
  client.on_received([&](Message& message) {
    held.add(message.take_responder());
    client.disconnect();
  });
  error_code ec;
  session.sync_push(3, {}, patience, ec);
  EXPECT_EQ(ec, Errc::disconnected);
  EXPECT_TRUE(held.wait_for(1));
}

TEST_F(PushTest, sync_push_would_deadlock_on_the_session_s_own_thread) {
  EventLog<error_code> outcomes;
  server.listener.on_received([&](Message& message) {
    error_code ec;
    message.session().sync_push(3, {}, patience, ec);
    outcomes.add(ec);
  });
  client.async_send(event::note, {});
  EXPECT_EQ(outcomes.at(0), Errc::would_deadlock);
}

TEST_F(PushTest, sync_push_is_not_supported_by_an_original_client) {
  const ScriptedPeer original = ScriptedPeer::connected_to(server.endpoint);
  error_code ec;
  server.accepted.at(1).sync_push(3, {}, patience, ec);
  EXPECT_EQ(ec, Errc::not_supported);
  EXPECT_FALSE(server.accepted.at(1).peer_speaks_extensions());
  EXPECT_TRUE(session.peer_speaks_extensions());
}

}  // namespace
}  // namespace ntcpmsg::test
