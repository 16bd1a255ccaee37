// A connection that is lost, made again, or not.

#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <memory>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

namespace errc = boost::system::errc;

/// Each wait is long, whatever the jitter says.
ClientOptions waiting_long() {
  ClientOptions options;
  options.reconnect = {.enabled = true, .base = 600'000ms, .cap = 600'000ms, .seed = 1};
  return options;
}

TEST(ReconnectTest, a_client_started_before_its_server_connects_when_that_is_there) {
  const ReservedPort port;
  ClientLog log;
  SingleConnection client(port.endpoint(), reconnecting());
  log.watch(client);
  client.start();
  ASSERT_TRUE(wait_until([&] { return client.last_error() == errc::connection_refused; }));
  const TestServer server({}, port.endpoint());
  EXPECT_TRUE(log.connected.wait_for(1));
  EXPECT_TRUE(client.connected());
}

TEST(ReconnectTest, comes_back_when_its_server_was_restarted) {
  auto server = std::make_unique<TestServer>();
  const Endpoint endpoint = server->endpoint;
  ClientLog log;
  SingleConnection client(endpoint, reconnecting());
  log.watch(client);
  client.connect();
  server.reset();
  ASSERT_TRUE(log.disconnected.wait_for(1));
  server = std::make_unique<TestServer>(ListenerOptions{}, endpoint);
  ASSERT_TRUE(log.connected.wait_for(2));
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("again"))), "again");
  EXPECT_EQ(log.disconnected.size(), 1U);
  EXPECT_EQ(client.statistics().sessions_total, 2U);
}

TEST(ReconnectTest, the_wait_before_the_next_try_shows_in_state_and_last_error) {
  const ReservedPort port;
  SingleConnection client(port.endpoint(), waiting_long());
  EXPECT_FALSE(client.last_error());
  client.start();
  EXPECT_TRUE(wait_until([&] { return client.state() == ConnectionState::waiting_to_retry; }));
  EXPECT_EQ(client.last_error(), errc::connection_refused);
}

TEST(ReconnectTest, a_new_start_ends_the_wait) {
  const ReservedPort port;
  SingleConnection client(port.endpoint(), waiting_long());
  client.start();
  ASSERT_TRUE(wait_until([&] { return client.state() == ConnectionState::waiting_to_retry; }));
  const TestServer server({}, port.endpoint());
  client.connect();
  EXPECT_TRUE(client.connected());
}

TEST(ReconnectTest, tells_an_orderly_end_by_the_server) {
  TestServer server;
  ClientLog log;
  SingleConnection client(server.endpoint);
  log.watch(client);
  client.connect();
  server.listener.close();
  EXPECT_EQ(log.disconnected.at(0), Errc::end_of_stream);
  EXPECT_EQ(client.last_error(), Errc::end_of_stream);
  EXPECT_EQ(client.remote_endpoint(), Endpoint());
}

TEST(ReconnectTest, tells_a_reset_by_the_server) {
  ScriptedListener listener;
  ClientLog log;
  SingleConnection client(listener.endpoint(), closing_soon());
  log.watch(client);
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.answer_hello();
  ASSERT_TRUE(log.connected.wait_for(1));
  peer.reset();
  EXPECT_EQ(log.disconnected.at(0), errc::connection_reset);
}

TEST(ReconnectTest, stays_down_without_auto_reconnect_until_asked_again) {
  TestServer server;
  ClientLog log;
  SingleConnection client(server.endpoint);
  log.watch(client);
  client.connect();
  server.accepted.at(0).close(0ms);
  ASSERT_TRUE(log.disconnected.wait_for(1));
  EXPECT_TRUE(wait_until([&] { return client.state() == ConnectionState::disconnected; }));
  client.connect();
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("again"))), "again");
}

TEST(ReconnectTest, a_bad_frame_of_the_server_ends_the_connection_with_an_error) {
  ScriptedListener listener;
  ClientLog log;
  SingleConnection client(listener.endpoint(), closing_soon());
  log.watch(client);
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.answer_hello();
  peer.send_hex("a5a6");
  EXPECT_EQ(log.errors.at(0).code, Errc::protocol_violation);
  EXPECT_EQ(log.errors.at(0).remote_endpoint, listener.endpoint());
  EXPECT_EQ(log.disconnected.at(0), Errc::protocol_violation);
}

TEST(DisconnectTest, ends_the_connection_and_tells_so_once) {
  TestServer server;
  ClientLog log;
  SingleConnection client(server.endpoint, reconnecting());
  log.watch(client);
  client.connect();
  client.disconnect();
  EXPECT_EQ(log.disconnected.at(0), Errc::closed_by_user);
  EXPECT_EQ(server.disconnected.at(0).reason, Errc::end_of_stream);
  client.disconnect();
  EXPECT_TRUE(wait_until([&] { return client.state() == ConnectionState::disconnected; }));
  EXPECT_EQ(log.disconnected.size(), 1U);
}

TEST(DisconnectTest, may_be_followed_by_connect) {
  TestServer server;
  SingleConnection client(server.endpoint);
  for (int i = 0; i < 3; ++i) {
    client.connect();
    EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("x"))), "x");
    client.disconnect();
    ASSERT_TRUE(wait_until([&] { return client.state() == ConnectionState::disconnected; }));
  }
  EXPECT_EQ(client.statistics().sessions_total, 3U);
}

TEST(DisconnectTest, followed_by_connect_at_once_connects_again) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  client.disconnect();
  client.connect();
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("x"))), "x");
}

TEST(DisconnectTest, stops_the_tries_of_auto_reconnect) {
  const ReservedPort port;
  SingleConnection client(port.endpoint(), waiting_long());
  auto waiting = client.async_connect(patience, boost::asio::use_future);
  ASSERT_TRUE(wait_until([&] { return client.state() == ConnectionState::waiting_to_retry; }));
  client.disconnect();
  EXPECT_THROW(waiting.get(), system_error);
  EXPECT_EQ(client.state(), ConnectionState::disconnected);
}

}  // namespace
}  // namespace ntcpmsg::test
