// A cable with a listener of ours, while all goes well.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <thread>

#include "base/byte_order.hpp"
#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

using detail::load_big;

Bytes numbered(std::uint32_t number, std::size_t size = 4) {
  Bytes payload(size);
  detail::store_big(payload.data(), number);
  return payload;
}

bool complete(const SingleConnectionCable& cable) {
  return wait_until([&] { return cable.connections() == cable.capacity(); });
}

TEST(CableTest, is_connected_as_soon_as_one_connection_is) {
  ScriptedListener listener;
  SingleConnectionCable cable(listener.endpoint(), 3, closing_soon());
  cable.start();
  ScriptedPeer first = listener.accept();
  const detail::Hello wish =
      first.answer_hello({.cable_id = 5, .cable_token = detail::CableToken{}});
  EXPECT_EQ(wish.cable_wish, detail::CableWish::create);
  EXPECT_TRUE(wait_until([&] { return cable.connected(); }));
  EXPECT_EQ(cable.connections(), 1U);
  EXPECT_EQ(cable.cable_id(), 5U);
}

TEST(CableTest, its_other_connections_join_by_the_token_of_the_first) {
  ScriptedListener listener;
  SingleConnectionCable cable(listener.endpoint(), 2, closing_soon());
  cable.start();
  const detail::CableToken token{std::byte{1}, std::byte{2}};
  ScriptedPeer first = listener.accept();
  first.answer_hello({.cable_id = 5, .cable_token = token});
  ScriptedPeer second = listener.accept();
  const detail::Hello wish = second.answer_hello({.cable_id = 5, .cable_token = token});
  EXPECT_EQ(wish.cable_wish, detail::CableWish::join);
  EXPECT_EQ(wish.cable_token, token);
  EXPECT_TRUE(wait_until([&] { return cable.connections() == 2; }));
}

TEST(CableTest, all_connections_are_one_cable_to_the_listener) {
  TestServer server;
  SingleConnectionCable cable(server.endpoint, 6);
  EXPECT_EQ(cable.capacity(), 6U);
  EXPECT_EQ(cable.connections(), 0U);
  EXPECT_EQ(cable.cable_id(), 0U);
  cable.connect();
  ASSERT_TRUE(complete(cable));
  EXPECT_NE(cable.cable_id(), 0U);
  EXPECT_EQ(server.listener.cable_ids(), std::vector{cable.cable_id()});
  EXPECT_EQ(server.listener.statistics().cables, 1U);
  const auto sessions = server.listener.sessions();
  EXPECT_EQ(sessions.size(), 6U);
  for (const auto& session : sessions) EXPECT_EQ(session.cable_id(), cable.cable_id());
}

TEST(CableTest, two_cables_have_two_ids) {
  TestServer server;
  SingleConnectionCable one(server.endpoint, 2);
  SingleConnectionCable other(server.endpoint, 2);
  one.connect();
  other.connect();
  EXPECT_NE(one.cable_id(), other.cable_id());
}

TEST(CableTest, of_one_connection_works) {
  TestServer server;
  SingleConnectionCable cable(server.endpoint, 1);
  cable.connect();
  EXPECT_EQ(cable.connections(), 1U);
  EXPECT_EQ(as_text(cable.sync_send(event::echo, as_bytes("x"))), "x");
  cable.async_send(event::note, as_bytes("y"), OrderKey{1});
  EXPECT_EQ(server.received.at(1).text, "y");
  EXPECT_EQ(server.received.at(1).cable_id, cable.cable_id());
}

TEST(CableTest, of_no_connections_is_refused) {
  EXPECT_THROW(SingleConnectionCable("127.0.0.1", 1, 0), system_error);
}

TEST(CableTest, messages_are_spread_in_whole_batches) {
  constexpr std::uint32_t count = 6000;
  constexpr std::size_t size = 84;
  TestServer server;
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_session;
  Latch all(count);
  server.listener.on_received([&](Message& message) {
    by_session[message.session().id()].push_back(load_big<std::uint32_t>(message.payload().data()));
    all.count_down();
  });
  ClientOptions options;
  options.batch.max_bytes = 50 * (size + detail::frame_header_size);
  SingleConnectionCable cable(server.endpoint, 3, options);
  cable.connect();
  ASSERT_TRUE(complete(cable));
  for (std::uint32_t i = 0; i < count; ++i) cable.async_send(event::note, numbered(i, size));
  ASSERT_TRUE(all.wait());
  server.listener.close();
  EXPECT_EQ(by_session.size(), 2U) << "one of three is left to requests";
  std::size_t runs = 0;
  for (const auto& [session, numbers] : by_session) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i == 0 || numbers[i] != numbers[i - 1] + 1) ++runs;
    }
  }
  EXPECT_LE(runs, count / 50 + 1);
}

