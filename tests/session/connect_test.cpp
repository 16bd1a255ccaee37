// How a client gets its connection, and how it is told that it got none.

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "fake_names.hpp"
#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

using boost::asio::ip::make_address;
namespace errc = boost::system::errc;

constexpr std::chrono::milliseconds short_time = 50ms;

TEST(ConnectTest, takes_an_ipv4_literal) {
  TestServer server;
  SingleConnection client("127.0.0.1", server.endpoint.port());
  client.connect();
  EXPECT_TRUE(client.connected());
  EXPECT_EQ(client.remote_endpoint(), server.endpoint);
  EXPECT_EQ(client.local_endpoint(), server.accepted.at(0).remote_endpoint());
}

TEST(ConnectTest, takes_an_ipv6_literal) {
  TestServer server({}, any_port_v6());
  SingleConnection client("::1", server.endpoint.port());
  client.connect();
  EXPECT_EQ(client.remote_endpoint(), server.endpoint);
}

TEST(ConnectTest, a_second_wait_is_not_ended_by_what_the_first_one_left_behind) {
  ScriptedListener listener;
  ClientOptions options = closing_soon();
  options.hello_timeout = short_time;
  options.io_threads = std::make_shared<IoThreads>();
  SingleConnection client(listener.endpoint(), options);
  EventLog<error_code> first;
  EventLog<error_code> second;
  client.async_connect(10s, [&](error_code ec) { first.add(ec); });
  const auto before = listener.accept();
  boost::asio::post(options.io_threads->context(0), [&] {
    client.disconnect();
    client.async_connect(10s, [&](error_code ec) { second.add(ec); });
  });
  EXPECT_EQ(first.at(0), Errc::closed_by_user);
  EXPECT_EQ(second.at(0), error_code());
}

TEST(ConnectTest, resolves_a_name) {
  TestServer server;
  SingleConnection client("localhost", server.endpoint.port());
  client.connect();
  EXPECT_TRUE(client.connected());
}

TEST(ConnectTest, goes_on_to_the_next_address_of_a_name_when_one_refuses) {
  const FakeName name("several.test", {make_address("::1"), make_address("127.0.0.1")});
  TestServer server;
  SingleConnection client("several.test", server.endpoint.port());
  client.connect();
  EXPECT_EQ(client.remote_endpoint(), server.endpoint);
}

TEST(ConnectTest, goes_on_to_the_next_address_of_a_name_when_one_does_not_answer) {
  const FullListener full;
  const FakeName name("several.test", {make_address("127.0.0.1"), make_address("::1")});
  TestServer server({}, {make_address("::1"), full.endpoint().port()});
  ClientOptions options;
  options.attempt_timeout = short_time;
  SingleConnection client("several.test", full.endpoint().port(), options);
  client.connect();
  EXPECT_EQ(client.remote_endpoint(), server.endpoint);
}

TEST(ConnectTest, reports_that_a_name_is_unknown) {
  const FakeName name("unknown.test", {});
  SingleConnection client("unknown.test", 1);
  error_code ec;
  client.connect(patience, ec);
  EXPECT_EQ(ec, boost::asio::error::host_not_found);
  EXPECT_EQ(client.last_error(), boost::asio::error::host_not_found);
  EXPECT_EQ(client.state(), ConnectionState::disconnected);
}

TEST(ConnectTest, connects_from_the_local_address_it_is_told) {
  TestServer server;
  ClientOptions options;
  options.local_endpoint = Endpoint(make_address("127.0.0.2"), 0);
  SingleConnection client(server.endpoint, options);
  client.connect();
  EXPECT_EQ(client.local_endpoint().address(), make_address("127.0.0.2"));
  EXPECT_EQ(server.accepted.at(0).remote_endpoint(), client.local_endpoint());
}

TEST(ConnectTest, reports_that_the_local_address_is_not_ours) {
  TestServer server;
  ClientOptions options;
  options.local_endpoint = Endpoint(make_address("192.0.2.1"), 0);
  SingleConnection client(server.endpoint, options);
  error_code ec;
  client.connect(patience, ec);
  EXPECT_EQ(ec, errc::address_not_available);
}

TEST(ConnectTest, is_refused_at_once_without_auto_reconnect) {
  const ReservedPort port;
  SingleConnection client(port.endpoint());
  error_code ec;
  client.connect(patience, ec);
  EXPECT_EQ(ec, errc::connection_refused);
  EXPECT_EQ(client.state(), ConnectionState::disconnected);
  EXPECT_EQ(client.last_error(), errc::connection_refused);
  EXPECT_THROW(client.connect(), system_error);
}

