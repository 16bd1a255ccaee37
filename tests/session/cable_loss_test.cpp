// A cable that loses connections.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <thread>

#include "base/byte_order.hpp"
#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

Bytes numbered(std::uint32_t number, std::size_t size) {
  Bytes payload(size);
  detail::store_big(payload.data(), number);
  return payload;
}

ClientOptions cable_options(bool auto_reconnect) {
  ClientOptions options = reconnecting();
  options.reconnect.enabled = auto_reconnect;
  return options;
}

bool complete(const SingleConnectionCable& cable) {
  return wait_until([&] { return cable.connections() == cable.capacity(); });
}

/// Whether the cable comes back as a whole.
class CableLossTest : public testing::TestWithParam<bool> {
 protected:
  CableLossTest() {
    log.watch(cable);
    cable.connect();
    EXPECT_TRUE(complete(cable));
  }

  void kill(std::size_t count) {
    const auto sessions = server.listener.sessions();
    for (std::size_t i = 0; i < count; ++i) sessions.at(i).close(0ms);
  }

  TestServer server;
  ClientLog log;
  SingleConnectionCable cable{server.endpoint, 4, cable_options(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(AutoReconnect, CableLossTest, testing::Bool());

TEST_P(CableLossTest, one_lost_connection_is_made_again_and_nobody_is_told) {
  const std::uint16_t id = cable.cable_id();
  kill(1);
  ASSERT_TRUE(server.disconnected.wait_for(1));
  ASSERT_TRUE(server.accepted.wait_for(5));
  EXPECT_TRUE(complete(cable));
  EXPECT_EQ(cable.cable_id(), id);
  EXPECT_TRUE(wait_until([&] { return server.listener.statistics().cables == 1; }));
  EXPECT_EQ(log.disconnected.size(), 0U);
  EXPECT_EQ(log.connected.size(), 1U);
}

TEST_P(CableLossTest, all_but_one_may_be_lost) {
  const std::uint16_t id = cable.cable_id();
  kill(3);
  ASSERT_TRUE(server.disconnected.wait_for(3));
  EXPECT_EQ(as_text(cable.sync_send(event::echo, as_bytes("x"))), "x");
  ASSERT_TRUE(server.accepted.wait_for(7));
  EXPECT_TRUE(complete(cable));
  EXPECT_EQ(cable.cable_id(), id);
  EXPECT_EQ(log.disconnected.size(), 0U);
}

TEST_P(CableLossTest, the_loss_of_all_is_told_once) {
  const bool auto_reconnect = GetParam();
  kill(4);
  ASSERT_TRUE(log.disconnected.wait_for(1));
  if (auto_reconnect) {
    EXPECT_TRUE(log.connected.wait_for(2));
    EXPECT_TRUE(complete(cable));
    EXPECT_EQ(as_text(cable.sync_send(event::echo, as_bytes("again"))), "again");
    EXPECT_EQ(log.disconnected.size() + 1, log.connected.size());
  } else {
    EXPECT_TRUE(wait_until([&] { return cable.state() == ConnectionState::disconnected; }));
    EXPECT_FALSE(server.accepted.wait_for(5, 50ms));
    EXPECT_EQ(log.disconnected.size(), 1U);
    EXPECT_EQ(cable.connections(), 0U);
    EXPECT_EQ(cable.cable_id(), 0U);
  }
}

TEST_P(CableLossTest, requests_go_on_over_the_connections_that_live) {
  constexpr int threads = 8;
  server.listener.on_received([](Message& message) { message.reply(message.payload()); });
  std::atomic<int> wrong{0};
  std::atomic<int> lost{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> asking;
  for (int thread = 0; thread < threads; ++thread) {
    asking.emplace_back([&, thread] {
      const std::string question = "from " + std::to_string(thread);
      while (!stop) {
        error_code ec;
        const Bytes reply = cable.sync_send(event::echo, as_bytes(question), patience, ec);
        // Written to the lost connection: the server may or may not have handled it.
        if (ec == Errc::disconnected) ++lost;
        if (ec && ec != Errc::disconnected) ++wrong;
        if (!ec && as_text(reply) != question) ++wrong;
      }
    });
  }
  for (std::size_t round = 1; round <= 5; ++round) {
    kill(1);
    EXPECT_TRUE(server.accepted.wait_for(4 + round));
    EXPECT_TRUE(complete(cable));
  }
  stop = true;
  for (auto& thread : asking) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(lost, 5 * threads);
}

TEST_P(CableLossTest, messages_of_a_key_stay_in_order_and_come_once) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> seen;
  std::mutex mutex;
  server.listener.on_received([&](Message& message) {
    const std::lock_guard guard(mutex);
    const auto number = detail::load_big<std::uint32_t>(message.payload().data());
    seen[number % 10].push_back(number);
  });
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    if (i % 5000 == 2500) {
      ASSERT_TRUE(complete(cable));
      ASSERT_TRUE(wait_until([&] { return server.listener.statistics().sessions == 4; }));
      kill(1);
    }
    cable.async_send(event::note, numbered(i, 8), OrderKey{i % 10});
  }
  EXPECT_EQ(cable.close(), 0U);
  server.listener.close();
  for (const auto& [key, numbers] : seen) {
    for (std::size_t i = 1; i < numbers.size(); ++i) EXPECT_LT(numbers[i - 1], numbers[i]);
  }
}

TEST_P(CableLossTest, a_message_sent_while_a_connection_dies_fails_for_no_caller) {
  std::size_t accepted = cable.capacity();
  for (std::uint32_t i = 0; i < 5000; ++i) {
    if (i % 1000 == 500) {
      // One at a time: the sends are quicker than the reconnects, and would outlive them all.
      ASSERT_TRUE(server.accepted.wait_for(accepted));
      ASSERT_TRUE(complete(cable));
      kill(1);
      ++accepted;
    }
    error_code ec;
    cable.async_send(event::note, numbered(i, 8), ec);
    EXPECT_FALSE(ec) << ec.message();
    cable.async_send(event::note, numbered(i, 8), OrderKey{i}, ec);
    EXPECT_FALSE(ec) << ec.message();
  }
}

/// Two connections of a cable in the hands of a script, of which the first is not read.
class ScriptedCableTest : public testing::Test {
 protected:
  static constexpr std::size_t size = 1024;
  const detail::Hello answer{.cable_id = 5, .cable_token = detail::CableToken{}};

  ScriptedCableTest() {
    log.watch(cable);
    cable.start();
    first = listener.accept();
    first.answer_hello(answer);
    second = listener.accept();
    second.answer_hello(answer);
    EXPECT_TRUE(complete(cable));
  }

  std::uint32_t fill() {
    std::uint32_t count = 0;
    for (bool drained = true; drained;) {
      for (error_code ec; !ec;) {
        cable.async_send(event::note, numbered(count, size), ec);
        if (!ec) ++count;
      }
      const std::uint64_t queued = cable.statistics().bytes_queued;
      drained = wait_until([&] { return cable.statistics().bytes_queued < queued; }, 50ms);
    }
    return count;
  }

  static void collect(const std::vector<WireFrame>& frames, std::multiset<std::uint32_t>& numbers) {
    for (const WireFrame& frame : frames) {
      numbers.insert(detail::load_big<std::uint32_t>(frame.payload.data()));
    }
  }

  ScriptedListener listener;
  ScriptedPeer first{Descriptor()};
  ScriptedPeer second{Descriptor()};
  ClientLog log;
  SingleConnectionCable cable{listener.endpoint(), 2, [] {
                                ClientOptions options = small_queue();
                                options.reconnect.base = 600s;
                                options.reconnect.cap = 600s;
                                return options;
                              }()};
};

TEST_F(ScriptedCableTest, what_a_lost_connection_had_queued_arrives_once_over_the_other) {
  const std::uint32_t count = fill();
  std::multiset<std::uint32_t> numbers;
  // The client sees an orderly end, so that all it has written can still be read.
  first.half_close();
  ASSERT_TRUE(wait_until([&] { return cable.connections() == 1; }));
  collect(first.receive_frames_until_end(), numbers);
  EXPECT_LT(numbers.size(), count);
  std::thread closing([&] { EXPECT_EQ(cable.close(), 0U); });
  collect(second.receive_frames_until_end(), numbers);
  second.close();
  closing.join();
  ASSERT_EQ(numbers.size(), count);
  std::uint32_t expected = 0;
  for (const std::uint32_t number : numbers) EXPECT_EQ(number, expected++);
}

TEST_F(ScriptedCableTest, what_all_connections_had_queued_is_counted_by_the_error_events) {
  const std::uint32_t count = fill();
  std::multiset<std::uint32_t> numbers;
  first.half_close();
  second.half_close();
  ASSERT_TRUE(log.disconnected.wait_for(1));
  collect(first.receive_frames_until_end(), numbers);
  collect(second.receive_frames_until_end(), numbers);
  ASSERT_TRUE(log.errors.wait_for(1));
  std::size_t unsent = 0;
  for (const ErrorEvent& event : log.errors.all()) unsent += event.count;
  EXPECT_EQ(numbers.size() + unsent, count);
  EXPECT_EQ(std::set<std::uint32_t>(numbers.begin(), numbers.end()).size(), numbers.size());
}

TEST(CableRestartTest, a_restarted_listener_gets_a_new_cable) {
  auto server = std::make_unique<TestServer>();
  const Endpoint endpoint = server->endpoint;
  ClientLog log;
  SingleConnectionCable cable(endpoint, 4, reconnecting());
  log.watch(cable);
  cable.connect();
  ASSERT_TRUE(complete(cable));
  server.reset();
  ASSERT_TRUE(log.disconnected.wait_for(1));
  EXPECT_TRUE(wait_until([&] { return cable.cable_id() == 0; }));
  server = std::make_unique<TestServer>(ListenerOptions{}, endpoint);
  ASSERT_TRUE(log.connected.wait_for(2));
  EXPECT_TRUE(complete(cable));
  EXPECT_EQ(server->listener.cable_ids(), std::vector{cable.cable_id()});
  EXPECT_TRUE(wait_until([&] { return server->listener.statistics().sessions == 4; }));
}

TEST(CableRestartTest, a_connection_that_finds_another_cable_is_made_again) {
  ScriptedListener listener;
  SingleConnectionCable cable(listener.endpoint(), 2, reconnecting());
  cable.start();
  ScriptedPeer first = listener.accept();
  first.answer_hello({.cable_id = 5, .cable_token = detail::CableToken{}});
  ScriptedPeer stranger = listener.accept();
  stranger.answer_hello({.cable_id = 6, .cable_token = detail::CableToken{std::byte{9}}});
  stranger.expect_end();
  EXPECT_EQ(cable.cable_id(), 5U);
  ScriptedPeer second = listener.accept();
  second.answer_hello({.cable_id = 5, .cable_token = detail::CableToken{}});
  EXPECT_TRUE(wait_until([&] { return cable.connections() == 2; }));
}

}  // namespace
}  // namespace ntcpmsg::test
