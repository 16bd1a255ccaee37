// Where a listener listens.

#include <gtest/gtest.h>

#include <algorithm>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

namespace errc = boost::system::errc;
using boost::asio::ip::make_address;

TEST(ListenTest, port_zero_becomes_a_real_port) {
  Listener listener;
  const Endpoint bound = listener.listen(any_port());
  EXPECT_NE(bound.port(), 0);
  EXPECT_EQ(listener.local_endpoints(), std::vector{bound});
}

TEST(ListenTest, both_families_may_use_one_port) {
  TestServer server;
  const std::uint16_t port = server.endpoint.port();
  const Endpoint v6 = server.listener.listen(Endpoint(make_address("::1"), port));
  EXPECT_EQ(v6.port(), port);
  for (const char* host : {"127.0.0.1", "::1"}) {
    SingleConnection client(host, port);
    client.connect();
    EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes(host))), host);
  }
}

TEST(ListenTest, one_call_takes_several_endpoints_and_returns_them_in_order) {
  Listener listener;
  const auto bound = listener.listen({any_port(), any_port_v6(), any_port()});
  ASSERT_EQ(bound.size(), 3U);
  EXPECT_TRUE(bound[0].address().is_v4());
  EXPECT_TRUE(bound[1].address().is_v6());
  EXPECT_NE(bound[0].port(), bound[2].port());
  EXPECT_EQ(listener.local_endpoints(), bound);
}

TEST(ListenTest, an_address_in_use_keeps_none_of_the_calls_endpoints) {
  TestServer other;
  const ReservedPort free;
  Listener listener;
  error_code ec;
  const auto bound = listener.listen({free.endpoint(), other.endpoint}, ec);
  EXPECT_EQ(ec, errc::address_in_use);
  EXPECT_TRUE(bound.empty());
  EXPECT_TRUE(listener.local_endpoints().empty());
  EXPECT_THROW(ScriptedPeer::connected_to(free.endpoint()), std::system_error);
  EXPECT_THROW(listener.listen(other.endpoint), system_error);
}

TEST(ListenTest, the_endpoints_of_earlier_calls_stay_when_a_later_call_fails) {
  TestServer other;
  TestServer server;
  error_code ec;
  server.listener.listen(other.endpoint, ec);
  EXPECT_EQ(ec, errc::address_in_use);
  EXPECT_EQ(server.listener.local_endpoints(), std::vector{server.endpoint});
  SingleConnection client(server.endpoint);
  client.connect();
  EXPECT_TRUE(client.connected());
}

TEST(ListenTest, fails_on_a_closed_listener) {
  Listener listener;
  listener.close();
  error_code ec;
  listener.listen(any_port(), ec);
  EXPECT_EQ(ec, Errc::closed);
}

TEST(ListenTest, impossible_options_are_refused_by_the_constructor) {
  ListenerOptions options;
  options.threads = 0;
  EXPECT_THROW(Listener{options}, system_error);
}

TEST(SessionsTest, accepted_and_disconnected_tell_who_comes_and_goes) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  const SessionHandle session = server.accepted.at(0);
  EXPECT_TRUE(session.connected());
  EXPECT_EQ(session.remote_endpoint(), client.local_endpoint());
  EXPECT_EQ(session.local_endpoint(), server.endpoint);
  EXPECT_EQ(server.listener.sessions(), std::vector{session});
  EXPECT_EQ(server.listener.remote_endpoints(), std::vector{client.local_endpoint()});
  const Endpoint remote = client.local_endpoint();
  client.close();
  const DisconnectedEvent event = server.disconnected.at(0);
  EXPECT_EQ(event.session, session);
  EXPECT_EQ(event.remote_endpoint, remote);
  EXPECT_EQ(event.reason, Errc::end_of_stream);
  EXPECT_FALSE(session.connected());
  EXPECT_TRUE(server.listener.sessions().empty());
}

TEST(SessionsTest, statistics_count_each_session_and_message_once) {
  TestServer server;
  for (int i = 0; i < 3; ++i) {
    SingleConnection client(server.endpoint);
    client.connect();
    for (int k = 0; k < 10; ++k) client.sync_send(event::echo, as_bytes("x"));
    client.close();
  }
  ASSERT_TRUE(server.disconnected.wait_for(3));
  const Statistics total = server.listener.statistics();
  EXPECT_EQ(total.sessions, 0U);
  EXPECT_EQ(total.sessions_total, 3U);
  // A hello and ten requests each.
  EXPECT_EQ(total.messages_received, 33U);
  EXPECT_EQ(total.messages_sent, 33U);
}

TEST(SessionsTest, many_threads_serve_many_clients) {
  ListenerOptions options;
  options.threads = 4;
  TestServer server(options);
  std::vector<std::unique_ptr<SingleConnection>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<SingleConnection>(server.endpoint));
    clients.back()->connect();
    EXPECT_EQ(as_text(clients.back()->sync_send(event::echo, as_bytes("x"))), "x");
  }
  EXPECT_EQ(server.listener.statistics().sessions, 20U);
}

}  // namespace
}  // namespace ntcpmsg::test
