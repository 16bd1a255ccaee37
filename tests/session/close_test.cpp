// How a client ends, whatever it is doing.

#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <memory>
#include <optional>

#include "fake_names.hpp"
#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

constexpr std::size_t kilobyte = 1024;
/// Beyond the time that a close was given.
constexpr std::chrono::milliseconds slack = 800ms;

TEST(CloseTest, lets_queued_messages_leave_and_returns_zero) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  for (int i = 0; i < 1000; ++i) client.async_send(event::note, pattern(kilobyte));
  EXPECT_EQ(client.close(), 0U);
  EXPECT_TRUE(server.received.wait_for(1000));
  EXPECT_EQ(client.state(), ConnectionState::closed);
}

TEST(CloseTest, counts_what_a_peer_that_does_not_read_never_got) {
  ScriptedListener listener;
  ClientLog log;
  SingleConnection client(listener.endpoint(), small_queue());
  log.watch(client);
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.answer_hello();
  ASSERT_TRUE(log.connected.wait_for(1));
  const std::size_t accepted = fill_queue(client, pattern(kilobyte));
  const Stopwatch watch;
  const std::size_t unsent = client.close(100ms);
  EXPECT_GE(watch.elapsed(), 100ms);
  EXPECT_LT(watch.elapsed(), 100ms + slack);
  EXPECT_GT(unsent, 0U);
  EXPECT_EQ(peer.receive_frames_until_end().size(), accepted - unsent);
  EXPECT_EQ(log.errors.at(0).code, Errc::messages_unsent);
  EXPECT_EQ(log.errors.at(0).count, unsent);
  EXPECT_EQ(client.statistics().messages_unsent, unsent);
}

TEST(CloseTest, is_for_good) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  client.close();
  error_code ec;
  client.async_send(event::note, {}, ec);
  EXPECT_EQ(ec, Errc::closed);
  client.sync_send(event::echo, {}, patience, ec);
  EXPECT_EQ(ec, Errc::closed);
  client.connect(patience, ec);
  EXPECT_EQ(ec, Errc::closed);
  EXPECT_EQ(client.close(), 0U);
  client.start();
  client.disconnect();
  EXPECT_EQ(client.state(), ConnectionState::closed);
}

TEST(CloseTest, raises_disconnected_with_closed_by_user) {
  TestServer server;
  ClientLog log;
  SingleConnection client(server.endpoint);
  log.watch(client);
  client.connect();
  client.close();
  EXPECT_EQ(log.disconnected.at(0), Errc::closed_by_user);
  EXPECT_EQ(log.disconnected.size(), 1U);
}

TEST(CloseTest, inside_a_handler_only_starts_closing) {
  TestServer server;
  ClientLog log;
  SingleConnection client(server.endpoint);
  log.watch(client);
  EventLog<std::size_t> unsent;
  client.on_connected([&] {
    client.async_send(event::note, as_bytes("last words"));
    unsent.add(client.close());
  });
  client.start();
  EXPECT_EQ(unsent.at(0), 0U);
  EXPECT_EQ(server.received.at(0).text, "last words");
  EXPECT_TRUE(log.disconnected.wait_for(1));
}

TEST(CloseTest, fails_who_waits_for_the_connection) {
  const FullListener full;
  SingleConnection client(full.endpoint());
  auto done = client.async_connect(patience, boost::asio::use_future);
  client.close();
  EXPECT_THROW(done.get(), system_error);
}

/// Makes a client, brings it into a state, destroys it, and looks how long that took.
class DestructionTest : public testing::Test {
 protected:
  template <typename... Args>
  SingleConnection& make(Args&&... args) {
    client_ = std::make_unique<SingleConnection>(std::forward<Args>(args)...);
    return *client_;
  }

  static ClientOptions quick() {
    ClientOptions options = small_queue();
    options.close_timeout = 100ms;
    return options;
  }

  bool reaches(ConnectionState state) {
    return wait_until([&] { return client_->state() == state; });
  }

  void expect_end_within(std::chrono::milliseconds limit) {
    const Stopwatch watch;
    client_.reset();
    EXPECT_LT(watch.elapsed(), limit + slack);
  }

  void expect_quick_end() { expect_end_within(100ms); }

 private:
  std::unique_ptr<SingleConnection> client_;
};

TEST_F(DestructionTest, is_quick_when_never_connected) {
  make("127.0.0.1", std::uint16_t{1}, quick());
  expect_quick_end();
}

TEST_F(DestructionTest, waits_two_seconds_at_most_for_a_name_service_that_does_not_answer) {
  FakeName name("slow.test", {});
  name.block();
  make("slow.test", std::uint16_t{1}, quick()).start();
  ASSERT_TRUE(wait_until([&] { return name.asked(); }));
  EXPECT_TRUE(reaches(ConnectionState::resolving));
  // A look-up under way cannot be cancelled.
  expect_end_within(2s);
}

TEST_F(DestructionTest, is_quick_while_connecting) {
  const FullListener full;
  make(full.endpoint(), quick()).start();
  ASSERT_TRUE(reaches(ConnectionState::connecting));
  expect_quick_end();
}

TEST_F(DestructionTest, is_quick_while_negotiating_with_a_silent_peer) {
  const ScriptedListener listener;
  ClientOptions options = quick();
  options.hello_timeout = 60s;
  make(listener.endpoint(), options).start();
  ASSERT_TRUE(reaches(ConnectionState::negotiating));
  expect_quick_end();
}

TEST_F(DestructionTest, is_quick_when_connected_and_idle) {
  const TestServer server;
  make(server.endpoint, quick()).connect();
  expect_quick_end();
}

TEST_F(DestructionTest, is_quick_with_a_peer_that_does_not_read) {
  ScriptedListener listener;
  SingleConnection& client = make(listener.endpoint(), quick());
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.answer_hello();
  ASSERT_TRUE(reaches(ConnectionState::connected));
  fill_queue(client, pattern(kilobyte));
  expect_quick_end();
}

TEST_F(DestructionTest, is_quick_while_waiting_to_retry) {
  const ReservedPort port;
  ClientOptions options = quick();
  options.reconnect = {.enabled = true, .base = 600'000ms, .cap = 600'000ms, .seed = 1};
  make(port.endpoint(), options).start();
  ASSERT_TRUE(reaches(ConnectionState::waiting_to_retry));
  expect_quick_end();
}

TEST_F(DestructionTest, completes_requests_in_flight) {
  const TestServer server;
  SingleConnection& client = make(server.endpoint, quick());
  client.connect();
  EventLog<error_code> outcome;
  client.async_request(
      event::hold, {}, patience, [&](error_code ec, const Bytes&) { outcome.add(ec); });
  expect_quick_end();
  EXPECT_TRUE(outcome.wait_for(1));
}

TEST(DestructionInHandlerTest, returns_at_once_and_no_handler_is_called_any_more) {
  TestServer server;
  ClientLog log;
  Latch destroyed;
  auto client = std::make_unique<SingleConnection>(server.endpoint);
  log.watch(*client);
  client->on_received([&](Message&) {
    client.reset();
    destroyed.count_down();
  });
  client->connect();
  server.accepted.at(0).push(1, {});
  EXPECT_TRUE(destroyed.wait());
  EXPECT_TRUE(server.disconnected.wait_for(1));
  EXPECT_EQ(log.disconnected.size(), 0U);
}

}  // namespace
}  // namespace ntcpmsg::test
