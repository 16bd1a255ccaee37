// Requests whose caller waits for the reply.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

TEST(RequestTest, is_answered_with_the_reply_of_the_handler) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("question"))), "question");
  EXPECT_TRUE(client.sync_send(event::nothing, as_bytes("question")).empty());
}

TEST(RequestTest, times_out_when_no_reply_comes) {
  TestServer server;
  SingleConnection client(server.endpoint, closing_soon());
  client.connect();
  const Stopwatch watch;
  error_code ec;
  client.sync_send(event::hold, {}, 50ms, ec);
  EXPECT_EQ(ec, Errc::timed_out);
  EXPECT_GE(watch.elapsed(), 50ms);
  EXPECT_LT(watch.elapsed(), 1s);
}

TEST(RequestTest, a_late_reply_is_dropped_and_the_next_request_gets_its_own) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  error_code ec;
  client.sync_send(event::hold, as_bytes("late"), 20ms, ec);
  ASSERT_EQ(ec, Errc::timed_out);
  Responder late = server.held.take();
  std::thread answering([&] {
    EXPECT_TRUE(server.held.wait_for(1));
    late.reply(as_bytes("the answer to the first"));
    server.held.take().reply(as_bytes("the answer to the second"));
  });
  EXPECT_EQ(as_text(client.sync_send(event::hold, {})), "the answer to the second");
  answering.join();
}

TEST(RequestTest, fails_without_a_connection) {
  SingleConnection client("127.0.0.1", 1);
  error_code ec;
  client.sync_send(event::echo, {}, patience, ec);
  EXPECT_EQ(ec, Errc::not_connected);
}

TEST(RequestTest, waits_for_the_connection_when_told_to_queue) {
  const ReservedPort port;
  ClientOptions options = reconnecting();
  options.offline = OfflinePolicy::queue;
  SingleConnection client(port.endpoint(), options);
  client.start();
  EventLog<std::string> reply;
  std::thread asking(
      [&] { reply.add(std::string(as_text(client.sync_send(event::echo, as_bytes("early"))))); });
  EXPECT_TRUE(wait_until([&] { return client.statistics().bytes_queued != 0; }));
  const TestServer server({}, port.endpoint());
  asking.join();
  EXPECT_EQ(reply.at(0), "early");
}

TEST(RequestTest, queued_without_a_connection_times_out) {
  ClientOptions options;
  options.offline = OfflinePolicy::queue;
  SingleConnection client("127.0.0.1", 1, options);
  error_code ec;
  client.sync_send(event::echo, {}, 20ms, ec);
  EXPECT_EQ(ec, Errc::timed_out);
}

TEST(RequestTest, all_that_wait_fail_at_once_when_the_peer_closes) {
  constexpr std::size_t threads = 16;
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  EventLog<error_code> outcomes;
  std::vector<std::thread> asking;
  for (std::size_t i = 0; i < threads; ++i) {
    asking.emplace_back([&] {
      error_code ec;
      client.sync_send(event::hold, {}, 60s, ec);
      outcomes.add(ec);
    });
    client.async_request(
        event::hold, {}, 60s, [&](error_code ec, const Bytes&) { outcomes.add(ec); });
  }
  ASSERT_TRUE(server.held.wait_for(2 * threads));
  const Stopwatch watch;
  server.accepted.at(0).close(0ms);
  EXPECT_TRUE(outcomes.wait_for(2 * threads));
  EXPECT_LT(watch.elapsed(), 1s);
  for (auto& thread : asking) thread.join();
  for (const error_code& ec : outcomes.all()) EXPECT_EQ(ec, Errc::disconnected);
}

TEST(RequestTest, would_deadlock_inside_a_handler) {
  TestServer server;
  SingleConnection client(server.endpoint);
  EventLog<error_code> outcome;
  client.on_received([&](Message&) {
    error_code ec;
    client.sync_send(event::echo, {}, patience, ec);
    outcome.add(ec);
  });
  client.connect();
  server.accepted.at(0).push(1, {});
  EXPECT_EQ(outcome.at(0), Errc::would_deadlock);
}

TEST(RequestTest, an_exception_of_the_remote_handler_comes_back_with_its_words) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  try {
    client.sync_send(event::fail, {});
    FAIL() << "nothing was thrown";
  } catch (const system_error& e) {
    EXPECT_EQ(e.code(), Errc::remote_error);
    EXPECT_NE(std::string(e.what()).find("no such id"), std::string::npos) << e.what();
  }
  error_code ec;
  const Bytes text = client.sync_send(event::fail, {}, patience, ec);
  EXPECT_EQ(ec, Errc::remote_error);
  EXPECT_EQ(as_text(text), "no such id");
}

TEST(RequestTest, one_more_than_max_requests_fails) {
  TestServer server;
  ClientOptions options;
  options.max_requests = 3;
  options.close_timeout = 100ms;
  EventLog<error_code> outcomes;
  SingleConnection client(server.endpoint, options);
  client.connect();
  for (int i = 0; i < 3; ++i) {
    client.async_request(
        event::hold, {}, patience, [&](error_code ec, const Bytes&) { outcomes.add(ec); });
  }
  error_code ec;
  client.sync_send(event::echo, {}, patience, ec);
  EXPECT_EQ(ec, Errc::too_many_requests);
  client.async_request(
      event::echo, {}, patience, [&](error_code failure, const Bytes&) { outcomes.add(failure); });
  EXPECT_EQ(outcomes.at(0), Errc::too_many_requests);
  server.held.take().reply({});
  EXPECT_FALSE(outcomes.at(1));
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("room again"))), "room again");
}

TEST(RequestTest, each_of_32_threads_gets_its_own_replies) {
  constexpr int threads = 32;
  constexpr int each = 200;
  TestServer server;
  server.listener.on_received([](Message& message) { message.reply(message.payload()); });
  SingleConnection client(server.endpoint);
  client.connect();
  std::atomic<int> right{0};
  std::vector<std::thread> asking;
  for (int thread = 0; thread < threads; ++thread) {
    asking.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        const std::string question = std::to_string(thread) + "/" + std::to_string(i);
        if (as_text(client.sync_send(event::echo, as_bytes(question))) == question) ++right;
      }
    });
  }
  for (auto& thread : asking) thread.join();
  EXPECT_EQ(right, threads * each);
}

TEST(RequestTest, replies_may_overtake_each_other) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  EventLog<std::string> replies;
  client.async_request(event::hold, {}, patience, [&](error_code, const Bytes& reply) {
    replies.add(std::string(as_text(reply)));
  });
  ASSERT_TRUE(server.held.wait_for(1));
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("second"))), "second");
  server.held.take().reply(as_bytes("first"));
  EXPECT_EQ(replies.at(0), "first");
}

}  // namespace
}  // namespace ntcpmsg::test