TEST(CableTest, messages_of_one_key_keep_their_order) {
  constexpr std::uint32_t threads = 8;
  constexpr std::uint32_t keys = 100;
  constexpr std::uint32_t each = 50;
  TestServer server;
  // Each key belongs to one thread.
  std::map<std::uint32_t, std::uint32_t> next;
  std::set<std::uint64_t> sessions;
  std::uint32_t wrong = 0;
  Latch all(keys * each);
  server.listener.on_received([&](Message& message) {
    const auto key = load_big<std::uint32_t>(message.payload().data());
    const auto number = load_big<std::uint32_t>(message.payload().data() + 4);
    if (next[key]++ != number) ++wrong;
    sessions.insert(message.session().id());
    all.count_down();
  });
  SingleConnectionCable cable(server.endpoint, 4);
  cable.connect();
  ASSERT_TRUE(complete(cable));
  std::vector<std::thread> senders;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    senders.emplace_back([&cable, thread] {
      for (std::uint32_t i = 0; i < each; ++i) {
        for (std::uint32_t key = thread; key < keys; key += threads) {
          Bytes payload = numbered(key, 8);
          detail::store_big(payload.data() + 4, i);
          cable.async_send(event::note, payload, OrderKey{key});
        }
      }
    });
  }
  for (auto& sender : senders) sender.join();
  EXPECT_TRUE(all.wait());
  server.listener.close();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(sessions.size(), 3U) << "the keys are spread, one of four is left to requests";
}

TEST(CableTest, requests_have_a_connection_that_plain_messages_do_not_use) {
  constexpr std::uint32_t count = 2000;
  TestServer server;
  std::set<std::uint64_t> of_messages;
  std::set<std::uint64_t> of_requests;
  Latch all(count);
  server.listener.on_received([&](Message& message) {
    (message.wants_reply() ? of_requests : of_messages).insert(message.session_id());
    if (!message.wants_reply()) all.count_down();
  });
  SingleConnectionCable cable(server.endpoint, 3);
  cable.connect();
  ASSERT_TRUE(complete(cable));
  const Bytes bulk(8192);
  for (std::uint32_t i = 0; i < count; ++i) {
    cable.async_send(event::note, bulk);
    if (i % 100 == 0) cable.sync_send(event::echo, as_bytes("small"));
  }
  ASSERT_TRUE(all.wait());
  server.listener.close();
  EXPECT_EQ(of_messages.size(), 2U);
  EXPECT_EQ(of_requests.size(), 1U);
  EXPECT_FALSE(of_messages.contains(*of_requests.begin()));
}

TEST(CableTest, each_of_many_threads_gets_its_own_replies) {
  TestServer server;
  server.listener.on_received([](Message& message) { message.reply(message.payload()); });
  SingleConnectionCable cable(server.endpoint, 3);
  cable.connect();
  std::atomic<int> right{0};
  std::vector<std::thread> asking;
  for (int thread = 0; thread < 16; ++thread) {
    asking.emplace_back([&, thread] {
      for (int i = 0; i < 100; ++i) {
        const std::string question = std::to_string(thread) + "/" + std::to_string(i);
        if (as_text(cable.sync_send(event::echo, as_bytes(question))) == question) ++right;
      }
    });
  }
  for (auto& thread : asking) thread.join();
  EXPECT_EQ(right, 1600);
}

TEST(CableTest, close_lets_the_messages_of_all_connections_leave) {
  TestServer server;
  SingleConnectionCable cable(server.endpoint, 4);
  cable.connect();
  ASSERT_TRUE(complete(cable));
  for (std::uint32_t i = 0; i < 3000; ++i) cable.async_send(event::note, numbered(i, 1000));
  EXPECT_EQ(cable.close(), 0U);
  EXPECT_TRUE(server.received.wait_for(3000));
  EXPECT_EQ(cable.connections(), 0U);
}

TEST(CableTest, disconnect_ends_all_connections_and_connect_makes_a_new_cable) {
  TestServer server;
  ClientLog log;
  SingleConnectionCable cable(server.endpoint, 3);
  log.watch(cable);
  cable.connect();
  ASSERT_TRUE(complete(cable));
  cable.disconnect();
  EXPECT_TRUE(server.disconnected.wait_for(3));
  EXPECT_EQ(log.disconnected.at(0), Errc::closed_by_user);
  cable.connect();
  EXPECT_TRUE(complete(cable));
  EXPECT_EQ(server.listener.cable_ids(), std::vector{cable.cable_id()});
  EXPECT_EQ(log.disconnected.size(), 1U);
}

TEST(CableTest, messages_queued_before_it_is_connected_arrive) {
  TestServer server;
  ClientOptions options;
  options.offline = OfflinePolicy::queue;
  SingleConnectionCable cable(server.endpoint, 3, options);
  for (std::uint32_t i = 0; i < 50; ++i) cable.async_send(event::note, numbered(i), OrderKey{i});
  cable.connect();
  EXPECT_TRUE(server.received.wait_for(50));
}

TEST(CableTest, the_time_limit_of_connect_holds) {
  const FullListener full;
  SingleConnectionCable cable(full.endpoint(), 3);
  error_code ec;
  cable.connect(50ms, ec);
  EXPECT_EQ(ec, Errc::timed_out);
}

TEST(CableTest, is_refused_at_once_without_auto_reconnect) {
  const ReservedPort port;
  SingleConnectionCable cable(port.endpoint(), 3);
  error_code ec;
  const Stopwatch watch;
  cable.connect(patience, ec);
  EXPECT_EQ(ec, boost::system::errc::connection_refused);
  EXPECT_LT(watch.elapsed(), 1s);
  EXPECT_TRUE(wait_until([&] { return cable.state() == ConnectionState::disconnected; }));
}

}  // namespace
}  // namespace ntcpmsg::test