TEST(ConnectTest, does_nothing_when_connected_already) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  client.connect();
  EXPECT_EQ(client.statistics().sessions_total, 1U);
}

TEST(ConnectTest, throws_when_time_is_up) {
  const FullListener full;
  SingleConnection client(full.endpoint());
  const Stopwatch watch;
  try {
    client.connect(short_time);
    FAIL() << "nothing was thrown";
  } catch (const system_error& e) {
    EXPECT_EQ(e.code(), Errc::timed_out);
  }
  EXPECT_GE(watch.elapsed(), short_time);
  EXPECT_LT(watch.elapsed(), 1s);
}

TEST(ConnectTest, sets_an_error_code_when_time_is_up) {
  const FullListener full;
  SingleConnection client(full.endpoint());
  error_code ec;
  client.connect(short_time, ec);
  EXPECT_EQ(ec, Errc::timed_out);
  EXPECT_TRUE(wait_until([&] { return client.state() == ConnectionState::disconnected; }));
}

TEST(ConnectTest, goes_on_behind_the_time_limit_with_auto_reconnect) {
  const ReservedPort port;
  SingleConnection client(port.endpoint(), reconnecting());
  error_code ec;
  client.connect(short_time, ec);
  EXPECT_EQ(ec, Errc::timed_out);
  const TestServer server({}, port.endpoint());
  EXPECT_TRUE(wait_until([&] { return client.connected(); }));
}

TEST(ConnectTest, fails_the_future_when_time_is_up) {
  const FullListener full;
  SingleConnection client(full.endpoint());
  auto done = client.async_connect(short_time, boost::asio::use_future);
  EXPECT_THROW(done.get(), system_error);
}

TEST(ConnectTest, throws_in_a_coroutine_when_time_is_up) {
  const FullListener full;
  SingleConnection client(full.endpoint());
  boost::asio::io_context context;
  error_code seen;
  boost::asio::co_spawn(
      context,
      [&]() -> boost::asio::awaitable<void> {
        try {
          co_await client.async_connect(short_time, boost::asio::use_awaitable);
        } catch (const system_error& e) {
          seen = e.code();
        }
      },
      [](const std::exception_ptr& thrown) {
        if (thrown) std::rethrow_exception(thrown);
      });
  context.run();
  EXPECT_EQ(seen, Errc::timed_out);
}

TEST(ConnectTest, resumes_a_coroutine_when_connected) {
  const TestServer server;
  SingleConnection client(server.endpoint);
  boost::asio::io_context context;
  auto done = boost::asio::co_spawn(
      context, client.async_connect(patience, boost::asio::use_awaitable), boost::asio::use_future);
  context.run();
  done.get();
  EXPECT_TRUE(client.connected());
}

TEST(ConnectTest, a_cancelled_wait_ends_and_the_attempt_goes_on) {
  const ReservedPort port;
  SingleConnection client(port.endpoint(), reconnecting());
  boost::asio::cancellation_signal signal;
  EventLog<error_code> done;
  client.async_connect(
      patience,
      boost::asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { done.add(ec); }));
  ASSERT_TRUE(wait_until([&] { return client.last_error() == errc::connection_refused; }));
  signal.emit(boost::asio::cancellation_type::terminal);
  EXPECT_EQ(done.at(0), boost::asio::error::operation_aborted);
  const TestServer server({}, port.endpoint());
  EXPECT_TRUE(wait_until([&] { return client.connected(); }));
}

TEST(ConnectTest, would_deadlock_inside_a_handler) {
  TestServer server;
  SingleConnection client(server.endpoint);
  EventLog<error_code> outcome;
  client.on_disconnected([&](error_code) {
    error_code ec;
    client.connect(patience, ec);
    outcome.add(ec);
  });
  client.connect();
  server.accepted.at(0).close(0ms);
  EXPECT_EQ(outcome.at(0), Errc::would_deadlock);
}

TEST(ConnectTest, impossible_options_are_refused_by_the_constructor) {
  ClientOptions options;
  options.max_message_size = max_payload_size + 1;
  EXPECT_THROW(SingleConnection("127.0.0.1", 1, options), system_error);
  EXPECT_THROW(SingleConnection("", 1), system_error);
}

}  // namespace
}  // namespace ntcpmsg::test
